import { certificateFileCredentials } from '../../client/credentials/certificate-files.js';
import type { Log } from '../../machinery/log/log.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { AdmissionObjects } from '../admission/objects.js';
import { follow } from '../cache/follow.js';
import type { OpenStreams } from '../http/stream.js';
import type { ApiServerMetrics } from '../metrics/metrics.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import type { Reader } from '../registry/reader.js';
import { declaredResource, type ResourceTable } from '../registry/resources.js';
import type { Writer } from '../registry/writer.js';
import type { UserInfo } from '../request/request.js';
import { PRIVILEGED_GROUP } from '../request/users.js';
import { proxyLimits, type OperationOptions } from '../subresources/options.js';
import { AvailabilityChecks } from './availability.js';
import { RemoteDocuments } from './documents.js';
import { Forwarder } from './forward.js';
import { Peers } from './peers.js';
import { Routes } from './routes.js';

export interface AggregationOptions extends Pick<
  OperationOptions,
  'proxyConnectTimeoutMs' | 'proxyAnswerTimeoutMs' | 'proxyIdleTimeoutMs'
> {
  readonly proxyClientCertFile: string;
  readonly proxyClientKeyFile: string;
  readonly enableAggregatorRouting: boolean;
}

export interface AggregationDeps {
  readonly resources: ResourceTable;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly live: Pick<LiveCatalog, 'current'>;
  readonly vocabulary: Vocabulary;
  readonly streams: OpenStreams;
  readonly metrics: Pick<ApiServerMetrics, 'aggregation' | 'breakers'>;
  readonly log: Log;
}

/** What other servers serve behind this one. */
export interface Aggregation {
  readonly forwarder: Forwarder;
  /** What they tell of themselves. */
  readonly documents: RemoteDocuments;
  /** Looks after them until `signal` fires. Never throws. The caches have to be loaded. */
  run(signal: AbortSignal): Promise<void>;
}

/** @throws {Error} In one line, for files that cannot be used. */
export function openAggregation(o: AggregationOptions, d: AggregationDeps): Aggregation {
  const { resources, vocabulary, metrics, log } = d;
  const group = vocabulary.groups.apiregistration;
  const objects = new AdmissionObjects(resources, d.reader);
  const routes = new Routes();
  follow(declaredResource(resources, group, 'apiservices').cache, routes);
  const certificate = certificateOf(o, log);
  const { observe } = metrics.breakers;
  const limits = proxyLimits(o);
  const toEndpoints = o.enableAggregatorRouting;
  const peers = new Peers({ objects, certificate, connectMs: limits.connectMs, toEndpoints, observe }, routes);
  const user: UserInfo = { name: vocabulary.users.aggregator, uid: '', groups: [PRIVILEGED_GROUP], extra: {} };
  const checks = new AvailabilityChecks({ ...d, routes, peers, objects, group, user, metrics: metrics.aggregation });
  const discoveryGroup = vocabulary.apiDiscoveryGroup;
  const documents = new RemoteDocuments({ routes, peers, user, discoveryGroup, log });
  const proxying = { limits, streams: d.streams, words: vocabulary.protocols };
  return {
    documents,
    forwarder: new Forwarder({ routes, peers, proxying, live: d.live }),
    run: async (signal) => {
      await Promise.all([checks.run(signal), documents.run(signal)]);
      peers.close();
    },
  };
}

function certificateOf(
  { proxyClientCertFile: certFile, proxyClientKeyFile: keyFile }: AggregationOptions,
  log: Log,
): ReturnType<typeof certificateFileCredentials> | undefined {
  if (certFile === '') return undefined;
  return certificateFileCredentials({ certFile, keyFile }, { warn: (message, keys) => log.warn(message, keys) });
}
