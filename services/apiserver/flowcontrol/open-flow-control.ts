import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { follow } from '../cache/follow.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import type { FlowControlMetrics } from '../metrics/flow-control-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { ResourceRequest, Stage } from '../request/request.js';
import { declaredResource, type StoredResource, type ResourceTable } from '../registry/resources.js';
import { FlowControl } from './flow-control.js';
import { inflightLimits } from './inflight.js';
import { fairness } from './stage.js';
import { widthOf } from './width.js';

export interface FlowControlDeps {
  readonly resources: ResourceTable;
  readonly vocabulary: Vocabulary;
  readonly metrics: FlowControlMetrics;
}

/** The resource of a name in the group of flow control. */
export function flowResource(
  resources: ResourceTable,
  { groups }: Vocabulary,
  name: 'flowschemas' | 'prioritylevelconfigurations',
): StoredResource {
  return declaredResource(resources, groups.flowcontrol, name);
}

/** Bounds how many requests run at once, as the flags say. */
export function openFlowControl(o: ApiServerOptions, { resources, vocabulary, metrics }: FlowControlDeps): Stage {
  const { maxRequestsInflight: reading, maxMutatingRequestsInflight: mutating } = o;
  if (!o.enablePriorityAndFairness) return inflightLimits({ reading, mutating });
  const control = new FlowControl({ serverSeats: reading + mutating, metrics, nowMs: () => performance.now() });
  follow(flowResource(resources, vocabulary, 'prioritylevelconfigurations').cache, control.followLevels());
  follow(flowResource(resources, vocabulary, 'flowschemas').cache, control.followSchemas());
  const cacheOf = ({ declaration }: ResourceRequest): ResourceCache | undefined =>
    declaration === undefined ? undefined : resources.served(declaration)?.stored.cache;
  return fairness({
    control,
    widthOf: (info, query) => widthOf(info, query, cacheOf),
    queueTimeoutMs: o.requestQueueTimeoutMs,
    headers: vocabulary.headers,
  });
}
