import { hasFired } from '../../machinery/loop/repeat.js';
import type { Log } from '../../machinery/log/log.js';
import { runOnChanges } from '../cache/changes.js';
import { follow } from '../cache/follow.js';
import { makeMissing, type BootstrapDeps } from './bootstrap.js';
import { declaredResource, keyOf } from './resources.js';

const ACCOUNT = 'default';

export interface DefaultAccountsDeps extends BootstrapDeps {
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Keeps a service account `default` in every active namespace (spec 2, 2.2), until `signal` fires: without one, pods are
 * refused there. Every server does; what one has made, the others find in place. Work is done per change, not per namespace
 * that there is. Never throws. The caches have to be loaded.
 */
export async function lookAfterDefaultAccounts(d: DefaultAccountsDeps, signal: AbortSignal): Promise<void> {
  const namespaces = declaredResource(d.resources, '', 'namespaces');
  const accounts = declaredResource(d.resources, '', 'serviceaccounts');
  /** Namespaces to look at, by name. */
  const due = new Set<string>();
  follow(namespaces.cache, {
    loaded: (all) => {
      for (const { name } of all) due.add(name);
    },
    changed: ({ object, deleted }) => {
      if (!deleted) due.add(object.name);
    },
  });
  follow(accounts.cache, {
    loaded: () => {
      for (const { name } of namespaces.cache.objects()) due.add(name);
    },
    changed: ({ object, deleted }) => {
      if (deleted && object.name === ACCOUNT) due.add(object.namespace);
    },
  });
  const pass = async (): Promise<number> => {
    for (const name of due) {
      if (hasFired(signal)) return 0;
      const namespace = namespaces.cache.get(keyOf(namespaces, '', name));
      const isActive = namespace !== undefined && namespace.field('status.phase') !== 'Terminating';
      if (isActive) await makeMissing(d, '', 'serviceaccounts', ACCOUNT, {}, name);
      due.delete(name);
    }
    return 0;
  };
  const onFailure = (err: unknown): void => d.log.warn('A default service account could not be made yet', { err });
  await runOnChanges({ caches: [namespaces.cache, accounts.cache], pass, onFailure }, signal);
}
