import { hasReason, REASONS, type StatusBody } from '../../../machinery/meta/status.js';
import { asStatus } from '../../pipeline/exchange-stages.js';
import type { RequestAudit, RequestInfo, RequestState, UserInfo } from '../../request/request.js';
import { isLongRunning, isMutating } from '../../metrics/request-metrics.js';
import type { Decision } from '../policy/decide.js';
import type { AuditBackend, StageName } from '../backends/backend.js';
import { encodedBody, splicedBody, withoutManagedFields, type BodyText } from './bodies.js';
import { formatMicroTime, type MicroClock } from './micro-time.js';
import { complete, referenceJson, referenceOf, type ObjectReference } from './object-reference.js';
import { textJson } from './text-json.js';
import type { ReadProtobuf } from './protobuf-answer.js';
import { statusIn, statusJson } from './status.js';
import { userJson } from './users.js';

/** Dependencies of all records. */
export interface RecordDeps {
  /** Group version of the events. */
  readonly apiVersion: string;
  readonly truncatedAnnotation: string;
  readonly maxEventBytes: number;
  readonly backend: AuditBackend;
  /** Whether a request must not begin before its first event is written. */
  readonly strict: boolean;
  readonly clock: MicroClock;
  readonly readProtobuf: ReadProtobuf;
  /** Told of each event that goes to the backend. */
  readonly onEvent: () => void;
  /** Told of an event that cannot be written down. */
  readonly onUnencodable: (err: unknown) => void;
}

/** Where a request comes from. */
export interface Origin {
  readonly auditId: string;
  readonly uri: string;
  readonly sourceAddresses: readonly string[];
  readonly userAgent: string;
}

/** The part of a request's state that events show. */
export type Shown = Pick<
  RequestState,
  'info' | 'user' | 'impersonator' | 'auditAnnotations' | 'requestAuditAnnotations'
>;

type Waiting = Promise<boolean> | undefined;

/** There is a body, and it is too large to be shown, or cannot be written down. */
const NOT_SHOWN = 'not shown';
type Body = BodyText | typeof NOT_SHOWN | undefined;

/** Answers in JSON, and those that are made into something else on their way out. */
const isJson = (type: string): boolean =>
  type === 'application/json' || type === 'application/yaml' || type.endsWith('+json');

const NO_BODIES: { readonly sent: Body; readonly answered: Body } = { sent: undefined, answered: undefined };

/** The audit record of one request, stage by stage. */
export class RequestRecord implements RequestAudit {
  readonly #d: RecordDeps;
  readonly #decision: Decision;
  readonly #state: Shown;
  readonly #info: RequestInfo;
  readonly #receivedAt: string;
  readonly #origin: Origin;
  #frame: Frame | undefined;
  readonly #reference: ObjectReference | undefined;
  #sent: Body;
  #hasStarted = false;
  #isOver = false;
  /** Resolves when the first event is written, where the request did not wait for that. */
  #received: Waiting;

  constructor(d: RecordDeps, decision: Decision, state: Shown, origin: Origin) {
    const { info } = state;
    this.#d = d;
    this.#decision = decision;
    this.#state = state;
    this.#info = info;
    this.#receivedAt = formatMicroTime(d.clock());
    this.#origin = origin;
    this.#reference = info.kind === 'resource' ? referenceOf(info) : undefined;
  }

  /**
   * Reads need not wait for this: events keep their order, so that a wait for the last one is a wait for all.
   * Whatever may change something waits, lest the change be there and nothing said of it.
   */
  received(): Waiting {
    const told = this.#tell('RequestReceived');
    const mustWait = this.#d.strict || isMutating(this.#info) || isLongRunning(this.#info);
    if (told === undefined || mustWait) return told;
    this.#received = told;
    return undefined;
  }

  sent(body: Buffer, type: string, value: unknown): void {
    const isPatch = this.#info.verb === 'patch';
    if (this.#reference !== undefined && !isPatch) complete(this.#reference, value);
    if (!this.#tells('Request')) return;
    const { omitManagedFields } = this.#decision;
    if (body.length > this.#d.maxEventBytes) {
      this.#sent = NOT_SHOWN;
      return;
    }
    this.#sent = this.#shown(() => {
      const text = isJson(type) && type !== 'application/yaml' ? splicedBody(body) : encodedBody(value);
      return omitManagedFields && !isPatch ? stripped(text) : text;
    });
  }

  /** The request goes on, whatever is wrong with a body. */
  #shown(make: () => Body): Body {
    try {
      return make();
    } catch (err) {
      this.#d.onUnencodable(err);
      return NOT_SHOWN;
    }
  }

  named(name: string): void {
    if (this.#reference?.name === '') this.#reference.name = name;
  }

  started(code: number): Waiting {
    if (this.#hasStarted || !isLongRunning(this.#info)) return undefined;
    this.#hasStarted = true;
    const told = this.#tell('ResponseStarted', statusJson(code), { sent: this.#sent, answered: undefined });
    return told ?? this.#received;
  }

  answered(code: number, pieces: readonly Buffer[], type: string): Waiting {
    if (this.#isOver) return undefined;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const tells = this.#tells('RequestResponse');
    const tooLarge = bytes > this.#d.maxEventBytes;
    const whole = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(tooLarge ? [] : pieces);
    if (isJson(type)) {
      const answered = tells ? (tooLarge ? NOT_SHOWN : splicedBody(whole)) : undefined;
      return this.#over(code, statusIn(whole), answered);
    }
    if (tooLarge || !(tells || bytes < MOST_STATUS_BYTES))
      return this.#over(code, undefined, tells ? NOT_SHOWN : undefined);
    const value = this.#fromProtobuf(whole);
    const status = value?.['kind'] === 'Status' ? (value as Partial<StatusBody>) : undefined;
    return this.#over(code, status, tells ? this.#shown(() => encodedBody(value)) : undefined);
  }

  /** The answer is whatever the stages further out make of the status. */
  completed(code: number): Waiting {
    return this.#over(code, undefined, undefined);
  }

  /** The error thrown further in, as it will be answered. Anything but a refusal of ours is a panic. */
  failed(err: unknown): Waiting {
    const status = asStatus(err);
    const isPanic = status.reason === 'InternalError' && !hasReason(err, 'InternalError');
    const body = status.body();
    const shown = this.#tells('RequestResponse') ? encodedBody(body) : undefined;
    return this.#over(status.code, body, shown, isPanic ? 'Panic' : 'ResponseComplete');
  }

  /** Unknown credentials: the only event of such a request. */
  refused(message: string): Waiting {
    const said = { status: 'Failure', message, reason: 'Unauthorized' } as const;
    return this.#tell('ResponseStarted', statusJson(REASONS.Unauthorized, said));
  }

  #fromProtobuf(body: Buffer): ReturnType<ReadProtobuf> {
    try {
      return this.#d.readProtobuf(body);
    } catch {
      return undefined; // no object: what cannot be shown is left out
    }
  }

  #over(
    code: number,
    said: Partial<StatusBody> | undefined,
    body: Body,
    stage: StageName = 'ResponseComplete',
  ): Waiting {
    if (this.#isOver) return undefined;
    const began = this.started(code);
    this.#isOver = true;
    const isShown = this.#tells('RequestResponse') && this.#info.verb !== 'watch';
    const { omitManagedFields } = this.#decision;
    const answered = isShown ? (omitManagedFields ? this.#shown(() => stripped(body)) : body) : undefined;
    const told = this.#tell(stage, statusJson(code, said), { sent: this.#sent, answered });
    return told ?? began ?? this.#received;
  }

  /** Bodies of requests for paths are not audited. */
  #tells(level: 'Request' | 'RequestResponse'): boolean {
    if (this.#reference === undefined) return false;
    return this.#decision.level === 'RequestResponse' || this.#decision.level === level;
  }

  #tell(stage: StageName, status?: string, bodies = NO_BODIES): Waiting {
    if (this.#decision.omits.has(stage)) return undefined;
    this.#d.onEvent();
    const event = this.#encoded(stage, status, bodies);
    if (event !== undefined) return this.#d.backend.emit(event);
    return this.#d.strict ? Promise.resolve(false) : undefined;
  }

  /** undefined when it cannot be: it costs nothing but itself. */
  #encoded(stage: StageName, status: string | undefined, bodies: typeof NO_BODIES): string | undefined {
    try {
      return this.#text(stage, status, bodies);
    } catch (err) {
      this.#d.onUnencodable(err);
      return undefined;
    }
  }

  #framed(): Frame {
    const { auditId, uri, userAgent, sourceAddresses } = this.#origin;
    const agent = userAgent === '' ? '' : `,"userAgent":${textJson(userAgent)}`;
    return {
      head: `{"kind":"Event","apiVersion":"${this.#d.apiVersion}","level":"${this.#decision.level}","auditID":${textJson(auditId)},"stage":"`,
      middle: `","requestURI":${textJson(uri)},"verb":${textJson(this.#info.verb)},"user":`,
      end: `,"sourceIPs":${JSON.stringify(sourceAddresses)}${agent}`,
    };
  }

  #text(stage: StageName, status: string | undefined, { sent, answered }: typeof NO_BODIES): string {
    const { user, impersonator } = this.#state;
    const { auditAnnotations: short } = this.#state;
    const all = annotationsMember(annotationsFor(this.#decision.level, this.#state));
    const who =
      impersonator === undefined ? userJson(user) : `${userJson(impersonator)},"impersonatedUser":${userJson(user)}`;
    const reference = this.#reference === undefined ? '' : `,"objectRef":${referenceJson(this.#reference)}`;
    const responded = status === undefined ? '' : `,"responseStatus":${status}`;
    const { head: before, middle, end } = (this.#frame ??= this.#framed());
    const head = `${before}${stage}${middle}${who}${end}${reference}${responded}`;
    const times = `,"requestReceivedTimestamp":"${this.#receivedAt}","stageTimestamp":"${formatMicroTime(this.#d.clock())}"`;
    const room = this.#d.maxEventBytes - head.length - times.length;
    if (fits(sent, answered, all.length - annotationsMember(short).length, room)) {
      const bodies = `${member('requestObject', sent)}${member('responseObject', answered)}`;
      return `${head}${bodies}${times}${all}}`;
    }
    // The patches of webhooks, which may be as large as the bodies, go with them.
    return `${head}${times}${annotationsMember({ ...short, [this.#d.truncatedAnnotation]: 'true' })}}`;
  }
}

/** The common parts of the events of a request: up to the stage, from there to the user, and behind him. */
interface Frame {
  readonly head: string;
  readonly middle: string;
  readonly end: string;
}

/** A Status in Protobuf is shorter than this, or of no interest. */
const MOST_STATUS_BYTES = 1024;

const stripped = (body: Body): Body => (typeof body === 'object' ? withoutManagedFields(body) : body);

/** Both bodies or none: half of them would look like the whole. */
function fits(sent: Body, answered: Body, more: number, room: number): boolean {
  if (sent === NOT_SHOWN || answered === NOT_SHOWN) return false;
  const bytes = (sent?.bytes ?? 0) + (answered?.bytes ?? 0) + more;
  return bytes === 0 || bytes <= room;
}

const member = (name: string, body: Body): string => (typeof body === 'object' ? `,"${name}":${body.text}` : '');

const annotationsMember = (annotations: Shown['auditAnnotations']): string =>
  annotations === undefined ? '' : `,"annotations":${JSON.stringify(annotations)}`;

function annotationsFor(level: string, state: Shown): Shown['auditAnnotations'] {
  const { auditAnnotations, requestAuditAnnotations } = state;
  if (requestAuditAnnotations === undefined || level === 'Metadata') return auditAnnotations;
  return { ...auditAnnotations, ...requestAuditAnnotations };
}

/** The user whose rules apply: the one who was authenticated. */
export const asker = ({ user, impersonator }: Pick<Shown, 'user' | 'impersonator'>): UserInfo => impersonator ?? user;
