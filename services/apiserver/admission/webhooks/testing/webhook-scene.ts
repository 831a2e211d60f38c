import { UNOBSERVED } from '../../../../machinery/breaker/breaker.js';
import type { TestAuthority } from '../../../../client/testing/certificates.js';
import { answerJson, startTlsService, type Handler, type TlsService } from '../../../../client/testing/tls-service.js';
import type { ApiObject, JsonObject } from '../../../../machinery/meta/object.js';
import type { WebhookCall } from '../../../metrics/admission-metrics.js';
import { CountedPolicies } from '../../../metrics/policy-metrics.js';
import type { CachedObject } from '../../../cache/cached-object.js';
import { catalog, resources, servedAs, words } from '../../../registry/testing/served.js';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import type { PluginDocument } from '../../configuration.js';
import { requestFor, type TestedRequest } from '../../testing/request.js';
import { mutatingWebhooks } from '../mutating.js';
import type { WebhookPluginDeps } from '../open.js';
import { validatingWebhooks } from '../validating.js';

export interface SentReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly kind: object;
    readonly resource: object;
    readonly subResource?: string;
    readonly requestKind: object;
    readonly requestResource: object;
    readonly name?: string;
    readonly namespace?: string;
    readonly operation: AdmissionOperation;
    readonly object: ApiObject | null;
    readonly oldObject: ApiObject | null;
    readonly options: JsonObject | null;
  };
}

/** What a webhook says; it allows where it says nothing else. */
export type Say = (review: SentReview) => object;

export const patch = (...operations: readonly object[]): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

export const allow: Say = () => ({});

/** As the cache holds it. */
export function cached(object: unknown): CachedObject {
  const { metadata = {} } = object as Partial<ApiObject>;
  return {
    parse: () => structuredClone(object),
    selectables: { labels: metadata.labels, fields: {} },
  } as unknown as CachedObject;
}

/** Both plugins over configurations and objects of a test, with a server of webhooks over TLS. */
export class WebhookScene {
  readonly service: TlsService;
  readonly calls: WebhookCall[] = [];
  readonly policies = new CountedPolicies();
  readonly logged: object[] = [];
  /** Webhooks by their path. */
  readonly say = new Map<string, Say | Handler>();
  /** By `resource/namespace/name`. */
  readonly present = new Map<string, unknown>();
  readonly configuration = new Map<string, PluginDocument>();
  readonly #authority: TestAuthority;
  #configurations: readonly CachedObject[] = [];
  readonly #open: AdmissionPlugin[] = [];

  private constructor(service: TlsService, authority: TestAuthority) {
    this.service = service;
    this.#authority = authority;
  }

  static async start(authority: TestAuthority): Promise<WebhookScene> {
    const scenes: WebhookScene[] = [];
    const pair = authority.issue('hook', 'DNS:localhost,DNS:hook.default.svc');
    const service = await startTlsService(pair, (received, res) => {
      const review = JSON.parse(received.body) as SentReview;
      const said = scenes[0]?.say.get(received.path.replace(/\?.*/, '').slice(1)) ?? allow;
      if (said.length > 1) (said as Handler)(received, res);
      else answerJson(res, reviewed(review, (said as Say)(review)));
    });
    const scene = new WebhookScene(service, authority);
    scenes.push(scene);
    return scene;
  }

  /** Webhooks of one configuration, called by their path. They see every ConfigMap and Pod where they say nothing else. */
  configure(configuration: string, ...webhooks: readonly object[]): void {
    const configured = {
      metadata: { name: configuration },
      webhooks: webhooks.map((webhook, i) => {
        const { path = `w${i}`, ...more } = webhook as { path?: string };
        return {
          name: `${path}.example.com`,
          rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
          clientConfig: { url: `${this.service.url}/${path}`, caBundle: this.caBundle },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          ...more,
        };
      }),
    };
    this.#configurations = [...this.#configurations, cached(configured)];
  }

  get caBundle(): string {
    return Buffer.from(this.#authority.cert).toString('base64');
  }

  unconfigure(): void {
    this.#configurations = [];
  }

  get deps(): WebhookPluginDeps {
    return {
      vocabulary: words,
      catalog,
      resources,
      configuration: this.configuration,
      decide: () => ({ decision: 'noOpinion', reason: '' }),
      log: { warn: (_: string, keys: object) => void this.logged.push(keys) } as WebhookPluginDeps['log'],
      metrics: {
        called: (call: WebhookCall) => void this.calls.push(call),
        breaker: () => UNOBSERVED,
        policies: this.policies,
      } as unknown as WebhookPluginDeps['metrics'], // all that webhooks use of it
      objects: {
        cached: ({ resource }: { resource: string }, namespace: string, name: string) =>
          this.#find(resource, namespace, name),
        present: ({ resource }: { resource: string }, namespace: string, name: string) =>
          this.#find(resource, namespace, name),
        derivedFromAll: (_: unknown, make: (objects: readonly CachedObject[]) => unknown) => {
          let made: { readonly from: object; readonly value: unknown } | undefined;
          return () => {
            if (made?.from !== this.#configurations)
              made = { from: this.#configurations, value: make(this.#configurations) };
            return made.value;
          };
        },
      } as unknown as WebhookPluginDeps['objects'],
    };
  }

  mutating(): AdmissionPlugin {
    return this.#opened(mutatingWebhooks(this.deps));
  }

  validating(): AdmissionPlugin {
    return this.#opened(validatingWebhooks(this.deps));
  }

  /** Requests that arrived, as reviews. */
  get reviews(): readonly SentReview[] {
    return this.service.received.map(({ body }) => JSON.parse(body) as SentReview);
  }

  /** Paths of webhooks in the order in which they were called. */
  get called(): readonly string[] {
    return this.service.received.map(({ path }) => path.replace(/\?.*/, '').slice(1));
  }

  async close(): Promise<void> {
    for (const plugin of this.#open) await plugin.close?.();
    await this.service.close();
  }

  #opened(plugin: AdmissionPlugin): AdmissionPlugin {
    this.#open.push(plugin);
    return plugin;
  }

  #find(resource: string, namespace: string, name: string): CachedObject | undefined {
    const found = this.present.get(`${resource}/${namespace}/${name}`);
    return found === undefined ? undefined : cached(found);
  }
}

/** The answer to a review. */
export const reviewed = ({ apiVersion, kind, request: { uid } }: SentReview, response: object): object => ({
  apiVersion,
  kind,
  response: { uid, allowed: true, ...response },
});

/** A creation of a ConfigMap, unless `more` says otherwise. */
export function configMapRequest(data: object = { a: '1' }, more: Partial<AdmissionRequest> = {}): TestedRequest {
  const { declaration } = servedAs('', 'v1', 'configmaps');
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'x', namespace: 'default' },
    data,
  };
  return requestFor(declaration, object, more);
}
