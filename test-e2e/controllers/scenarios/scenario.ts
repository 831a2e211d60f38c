import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { builtInTypes } from '../../../services/client/rest/built-in-types.js';
import { isApiError, type ApiClient, type DeleteOptions } from '../../../services/client/rest/client.js';
import type { AnyObject, Live, ResourceType } from '../../../services/client/rest/resource-type.js';
import type { OwnerReference } from '../../../services/machinery/types/generated/meta.v1.js';
import { vocabulary } from '../../../services/machinery/vocabulary/vocabulary.js';
import { eventually } from '../../api/tools/objects.js';
import { normalised } from './normalised.js';

/** Scenarios speak this vocabulary, which every server of this API can. */
export const words = vocabulary('kubernetes');
export const types = builtInTypes(words);

/** Looks at the state that a scenario is about. */
export type Look = () => Promise<unknown>;

/** Something that happens to objects of its own, and the state to which every set of controllers should bring them. */
export interface Scenario {
  /** A sentence; no two have the same. */
  readonly name: string;
  /** Does the steps. */
  run(c: ScenarioContext): Promise<Look>;
  /** That state, without what differs each time: see `normalised`. */
  readonly expected: unknown;
}

/** Scenarios about a subject, which their names begin with. */
export const scenarios = (subject: string, all: readonly Scenario[]): readonly Scenario[] =>
  all.map((scenario) => ({ ...scenario, name: `${subject}: ${scenario.name}` }));

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Opens a client as the administrator, or as a user in whose name the administrator asks. */
export type OpenClient = (as?: User) => ApiClient;

/** How an object is in its life: `{}` is there and nothing more. */
export type Life =
  'gone' | { readonly deleting?: true; readonly finalizers?: readonly string[]; readonly owners?: readonly string[] };

/** What a scenario does its steps with. Names end with something of its own, which `normalised` takes off again. */
export class ScenarioContext {
  readonly suffix = `-${randomBytes(4).toString('hex')}`;
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  readonly #open: OpenClient;
  readonly #patienceMs: number;

  constructor(open: OpenClient, patienceMs: number) {
    this.#open = open;
    this.#patienceMs = patienceMs;
    this.client = open();
    this.signal = AbortSignal.timeout(2 * patienceMs);
  }

  named(name: string): string {
    return `${name}${this.suffix}`;
  }

  /** A new namespace. @returns Its name. */
  async namespace(name = 'scenario'): Promise<string> {
    const { metadata } = await this.create(types.namespaces, { metadata: { name: this.named(name) } });
    return metadata.name;
  }

  create<T extends AnyObject>(type: ResourceType<T>, object: T, as?: User): Promise<Live<T>> {
    const client = as === undefined ? this.client : this.#open(as);
    return client.resource(type).create(object, {}, this.signal);
  }

  /** Like `create`; an object that is there already is as good. */
  async ensure<T extends AnyObject>(type: ResourceType<T>, object: T): Promise<void> {
    try {
      await this.create(type, object);
    } catch (err) {
      if (!isApiError(err, 'AlreadyExists')) throw err;
    }
  }

  /** undefined when it is not there. */
  async find<T extends AnyObject>(type: ResourceType<T>, name: string, namespace = ''): Promise<Live<T> | undefined> {
    try {
      return await this.client.resource(type).get({ name, namespace }, this.signal);
    } catch (err) {
      if (isApiError(err, 'NotFound')) return undefined;
      throw err;
    }
  }

  async list<T extends AnyObject>(type: ResourceType<T>, namespace: string): Promise<readonly Live<T>[]> {
    return (await this.client.resource(type).list({ namespace }, this.signal)).items;
  }

  /** The object, as soon as it is there and `isReady`. */
  comes<T extends AnyObject>(
    type: ResourceType<T>,
    name: string,
    namespace = '',
    isReady: (object: Live<T>) => boolean = () => true,
  ): Promise<Live<T>> {
    return this.until(async () => {
      const object = await this.find(type, name, namespace);
      return object !== undefined && isReady(object) ? object : undefined;
    });
  }

  until<T>(look: () => Promise<T | undefined>): Promise<T> {
    return eventually(look, this.#patienceMs);
  }

  delete<T extends AnyObject>(type: ResourceType<T>, { metadata }: Live<T>, o: DeleteOptions = {}): Promise<void> {
    return this.client.resource(type).delete(metadata, o, this.signal);
  }

  patch<T extends AnyObject>(
    type: ResourceType<T>,
    { metadata }: Live<T>,
    patch: object,
    subresource?: 'status',
  ): Promise<Live<T>> {
    const o = subresource === undefined ? {} : { subresource };
    return this.client.resource(type).patch(metadata, 'merge', patch, o, this.signal);
  }

  /** Looks at the lives of these very objects. */
  lives(
    objects: Readonly<Record<string, readonly [ResourceType, Live<AnyObject>]>>,
  ): () => Promise<Record<string, Life>> {
    return async () => {
      const lives: Record<string, Life> = {};
      for (const [name, [type, { metadata }]] of Object.entries(objects)) {
        const found = await this.find(type, metadata.name, metadata.namespace);
        lives[name] = found?.metadata.uid === metadata.uid ? lifeOf(found) : 'gone';
      }
      return lives;
    };
  }
}

export const lifeOf = ({ metadata }: Live<AnyObject>): Life => ({
  ...(metadata.deletionTimestamp !== undefined && { deleting: true }),
  ...(metadata.finalizers !== undefined && { finalizers: metadata.finalizers }),
  ...(metadata.ownerReferences !== undefined && { owners: metadata.ownerReferences.map(({ name = '' }) => name) }),
});

export const referenceTo = ({ apiVersion, kind, metadata: { name, uid } }: Live<AnyObject>): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
});

export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Conditions by type, without their times. */
export const conditionsOf = (conditions: readonly Condition[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    conditions
      .map(
        ({ type = '', status = '', reason = '', message = '' }) =>
          [type, [status, reason, message].join(' | ')] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

export interface Outcome {
  readonly name: string;
  readonly state: unknown;
  readonly isExpected: boolean;
  /** From the first step until the state was seen. */
  readonly ms: number;
}

/** Runs a scenario, and looks until the state is the expected one, or for as long as patience lasts. */
export async function play(scenario: Scenario, open: OpenClient, patienceMs: number): Promise<Outcome> {
  const c = new ScenarioContext(open, patienceMs);
  const started = performance.now();
  let state: unknown;
  try {
    const look = await scenario.run(c);
    await c.until(async () => {
      state = normalised(await look(), c.suffix);
      return isDeepStrictEqual(state, scenario.expected) ? true : undefined;
    });
  } catch (err) {
    state ??= { error: normalised((err as Error).message, c.suffix) };
  }
  const ms = Math.round(performance.now() - started);
  return { name: scenario.name, state, isExpected: isDeepStrictEqual(state, scenario.expected), ms };
}
