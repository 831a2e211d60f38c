import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Log } from '../../../../machinery/log/log.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { answerCache, keep } from '../../../webhook-reviews/answer-cache.js';
import { digestOf } from '../../../webhook-reviews/digest.js';
import { flagAt, objectAt, shortened, textAt, type Members } from '../../../webhook-reviews/members.js';
import { ReviewError } from '../../../webhook-reviews/review-error.js';
import type { ReviewService } from '../../../webhook-reviews/review-service.js';
import { SharedQuestions } from '../../../webhook-reviews/shared-questions.js';
import { containersOf, specOf } from '../../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';

export interface ImagePolicyDeps {
  readonly service: Pick<ReviewService, 'ask'>;
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
  /** How long it is remembered that images are allowed; 0: not at all. */
  readonly allowTtlMs: number;
  /** How long it is remembered that they are not; 0: not at all. */
  readonly denyTtlMs: number;
  /** Whether pods are let in while there is no answer. */
  readonly defaultAllow: boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
}

/** What the service says of one set of images. */
interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: ReadonlyMap<string, string>;
}

/** The spec of an ImageReview (spec 2, 2.6). */
interface ImageReviewSpec {
  readonly containers: readonly { readonly image: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly namespace: string;
}

const MAX_ENTRIES = 8_192;
const MAX_SIZE = 4 * 1024 * 1024;
const ENTRY_SIZE = 256;
const MAX_AUDIT_ANNOTATIONS = 32;

/** A service outside says which images may run (spec 2, 4.4). */
export function imagePolicyWebhook(d: ImagePolicyDeps): AdmissionPlugin {
  const { annotations, auditAnnotations, labelPrefixes } = d.vocabulary;
  const judge = judgeOf(d);
  const review = async (request: AdmissionRequest, pod: ApiObject): Promise<void> => {
    const spec = reviewOf(pod, request, labelPrefixes.imagePolicy);
    if (spec.containers.length === 0) return;
    request.leaveTurn(); // the service may look at the pod, or change it
    const verdict = await judge(spec, request).catch((err: unknown) => {
      request.signal.throwIfAborted();
      if (!d.defaultAllow) throw refused(request, err instanceof Error ? err.message : 'image policy webhook failed');
      d.log.warn('Images are let in without an answer of the image policy webhook', { err });
      request.annotate(`${auditAnnotations.imagePolicyPrefix}failed-open`, 'true');
      (pod.metadata.annotations ??= {})[annotations.imagePolicyFailedOpen] = 'true';
      return undefined;
    });
    for (const [key, value] of verdict?.auditAnnotations ?? []) {
      request.annotate(auditAnnotations.imagePolicyPrefix + key, value);
    }
    if (verdict?.allowed === false) throw refused(request, denial(verdict.reason));
  };
  /** What was asked in the mutating phase about an object that is still under way. */
  const asked = new WeakMap<ApiObject, string>();
  const keyOf = (request: AdmissionRequest, pod: ApiObject): string =>
    digestOf([reviewOf(pod, request, labelPrefixes.imagePolicy)]);
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: async (request) => {
      const { object } = request;
      if (object === undefined || !bringsImages(request)) return;
      await review(request, object);
      asked.set(object, keyOf(request, object));
    },
    validate: async (request) => {
      const { object } = request;
      if (object === undefined || !bringsImages(request)) return;
      // Others may have changed the images since.
      if (asked.get(object) !== keyOf(request, object)) await review(request, object);
    },
  };
}

const denial = (reason: string): string =>
  reason === ''
    ? 'one or more images rejected by webhook backend'
    : `image policy webhook backend denied one or more images: ${reason}`;

/** The rest of a pod's parts name no images. */
const bringsImages = ({ subresource }: AdmissionRequest): boolean => ['', 'ephemeralcontainers'].includes(subresource);

/** @param domain End of the domains of annotations that the service sees, slash included. */
function reviewOf(pod: ApiObject, { namespace, subresource }: AdmissionRequest, domain: string): ImageReviewSpec {
  const isEphemeral = subresource === 'ephemeralcontainers';
  const containers = containersOf(specOf(pod))
    .filter(({ list }) => (list === 'ephemeralContainers') === isEphemeral)
    .sort((a, b) => (a.list < b.list ? -1 : a.list > b.list ? 1 : 0)) // containers before those of the start
    .map(({ container: { image = '' } }) => ({ image }));
  const annotations = Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => key.includes(`.${domain}`));
  return {
    containers,
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  };
}

type Judge = (spec: ImageReviewSpec, asker: AdmissionRequest) => Promise<Verdict>;

/** Asks about each set of images once for some time. */
function judgeOf({ service, allowTtlMs, denyTtlMs, nowMs }: ImagePolicyDeps): Judge {
  const allowed = answerCache<Verdict>(MAX_ENTRIES, MAX_SIZE, nowMs);
  const denied = answerCache<Verdict>(MAX_ENTRIES, MAX_SIZE, nowMs);
  const questions = new SharedQuestions<Verdict>();
  return async (spec, asker) => {
    const key = digestOf([spec]);
    const known = allowed.get(key) ?? denied.get(key);
    if (known !== undefined) return known;
    const ask = async (left: AbortSignal): Promise<Verdict> => {
      const verdict = await service.ask(spec, verdictOf, left);
      const size = ENTRY_SIZE + verdict.reason.length;
      const [cache, ttlMs] = verdict.allowed ? [allowed, allowTtlMs] : [denied, denyTtlMs];
      keep(cache, key, verdict, { ttlMs, size });
      return verdict;
    };
    return questions.ask(key, ask, asker);
  };
}

/** @throws {ReviewError} For a status of another shape. */
function verdictOf(status: Members): Verdict {
  const annotations = objectAt(status, 'auditAnnotations', 'status.auditAnnotations') ?? {};
  const keys = Object.keys(annotations);
  if (keys.length > MAX_AUDIT_ANNOTATIONS) throw new ReviewError('status.auditAnnotations of the answer are too many');
  return {
    allowed: flagAt(status, 'allowed', 'status.allowed'),
    reason: shortened(textAt(status, 'reason', 'status.reason')),
    auditAnnotations: new Map(
      keys.map((key) => [key, shortened(textAt(annotations, key, `status.auditAnnotations[${key}]`))]),
    ),
  };
}
