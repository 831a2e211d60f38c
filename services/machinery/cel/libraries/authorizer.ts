import { dns1123Label, dns1123Subdomain } from '../../meta/metadata.js';
import type { Library, Run } from '../functions.js';
import type { CelType, ObjectType } from '../types.js';
import { CelError, type Opaque, type Value } from '../values.js';

/** What an expression asks about the rights of somebody. */
export interface AccessQuestion {
  /** Undefined: the one who made the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly verb: string;
  /** Either a path, or a resource. */
  readonly path: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** As a query of a list writes it; '' for none. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** '' for none. */
  readonly error: string;
}

export type AskAccess = (question: AccessQuestion) => AccessAnswer;

const PREFIX = 'kubernetes.authorization.';
const AUTHORIZER = `${PREFIX}Authorizer`;
const PATH = `${PREFIX}PathCheck`;
const GROUP = `${PREFIX}GroupCheck`;
const RESOURCE = `${PREFIX}ResourceCheck`;
const DECISION = `${PREFIX}Decision`;

const RESOURCE_CHECK: CelType = { kind: 'opaque', name: RESOURCE };
/** The type of the variable `authorizer`. */
export const AUTHORIZER_TYPE: ObjectType = {
  kind: 'object',
  name: AUTHORIZER,
  fields: () => new Map([['requestResource', RESOURCE_CHECK]]),
};

/** What a check costs beside the call: others are asked. */
const CHECK_COST = 350_000;

/** A question that is not complete. */
class Asking implements Opaque {
  readonly opaque: string;
  readonly ask: AskAccess;
  readonly question: AccessQuestion;
  readonly member?: (name: string) => Value | undefined;

  constructor(opaque: string, ask: AskAccess, question: AccessQuestion, own?: AccessQuestion) {
    this.opaque = opaque;
    this.ask = ask;
    this.question = question;
    if (own !== undefined)
      this.member = (name) => (name === 'requestResource' ? new Asking(RESOURCE, ask, own) : undefined);
  }

  get key(): string {
    return JSON.stringify(this.question);
  }

  with(opaque: string, said: Partial<AccessQuestion>): Asking {
    return new Asking(opaque, this.ask, { ...this.question, ...said });
  }
}

const NOTHING: AccessQuestion = {
  serviceAccount: undefined,
  verb: '',
  path: undefined,
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

/** The variable `authorizer`. @param own The resource of the request. */
export const authorizer = (ask: AskAccess, own: Partial<AccessQuestion>): Opaque =>
  new Asking(AUTHORIZER, ask, NOTHING, { ...NOTHING, ...own });

interface Answered extends Opaque {
  readonly answer: AccessAnswer;
}

/** Classes of values were checked when their functions were chosen. */
const asking = (value: Value | undefined): Asking => value as Asking;
const text = (value: Value | undefined): string => value as string;
const answer = (value: Value | undefined): AccessAnswer => (value as Answered).answer;

function notEmpty(value: Value | undefined, what: string): string {
  if (text(value).trim() === '') throw new CelError(`${what} must not be empty`);
  return text(value);
}

const check: Run = ([on, verb], meter) => {
  meter.spend(CHECK_COST);
  const { question, ask } = asking(on);
  const given = ask({ ...question, verb: text(verb) });
  return { opaque: DECISION, key: JSON.stringify(given), answer: given } satisfies Answered;
};

const said =
  (member: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector'): Run =>
  ([on, value]) =>
    asking(on).with(RESOURCE, { [member]: text(value) });

const forAccount: Run = ([on, namespace, name]) => {
  if (dns1123Subdomain(text(name)).length > 0) throw new CelError('Invalid service account name');
  if (dns1123Label(text(namespace)).length > 0) throw new CelError('Invalid service account namespace');
  return asking(on).with(AUTHORIZER, { serviceAccount: { namespace: text(namespace), name: text(name) } });
};

/** Functions by which expressions ask who may do what. */
export const ACCESS: Library = {
  [`${AUTHORIZER}.path(string): ${PATH}`]: ([on, path]) => asking(on).with(PATH, { path: notEmpty(path, 'path') }),
  [`${AUTHORIZER}.group(string): ${GROUP}`]: ([on, group]) => asking(on).with(GROUP, { group: text(group) }),
  [`${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`]: forAccount,
  [`${GROUP}.resource(string): ${RESOURCE}`]: ([on, resource]) =>
    asking(on).with(RESOURCE, { resource: notEmpty(resource, 'resource') }),
  [`${RESOURCE}.subresource(string): ${RESOURCE}`]: said('subresource'),
  [`${RESOURCE}.namespace(string): ${RESOURCE}`]: said('namespace'),
  [`${RESOURCE}.name(string): ${RESOURCE}`]: said('name'),
  [`${RESOURCE}.fieldSelector(string): ${RESOURCE}`]: said('fieldSelector'),
  [`${RESOURCE}.labelSelector(string): ${RESOURCE}`]: said('labelSelector'),
  [`${PATH}.check(string): ${DECISION}`]: check,
  [`${RESOURCE}.check(string): ${DECISION}`]: check,
  [`${DECISION}.allowed(): bool`]: ([it]) => answer(it).allowed,
  [`${DECISION}.reason(): string`]: ([it]) => answer(it).reason,
  [`${DECISION}.errored(): bool`]: ([it]) => answer(it).error !== '',
  [`${DECISION}.error(): string`]: ([it]) => answer(it).error,
};
