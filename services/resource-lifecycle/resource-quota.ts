import type { Informer } from '../client/informer/informer.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import { keyOf, nameOf, type Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import { qualified, type ResourceName } from '../machinery/meta/status.js';
import { NO_AMOUNTS } from '../machinery/quota/amounts.js';
import { Evaluators } from '../machinery/quota/evaluators.js';
import type { ResourceQuota } from '../machinery/types/generated/core.v1.js';
import { QuotaObjects } from './quota-objects.js';
import { countedBy, statusAfter, usedOf, type CountedObjects } from './quota-status.js';

export interface ResourceQuotaOptions {
  readonly concurrentResourceQuotaSyncs: number;
  readonly resourceQuotaSyncPeriod: number;
}

/** Quotas that seem wrong are looked at together after a while: most of them only wait for what informers do not show yet. */
const SETTLE_MS = 1_000;

/**
 * Brings the status of quotas in line with what there is. The server charges quotas as it writes objects; this counts for
 * new quotas and changed limits, and repairs what else is wrong. A key is `namespace/name`.
 */
export function openResourceQuota(o: ResourceQuotaOptions, d: ControllerDeps): Controller {
  const { discovery } = d;
  const types = builtInTypes(d.vocabulary);
  const quotas = d.informers.of(types.resourceQuotas);
  const evaluators = new Evaluators(d.vocabulary);
  const look = (namespace: string, of: ResourceName): void => {
    const name = qualified(of);
    for (const { metadata, spec = {} } of quotas.store.list(namespace)) {
      const isCounted = countedBy(evaluators, spec).some((counted) => qualified(counted) === name);
      if (isCounted) d.queue.addAfter(keyOf(metadata), SETTLE_MS);
    }
  };
  const objects = new QuotaObjects(d, evaluators, look);
  const lookAt = (quota: Live<ResourceQuota>): void => {
    // Limits that the status does not know yet go first.
    const isNew = statusAfter(quota, NO_AMOUNTS) !== undefined || lacksUse(quota);
    if (isNew) d.queue.add(keyOf(quota.metadata));
    else d.queue.addAfter(keyOf(quota.metadata), SETTLE_MS);
  };
  quotas.handle({ added: lookAt, updated: (quota) => lookAt(quota) });
  const keeper = new QuotaKeeper(quotas, objects, evaluators, d);
  return {
    informers: [quotas, ...objects.informers],
    workers: o.concurrentResourceQuotaSyncs,
    reconcile: async (key, signal) => {
      const again = await keeper.keep(key, signal);
      return again ?? (quotas.store.get(key) === undefined ? undefined : { againInMs: o.resourceQuotaSyncPeriod });
    },
    run: async (signal) => {
      const lookAtAll = (): void => {
        for (const { metadata } of quotas.store.list()) d.queue.addAfter(keyOf(metadata), SETTLE_MS);
      };
      const unlisten = discovery.listen(lookAtAll);
      await new Promise((ended) => signal.addEventListener('abort', ended, { once: true }));
      unlisten();
    },
  };
}

const lacksUse = ({ spec, status }: ResourceQuota): boolean =>
  Object.keys(spec?.hard ?? {}).some((name) => !Object.hasOwn(status?.used ?? {}, name));

class QuotaKeeper {
  readonly #quotas: Informer<ResourceQuota>;
  readonly #objects: QuotaObjects;
  readonly #evaluators: Evaluators;
  readonly #d: Pick<ControllerDeps, 'client' | 'discovery'>;

  constructor(
    quotas: Informer<ResourceQuota>,
    objects: QuotaObjects,
    evaluators: Evaluators,
    d: Pick<ControllerDeps, 'client' | 'discovery'>,
  ) {
    this.#quotas = quotas;
    this.#objects = objects;
    this.#evaluators = evaluators;
    this.#d = d;
  }

  async keep(key: string, signal: AbortSignal): Promise<Reconciled> {
    const seen = this.#quotas.store.get(key);
    if (seen === undefined || seen.metadata.deletionTimestamp !== undefined) return undefined;
    const { namespace = '', name } = nameOf(key);
    const counted = await this.#objects.follow(countedBy(this.#evaluators, seen.spec ?? {}), signal);
    const known = this.#objects.known(counted, namespace);
    if (known !== undefined && (await this.#after(seen, known)) === undefined) return undefined;
    const client = this.#d.client.resource(this.#quotas.type);
    // The order matters: whatever the server counts after the quota was read makes the write below fail.
    const { items } = await client.list({ namespace, fieldSelector: `metadata.name=${name}` }, signal);
    const quota = items.find(({ metadata }) => metadata.name === name);
    if (quota === undefined) return undefined;
    const status = await this.#after(quota, await this.#objects.listed(counted, namespace, signal));
    if (status === undefined) return undefined;
    try {
      await client.update({ ...quota, status }, { subresource: 'status' }, signal);
    } catch (err) {
      if (isApiError(err, 'Conflict')) return { againInMs: SETTLE_MS };
      if (!isApiError(err, 'NotFound')) throw err;
    }
    return undefined;
  }

  async #after(quota: ResourceQuota, objects: CountedObjects): Promise<ResourceQuota['status']> {
    return statusAfter(quota, await usedOf(quota, this.#evaluators, objects));
  }
}
