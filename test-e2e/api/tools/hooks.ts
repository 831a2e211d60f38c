import assert from 'node:assert/strict';
import type { TestAuthority } from '../../../services/client/testing/certificates.js';
import {
  answerJson,
  startTlsService,
  type Handler,
  type Received,
  type TlsService,
} from '../../../services/client/testing/tls-service.js';
import type { Client } from './client.js';
import { created } from './objects.js';

export interface SentReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly kind: { readonly kind: string };
    readonly resource: { readonly resource: string };
    readonly subResource?: string;
    readonly name?: string;
    readonly operation: string;
    readonly userInfo: { readonly username: string };
    readonly object: { readonly metadata?: { readonly labels?: Record<string, string> } } | null;
    readonly oldObject: unknown;
    readonly options: unknown;
  };
}

/** The members of a response beside `uid` and `allowed: true`. */
export type Say = (review: SentReview) => object | Promise<object>;

export const patch = (...operations: readonly object[]): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

export const reviewed = ({ apiVersion, kind, request: { uid } }: SentReview, response: object): object => ({
  apiVersion,
  kind,
  response: { uid, allowed: true, ...response },
});

export const reviewOf = ({ body }: Received): SentReview => JSON.parse(body) as SentReview;

/** Webhooks by their path, over TLS; they allow everything unless a test says otherwise. */
export class HookServer {
  readonly service: TlsService;
  readonly say = new Map<string, Say>();
  /** In place of an answer. */
  readonly handle = new Map<string, Handler>();
  readonly #ca: string;

  private constructor(service: TlsService, ca: string) {
    this.service = service;
    this.#ca = ca;
  }

  /** @param names Of its certificate, as OpenSSL writes them. */
  static async start(authority: TestAuthority, names = 'DNS:localhost', host = '127.0.0.1'): Promise<HookServer> {
    const started: HookServer[] = [];
    const answer: Handler = (received, res) => {
      const [hooks] = started;
      const path = pathOf(received);
      const handle = hooks?.handle.get(path);
      if (handle !== undefined) {
        handle(received, res);
        return;
      }
      const review = reviewOf(received);
      const say = hooks?.say.get(path) ?? ((): object => ({}));
      void Promise.resolve(say(review)).then((said) => answerJson(res, reviewed(review, said)));
    };
    const hooks = new HookServer(await startTlsService(authority.issue('hook', names), answer, host), authority.cert);
    started.push(hooks);
    return hooks;
  }

  get caBundle(): string {
    return Buffer.from(this.#ca).toString('base64');
  }

  clientConfig(path: string): object {
    return { url: `${this.service.url}/${path}`, caBundle: this.caBundle };
  }

  /** Paths in the order in which they were called. */
  get called(): readonly string[] {
    return this.service.received.map(pathOf);
  }

  reviews(path?: string): readonly SentReview[] {
    return this.service.received.filter((it) => path === undefined || pathOf(it) === path).map(reviewOf);
  }

  /** Forgets what webhooks say, and what they were asked. */
  reset(): void {
    this.say.clear();
    this.handle.clear();
    this.service.received.splice(0);
  }
}

const pathOf = ({ path }: Received): string => path.replace(/\?.*/, '').slice(1);

export type HookType = 'Mutating' | 'Validating';

const collection = (type: HookType, group: string): string =>
  `/apis/${group}/v1/${type.toLowerCase()}webhookconfigurations`;

/** Webhook configurations of a test, for one namespace. */
export class Configurations {
  readonly #client: Client;
  readonly #group: string;
  readonly #made: string[] = [];

  constructor(client: Client, group = 'admissionregistration.platform.io') {
    this.#client = client;
    this.#group = group;
  }

  /** Makes one, which is in effect when this returns: a consistent read waits until the server knows it. */
  async add(type: HookType, name: string, namespace: string, ...webhooks: readonly object[]): Promise<string> {
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    const path = `${collection(type, this.#group)}/${name}`;
    created(
      await this.#client.post(collection(type, this.#group), {
        metadata: { name },
        webhooks: webhooks.map((webhook) => ({
          rules: [rule],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          namespaceSelector: { matchLabels: { 'platform.io/metadata.name': namespace } },
          ...webhook,
        })),
      }),
    );
    this.#made.push(path);
    assert.equal((await this.#client.get(path)).code, 200);
    return path;
  }

  async removeAll(): Promise<void> {
    for (const path of this.#made.splice(0)) {
      await this.#client.delete(path);
      await this.#client.get(path);
    }
  }
}
