import { converter } from '../../machinery/conversion/converter.js';
import { Defaulter } from '../../machinery/defaulting/defaulter.js';
import { featureGates, type FeatureGates } from '../../machinery/features/feature-gates.js';
import { Ownership } from '../../machinery/ownership/ownership.js';
import { qualified } from '../../machinery/meta/status.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import {
  vocabulary as vocabularyOf,
  type Vocabulary,
  type VocabularyName,
} from '../../machinery/vocabulary/vocabulary.js';
import type { KeyValueStore } from '../../storage/store.js';
import { AdmissionObjects } from '../admission/objects.js';
import type { AccessIndex } from '../authorization/rbac/access-index.js';
import { openAccessIndex } from '../authorization/rbac/rbac-resources.js';
import { Feed } from '../cache/feed.js';
import { ConsistentReadGate } from '../cache/gate.js';
import { HistoryBudget } from '../cache/history.js';
import { SNAPSHOT_LIMITS, SnapshotBudget } from '../cache/snapshots.js';
import { checkAdvertised } from '../endpoints/open-endpoints.js';
import type { Definitions } from '../extensions/definitions.js';
import { openDefinitions } from '../extensions/open-definitions.js';
import { OpenStreams } from '../http/stream.js';
import type { Log } from '../../machinery/log/log.js';
import type { ApiServerMetrics } from '../metrics/metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import { attachAddresses, serviceAddresses } from '../registry/addresses/open.js';
import { settleVocabulary } from '../registry/bootstrap.js';
import { FieldOwnership } from '../registry/field-ownership.js';
import { registryKeys, type RegistryKeys } from '../registry/keys.js';
import { LiveCatalog } from '../registry/live-catalog.js';
import { LeasePool } from '../registry/lease-pool.js';
import { Reader } from '../registry/reader.js';
import { ResourceTable } from '../registry/resources.js';
import { servedApi } from '../registry/runtime-config.js';
import { strategies } from '../registry/strategies/table.js';
import { WatchService } from '../registry/watch-service.js';
import { Writer } from '../registry/writer.js';
import { offered } from '../subresources/tokens/issuer.js';

/** Changes older than this are dropped from memory even when there is room. */
const HISTORY_RETAIN_MS = 10 * 60_000;

/** The parts of the server that read and write objects, without HTTP. */
export interface Core {
  readonly vocabulary: Vocabulary;
  readonly gates: FeatureGates;
  /** Built-in types and resources. */
  readonly catalog: Catalog;
  /** All that there is and is served, which changes. */
  readonly live: LiveCatalog;
  /** The definitions by which resources are added to it. */
  readonly definitions: Definitions;
  readonly keys: RegistryKeys;
  readonly resources: ResourceTable;
  readonly feed: Feed;
  readonly gate: ConsistentReadGate;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  readonly watches: WatchService;
  readonly streams: OpenStreams;
  /** The address of the service that leads to the API servers. */
  readonly serviceAddress: string;
  /** The index of roles by user; undefined where roles decide nothing. */
  readonly access: AccessIndex | undefined;
  readonly state: {
    /** The port that the server listens on; 0 until it does. */
    port: number;
    bootstrapped: boolean;
    policySettled: boolean;
    flowControlSettled: boolean;
    stopping: boolean;
  };
}

/** @throws {Error} With one line that says why: flags that do not fit together, a store in other words. */
export async function buildCore(
  o: ApiServerOptions,
  log: Log,
  store: KeyValueStore,
  metrics: ApiServerMetrics,
  signal: AbortSignal,
): Promise<Core> {
  const addresses = serviceAddresses(o);
  checkAdvertised(o);
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const { gates, warnings: gateWarnings } = featureGates(o.featureGates);
  const catalog = offered(loadCatalog(vocabulary, gates), o);
  const { served, warnings } = servedApi(catalog, o.runtimeConfig);
  for (const warning of [...gateWarnings, ...warnings]) log.warn(warning);
  const keys = registryKeys(o.etcdPrefix);
  await settleVocabulary(store, keys, vocabulary, signal);
  const defaulter = new Defaulter(vocabulary);
  const resources = new ResourceTable({
    catalog,
    convert: converter(catalog, vocabulary).convert,
    defaulter,
    keys,
    strategyFor: strategies({
      vocabulary,
      types: catalog.types,
      eventTtlSeconds: Math.ceil(o.eventTtlMs / 1000),
      addresses,
      allowPrivileged: o.allowPrivileged,
    }),
    onUnreadable: (key, err) =>
      log.warn('A value in the store is no object of its resource and is left out', { key, err }),
    budget: new HistoryBudget({ maxBytes: o.watchHistoryBytes, retainMs: HISTORY_RETAIN_MS }),
    snapshots: new SnapshotBudget(SNAPSHOT_LIMITS),
  });
  const feed = new Feed({ store, prefix: keys.prefix, log });
  for (const { cache } of resources.allStored()) feed.register(cache);
  const live = new LiveCatalog({ builtIn: catalog, served, resources, feed, defaulter });
  metrics.store.countObjectsBy(() => objectCounts(resources));
  metrics.store.measureBy((signal) => store.space(signal));
  const leases = new LeasePool(store, signal);
  const gate = new ConsistentReadGate(store, feed);
  const reader = new Reader({
    store,
    feed,
    gate,
    consistentFrom: consistentFrom(o, store),
    chunks: gates.enabled('APIListChunking'),
    countsRemaining: gates.enabled('RemainingItemCount'),
    signal,
  });
  const objects = new AdmissionObjects(resources, reader);
  const definitions = openDefinitions({ live, resources, vocabulary, objects, metrics: metrics.conversions, log });
  attachAddresses(addresses, { catalog, resources, reader });
  return {
    vocabulary,
    gates,
    catalog,
    live,
    definitions,
    keys,
    resources,
    feed,
    gate,
    reader,
    ownership: new FieldOwnership(new Ownership(vocabulary)),
    writer: new Writer({
      store,
      signal,
      leaseFor: (ttlSeconds, ended) => leases.leaseFor(ttlSeconds, ended),
      allocationKey: keys.allocation,
      reached: (at, timeoutMs) => feed.waitFor(at, timeoutMs),
    }),
    serviceAddress: addresses.firstAddress,
    watches: new WatchService(store, feed, ({ hub }, err) =>
      log.error('Watch ended with an error', { resource: qualified(hub), err }),
    ),
    streams: new OpenStreams(),
    access: o.authorizationMode.includes('RBAC') ? openAccessIndex(resources, vocabulary.groups.rbac) : undefined,
    state: { port: 0, bootstrapped: false, policySettled: false, flowControlSettled: false, stopping: false },
  };
}

const objectCounts = (resources: ResourceTable): [string, number][] =>
  [...resources.allStored()].map(({ hub, cache }) => [qualified(hub), cache.size]);

function consistentFrom({ consistentReads }: ApiServerOptions, store: KeyValueStore): 'cache' | 'store' {
  if (consistentReads === 'cache' || consistentReads === 'store') return consistentReads;
  return store.capabilities().reliableProgress ? 'cache' : 'store';
}
