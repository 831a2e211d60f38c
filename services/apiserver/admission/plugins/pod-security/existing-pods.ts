import type { AdmissionObjects } from '../../objects.js';
import { plural, type AnnotationWords, type CheckedPod } from './words.js';
import { shownStandard, violations, type Standard } from './standards.js';

const PODS = { group: '', resource: 'pods' };
/** Pods of a namespace that are looked at: they are parsed for it. */
const MOST_PODS = 3_000;

/** Warnings about pods that are there and would not be made again; none when all of them would. */
export function existingViolations(
  s: { readonly objects: Pick<AdmissionObjects, 'list'>; readonly words: AnnotationWords },
  namespace: string,
  standard: Standard,
  checked: (pod: { readonly [member: string]: unknown }) => CheckedPod,
): string[] {
  const pods = s.objects.list(PODS, namespace);
  const byReason = new Map<string, string[]>();
  for (const pod of pods.slice(0, MOST_PODS)) {
    const found = violations(standard, checked(pod.parse() as { readonly [member: string]: unknown }), s.words);
    if (found.length === 0) continue;
    const reasons = found.map(({ reason }) => reason).join(', ');
    byReason.set(reasons, [...(byReason.get(reasons) ?? []), pod.name]);
  }
  const incomplete =
    pods.length > MOST_PODS
      ? [`new PodSecurity enforce level only checked against the first ${MOST_PODS} of ${pods.length} existing pods`]
      : [];
  if (byReason.size === 0) return incomplete;
  const lines = [...byReason].map(([reasons, [first = '', ...others]]) => `${named(first, others.length)}: ${reasons}`);
  const label = `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level`;
  return [...incomplete, `${label} "${shownStandard(standard)}"`, ...lines.sort()];
}

const named = (first: string, others: number): string =>
  others === 0 ? first : `${first} (and ${others} other ${plural('pod', 'pods', others)})`;
