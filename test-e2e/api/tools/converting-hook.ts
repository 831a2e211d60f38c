import type { TestAuthority } from '../../../services/client/testing/certificates.js';
import {
  answerJson,
  startTlsService,
  type Handler,
  type Received,
  type TlsService,
} from '../../../services/client/testing/tls-service.js';
import { schemaWith } from './definitions.js';

/** The members of all versions. */
interface Spec {
  readonly hostPort?: string;
  readonly replicas?: number;
  readonly host?: string;
  readonly port?: number;
  readonly endpoint?: { readonly host?: string; readonly port?: number };
  readonly count?: number;
  readonly note?: string;
  readonly tier?: string;
}

interface Status {
  readonly ready?: number;
  readonly readyCount?: number;
  readonly phase?: string;
}

/** An object as it is sent to the webhook. */
export interface Sent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [member: string]: unknown;
  };
  readonly spec?: Spec;
  readonly status?: Status;
}

export interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Sent[] };
}

const integer = { type: 'integer' };
const text = { type: 'string' };
const endpoint = { type: 'object', properties: { host: text, port: integer } };

/** What each version calls what: `v1` has one text, `v2` two members, `v3` an object of two. */
const VERSIONS = {
  v1: {
    properties: { hostPort: text, replicas: integer, note: { ...text, default: 'of v1' } },
    status: { ready: integer },
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
    columns: [{ name: 'Address', type: 'string', jsonPath: '.spec.hostPort' }],
    selectable: '.spec.hostPort',
  },
  v2: {
    properties: { host: text, port: integer, count: { ...integer, minimum: 0 }, note: text },
    status: { readyCount: integer },
    scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.readyCount' },
    columns: [
      { name: 'Host', type: 'string', jsonPath: '.spec.host' },
      { name: 'Port', type: 'integer', jsonPath: '.spec.port' },
    ],
    selectable: '.spec.host',
  },
  v3: {
    properties: { endpoint, count: integer, note: text, tier: { ...text, default: 'usual' } },
    status: { readyCount: integer },
    scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.readyCount' },
    columns: [{ name: 'Tier', type: 'string', jsonPath: '.spec.tier' }],
    selectable: '.spec.tier',
  },
} as const;

export type VersionName = keyof typeof VERSIONS;

/** The versions of a definition. @param stored The one that objects are stored in. */
export const versionsWith = (stored: VersionName): ({ readonly name: string } & Readonly<Record<string, unknown>>)[] =>
  Object.entries(VERSIONS).map(([name, { properties, status, scale, columns, selectable }]) => ({
    name,
    served: true,
    storage: name === stored,
    schema: schemaWith({ properties }, status),
    subresources: { status: {}, scale },
    additionalPrinterColumns: columns,
    selectableFields: [{ jsonPath: selectable }],
  }));

/** What an object means, whichever its version. */
type Meant = Pick<Spec, 'host' | 'port' | 'count' | 'note' | 'tier'> & Pick<Status, 'ready' | 'phase'>;

const READ: Readonly<Record<VersionName, (spec: Spec, status: Status) => Meant>> = {
  v1: ({ hostPort, replicas, note }, { ready, phase }) => {
    const [host, port] = hostPort?.split(':') ?? [];
    return known({ host, port: port === undefined ? undefined : Number(port), count: replicas, note, ready, phase });
  },
  v2: ({ host, port, count, note }, { readyCount, phase }) =>
    known({ host, port, count, note, ready: readyCount, phase }),
  v3: ({ endpoint = {}, count, note, tier }, { readyCount, phase }) =>
    known({ ...endpoint, count, note, tier, ready: readyCount, phase }),
};

const WRITE: Readonly<Record<VersionName, (meant: Meant) => { readonly spec: Spec; readonly status: Status }>> = {
  v1: ({ host, port, count, ready, note, phase }) => ({
    spec: known({ hostPort: host === undefined ? undefined : `${host}:${port ?? 0}`, replicas: count, note }),
    status: known({ ready, phase }),
  }),
  v2: ({ host, port, count, ready, note, phase }) => ({
    spec: known({ host, port, count, note }),
    status: known({ readyCount: ready, phase }),
  }),
  v3: ({ host, port, count, ready, note, tier, phase }) => ({
    spec: known({ endpoint: host === undefined ? undefined : known({ host, port }), count, note, tier }),
    status: known({ readyCount: ready, phase }),
  }),
};

/** Without members that are undefined. */
const known = <T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T =>
  JSON.parse(JSON.stringify(members)) as T;

const versionOf = (apiVersion: string): VersionName => apiVersion.slice(apiVersion.indexOf('/') + 1) as VersionName;

/**
 * What the webhook makes of an object. It may write labels, and nothing else of the metadata; members that no version
 * knows are dropped by the server.
 */
export function converted({ apiVersion, kind, metadata, spec = {}, status = {} }: Sent, to: string): Sent {
  const written = WRITE[versionOf(to)](READ[versionOf(apiVersion)](spec, status));
  const labels = { ...metadata.labels, shape: versionOf(to) };
  return {
    apiVersion: to,
    kind,
    metadata: { ...metadata, generation: 999, labels },
    spec: { ...written.spec, ...{ unknown: 'to be dropped' } },
    ...(Object.keys(written.status).length === 0 ? {} : { status: written.status }),
  };
}

export const reviewOf = ({ body }: Received): Review => JSON.parse(body) as Review;

export const reviewed = ({ apiVersion, kind, request: { uid } }: Review, response: object): object => ({
  apiVersion,
  kind,
  response: { uid, result: { status: 'Success' }, ...response },
});

export const convertAll = ({ request }: Review): readonly Sent[] =>
  request.objects.map((object) => converted(object, request.desiredAPIVersion));

/** A webhook over TLS that converts, unless a test says otherwise. */
export class ConvertingHook {
  readonly service: TlsService;
  readonly #ca: string;
  /** In place of an answer. */
  handle: Handler | undefined;

  private constructor(service: TlsService, ca: string) {
    this.service = service;
    this.#ca = ca;
  }

  /** @param names Of its certificate, as OpenSSL writes them. */
  static async start(authority: TestAuthority, names = 'DNS:localhost', host = '127.0.0.1'): Promise<ConvertingHook> {
    const service = await startTlsService(authority.issue('converter', names), () => undefined, host);
    const hook = new ConvertingHook(service, authority.cert);
    service.answer = (received, res) => {
      if (hook.handle !== undefined) hook.handle(received, res);
      else hook.answer(received, res);
    };
    return hook;
  }

  readonly answer: Handler = (received, res) => {
    const review = reviewOf(received);
    answerJson(res, reviewed(review, { convertedObjects: convertAll(review) }));
  };

  get caBundle(): string {
    return Buffer.from(this.#ca).toString('base64');
  }

  /** Of a definition. */
  conversion(more: object = {}): Readonly<Record<string, unknown>> {
    const clientConfig = { url: `${this.service.url}/convert`, caBundle: this.caBundle, ...more };
    return { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  }

  get reviews(): readonly Review[] {
    return this.service.received.map(reviewOf);
  }

  /** Forgets what it was asked, and answers as it should. */
  reset(): void {
    this.handle = undefined;
    this.service.received.splice(0);
  }
}
