import { resolve, dirname } from 'node:path';
import type { Log } from '../../../../machinery/log/log.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionMetrics } from '../../../metrics/admission-metrics.js';
import { openReviewService } from '../../../webhook-reviews/open-review-service.js';
import {
  flag,
  integer,
  object,
  readMembers,
  refuse,
  required,
  text,
  type MemberReader,
} from '../../configuration-members.js';
import type { PluginDocument } from '../../configuration.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { imagePolicyWebhook } from './plugin.js';

export interface OpenImagePolicyDeps {
  readonly vocabulary: Vocabulary;
  readonly configuration: ReadonlyMap<string, PluginDocument>;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: Pick<AdmissionMetrics, 'breaker'>;
  readonly signal: AbortSignal;
}

const NAME = 'ImagePolicyWebhook';

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly usual: number;
}

/** In seconds. */
const ALLOW_TTL: Bounds = { least: 1, most: 1_800, usual: 300 };
const DENY_TTL: Bounds = { least: 1, most: 1_800, usual: 30 };
/** In milliseconds. */
const BACKOFF: Bounds = { least: 1, most: 300_000, usual: 500 };

/** A time; absent and 0 mean the usual one, -1 that there is none. */
const time =
  ({ least, most, usual }: Bounds): MemberReader<number> =>
  (member) => {
    const value = integer(-1, Number.MAX_SAFE_INTEGER)(member);
    if (value === 0) return usual;
    if (value === -1) return 0;
    return value >= least && value <= most ? value : refuse(member, `must be from ${least} to ${most}, or -1 for none`);
  };

const SHAPE = {
  imagePolicy: object({
    kubeConfigFile: required(text),
    allowTTL: time(ALLOW_TTL),
    denyTTL: time(DENY_TTL),
    retryBackoff: time(BACKOFF),
    defaultAllow: flag,
  }),
};

/** Nothing counts how this one is asked. */
const UNCOUNTED = { tried: () => undefined, asked: () => undefined };
/** Names the service. */
const SERVICE = 'image policy webhook';

/** @throws {Error} In one line, for a configuration or a file that cannot be used */
export function openImagePolicyWebhook({
  configuration,
  vocabulary,
  log,
  metrics,
  signal,
}: OpenImagePolicyDeps): AdmissionPlugin {
  const document = configuration.get(NAME);
  if (document === undefined) throw new Error(`--enable-admission-plugins: ${NAME} needs a configuration`);
  const { imagePolicy } = readMembers(document, SHAPE);
  const service = openReviewService({
    file: resolve(dirname(document.file), imagePolicy.kubeConfigFile),
    name: SERVICE,
    kind: 'ImageReview',
    apiVersion: `${vocabulary.groups.imagePolicy}/v1alpha1`,
    vocabulary,
    log,
    metrics: { ...UNCOUNTED, breaker: metrics.breaker(SERVICE) },
    signal,
    guard: { pauseMs: imagePolicy.retryBackoff },
  });
  return imagePolicyWebhook({
    service,
    vocabulary,
    log,
    allowTtlMs: imagePolicy.allowTTL * 1000,
    denyTtlMs: imagePolicy.denyTTL * 1000,
    defaultAllow: imagePolicy.defaultAllow,
  });
}
