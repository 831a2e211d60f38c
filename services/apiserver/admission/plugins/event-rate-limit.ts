import { LRUCache } from 'lru-cache';
import { StatusError } from '../../../machinery/meta/status.js';
import type { Event } from '../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { integer, list, object, oneOf, readVersioned, refuse, required } from '../configuration-members.js';
import type { PluginDocument } from '../configuration.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { joined } from '../refusal.js';

export interface EventRateLimitDeps {
  readonly vocabulary: Vocabulary;
  readonly document: PluginDocument | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
}

/** Which events share a bucket. */
const KEYS = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object: event }) => {
    const { source = {}, involvedObject: about = {} } = (event ?? {}) as Event;
    const parts = [source.component, source.host, about.kind, about.namespace, about.name, about.uid, about.apiVersion];
    return parts.join('');
  },
} as const satisfies Record<string, (request: AdmissionRequest) => string>;

const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const satisfies readonly (keyof typeof KEYS)[];
const DEFAULT_CACHE_SIZE = 4096;
const MOST = 2 ** 31 - 1;
/** More buckets would take gigabytes. */
const MOST_BUCKETS = 1_000_000;

const LIMIT = object({
  type: required(oneOf(...TYPES)),
  qps: required(integer(1, MOST)),
  burst: required(integer(1, MOST)),
  cacheSize: integer(0, MOST_BUCKETS),
});

interface Limit {
  readonly type: keyof typeof KEYS;
  readonly take: (key: string) => boolean;
}

/**
 * Refuses events beyond what their server, namespace, user, or source and object may write (spec 2, 4.4). Each limit takes its
 * token, also where another one refuses.
 *
 * @throws {Error} In one line, for a configuration that is wrong or missing.
 */
export function eventRateLimit({
  vocabulary,
  document,
  nowMs = () => performance.now(),
}: EventRateLimitDeps): AdmissionPlugin {
  const limits = limitsOf(vocabulary, document).map(({ type, qps, burst, cacheSize }): Limit => ({
    type,
    take: buckets({ qps, burst, max: type === 'Server' ? 1 : cacheSize || DEFAULT_CACHE_SIZE, nowMs }),
  }));
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['events', `events.${vocabulary.groups.events}`],
    validate: (request) => {
      if (request.dryRun || request.subresource !== '') return;
      const reached = limits.flatMap(({ type, take }) => {
        const key = KEYS[type](request);
        return take(key) ? [] : [`limit reached on type ${type} for key ${key}`];
      });
      if (reached.length === 0) return;
      throw new StatusError('TooManyRequests', `Too many requests: ${joined(reached)}`);
    },
  };
}

function limitsOf({ groups }: Vocabulary, document: PluginDocument | undefined): readonly ReturnType<typeof LIMIT>[] {
  if (document === undefined) {
    throw new Error(
      'EventRateLimit needs a configuration: --admission-control-config-file says which limits there are',
    );
  }
  const type = { kind: 'Configuration', apiVersions: [`${groups.eventRateLimit}/v1alpha1`] };
  const { limits } = readVersioned(document, type, { limits: list(LIMIT) });
  if (limits.length === 0) refuse({ document, path: ['limits'] }, 'must not be empty');
  return limits;
}

interface Bucket {
  tokens: number;
  /** When that many were in it. */
  atMs: number;
}

/** Token buckets, full at first. The one that was not asked for longest goes when there are too many. */
function buckets(o: { qps: number; burst: number; max: number; nowMs: () => number }): (key: string) => boolean {
  const known = new LRUCache<string, Bucket>({ max: o.max });
  return (key) => {
    const now = o.nowMs();
    const bucket = known.get(key) ?? { tokens: o.burst, atMs: now };
    bucket.tokens = Math.min(o.burst, bucket.tokens + ((now - bucket.atMs) / 1000) * o.qps);
    bucket.atMs = now;
    known.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };
}
