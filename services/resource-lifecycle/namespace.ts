import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ResourceClient } from '../client/rest/client.js';
import { retryOnConflict } from '../client/rest/retry-on-conflict.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import { now } from '../machinery/meta/time.js';
import type { Namespace } from '../machinery/types/generated/core.v1.js';
import { conditionsAfter, isEmpty, type Emptied } from './namespace-conditions.js';
import { deletable, emptyNamespace } from './namespace-content.js';

export interface NamespaceOptions {
  readonly concurrentNamespaceSyncs: number;
}

/** How long until what is left is looked at again: doubled each time. */
const AGAIN = { leastMs: 250, mostMs: 15_000 };

/**
 * Empties namespaces that are deleted, says in their status what is left and why, and takes the finalizer off that keeps them
 * when nothing is (spec 1, deletion of namespaces). A key is the name of a namespace.
 */
export function openNamespace(o: NamespaceOptions, d: ControllerDeps): Controller {
  const { client, discovery, vocabulary } = d;
  const types = builtInTypes(vocabulary);
  const informer = d.informers.of(types.namespaces);
  const add = ({ metadata }: Live<Namespace>): void => {
    if (metadata.deletionTimestamp !== undefined) d.queue.add(metadata.name);
  };
  const emptier = new NamespaceEmptier(client.resource(types.namespaces), { client, discovery, vocabulary });
  informer.handle({ added: add, updated: add, deleted: ({ metadata }) => emptier.forget(metadata.uid) });
  return {
    informers: [informer],
    workers: o.concurrentNamespaceSyncs,
    reconcile: async (name, signal) => {
      const namespace = informer.store.get(name);
      return namespace?.metadata.deletionTimestamp === undefined ? undefined : emptier.empty(namespace, signal);
    },
  };
}

class NamespaceEmptier {
  readonly #namespaces: ResourceClient<Namespace>;
  readonly #d: Pick<ControllerDeps, 'client' | 'discovery' | 'vocabulary'>;
  /** How often each namespace that is being deleted, by uid, was found with something left. */
  readonly #attempts = new Map<string, number>();

  constructor(namespaces: ResourceClient<Namespace>, d: Pick<ControllerDeps, 'client' | 'discovery' | 'vocabulary'>) {
    this.#namespaces = namespaces;
    this.#d = d;
  }

  forget(uid: string): void {
    this.#attempts.delete(uid);
  }

  async empty({ metadata: { name, uid }, spec }: Live<Namespace>, signal: AbortSignal): Promise<Reconciled> {
    const finalizer = this.#d.vocabulary.namespaceFinalizer;
    if (spec?.finalizers?.includes(finalizer) !== true) return undefined; // what keeps it is the work of others
    const attempt = this.#attempts.get(uid) ?? 0;
    // Nothing can be made there any more, so what was served since is all that can be there.
    const { resources, failed } = await this.#d.discovery.served({ fresh: attempt % 4 === 0 }, signal);
    const content = await emptyNamespace(this.#d.client, name, deletable(resources), signal);
    const emptied: Emptied = { ...content, undiscovered: failed };
    if (isEmpty(emptied)) {
      await this.#finalize(name, uid, finalizer, signal);
      return undefined;
    }
    this.#attempts.set(uid, attempt + 1);
    await this.#tell(name, uid, emptied, signal);
    if (emptied.failures.length > 0) {
      throw new Error(`Namespace ${name} could not be emptied: ${emptied.failures[0] ?? ''}`);
    }
    const againInMs = Math.min(AGAIN.mostMs, AGAIN.leastMs * 2 ** Math.min(attempt, 10));
    return { againInMs: Math.max(againInMs, Math.min(AGAIN.mostMs, content.graceSeconds * 500)) };
  }

  async #tell(name: string, uid: string, emptied: Emptied, signal: AbortSignal): Promise<void> {
    const change = (namespace: Live<Namespace>): Namespace | undefined => {
      if (namespace.metadata.uid !== uid) return undefined;
      const conditions = conditionsAfter(namespace.status?.conditions ?? [], emptied, now());
      return conditions === undefined ? undefined : { ...namespace, status: { ...namespace.status, conditions } };
    };
    await unlessGone(retryOnConflict(this.#namespaces, { name }, change, { subresource: 'status' }, signal));
  }

  async #finalize(name: string, uid: string, finalizer: string, signal: AbortSignal): Promise<void> {
    const change = (namespace: Live<Namespace>): Namespace | undefined => {
      const { finalizers = [] } = namespace.spec ?? {};
      if (namespace.metadata.uid !== uid || !finalizers.includes(finalizer)) return undefined;
      return { ...namespace, spec: { ...namespace.spec, finalizers: finalizers.filter((it) => it !== finalizer) } };
    };
    await unlessGone(retryOnConflict(this.#namespaces, { name }, change, { subresource: 'finalize' }, signal));
  }
}

async function unlessGone(doing: Promise<unknown>): Promise<void> {
  try {
    await doing;
  } catch (err) {
    if (!isApiError(err, 'NotFound')) throw err;
  }
}
