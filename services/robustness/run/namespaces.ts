import { builtInTypes } from '../../client/rest/built-in-types.js';
import { isApiError, type ApiClient } from '../../client/rest/client.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Pool } from '../history/lines.js';

export interface NamespaceOptions {
  readonly client: ApiClient;
  readonly vocabulary: Vocabulary;
  readonly quota: number;
  /** Sets the run apart from others on the same installation. */
  readonly run: string;
}

const POOLS: readonly Pool[] = ['main', 'family', 'quota', 'fence'];
const QUOTA_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** The namespaces of a run, made and ready. @throws {Error} When no controller counts for the quota. */
export async function openNamespaces(
  o: NamespaceOptions,
  signal: AbortSignal,
): Promise<Readonly<Record<Pool, string>>> {
  const types = builtInTypes(o.vocabulary);
  const names = Object.fromEntries(POOLS.map((pool) => [pool, `robustness-${o.run}-${pool}`])) as Record<Pool, string>;
  for (const name of Object.values(names)) {
    await o.client.resource(types.namespaces).create({ metadata: { name } }, {}, signal);
  }
  const quotas = o.client.resource(types.resourceQuotas);
  const hard = { configmaps: String(o.quota) };
  await quotas.create({ metadata: { namespace: names.quota, name: 'robustness' }, spec: { hard } }, {}, signal);
  const until = performance.now() + QUOTA_MS;
  while (performance.now() < until && !hasFired(signal)) {
    const { status } = await quotas.get({ namespace: names.quota, name: 'robustness' }, signal);
    if (status?.used?.['configmaps'] !== undefined) return names;
    await rest(LOOK_EVERY_MS, signal);
  }
  throw new Error(`No controller counts for the quota in ${names.quota}`);
}

/** Their objects go with them; nobody waits for that. */
export async function removeNamespaces(
  o: NamespaceOptions,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const namespaces = o.client.resource(builtInTypes(o.vocabulary).namespaces);
  for (const name of names) {
    try {
      await namespaces.delete({ name }, {}, signal);
    } catch (err) {
      if (!isApiError(err, 'NotFound', 'Conflict')) throw err;
    }
  }
}
