import type { PodTemplateSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { LabelSelector } from '../../../../machinery/types/generated/meta.v1.js';
import { At } from '../checks/at.js';
import { checkSelectsTemplate, isEmptySelector } from '../checks/labels.js';
import { checkKeptRunning } from '../pods/spec.js';
import type { AroundRule, Problems } from '../types.js';

/* What several workloads ask of their specs and states. */

/** What an absent selector selects. */
const NOTHING: LabelSelector = { matchExpressions: [{ operator: 'In' }] };

/**
 * A workload's selector selects something, and what the workload makes.
 *
 * @param kind For the message, e.g. `deployment`.
 * @param why For the message about a selector that is none; absent: there is no such message.
 */
export function checkSelector(
  at: At,
  { selector, template = {} }: { readonly selector?: LabelSelector | null; readonly template?: PodTemplateSpec },
  kind: string,
  why?: string,
): void {
  const { labels } = template.metadata ?? {};
  if (selector === null || selector === undefined) {
    checkSelectsTemplate(at.child('template'), NOTHING, labels);
    return;
  }
  const isRight = at.isRight('selector');
  if (isEmptySelector(selector)) at.invalid('selector', selector, `empty selector is invalid for ${kind}`);
  if (isRight) checkSelectsTemplate(at.child('template'), selector, labels);
  else if (why !== undefined) at.invalid('selector', selector, why);
}

interface Replicated {
  readonly replicas?: number;
  readonly selector?: LabelSelector | null;
  readonly template?: PodTemplateSpec;
}

/** A deployment makes replica sets: both ask the same of what they select and make, in the same words. */
export const replicatedRule: Required<AroundRule<Replicated>> = {
  first: (at, spec) => checkSelector(at, spec, 'deployment', 'invalid label selector'),
  last: (at, { replicas = 1, template = {} }) => {
    if (replicas > 1) checkSharedDisks(at.child('template'), template);
    checkKeptRunning(at.child('template'), template, 'ReplicaSet');
  },
};

/** What of a template may run on several machines at once. */
export function checkSharedDisks(at: At, { spec }: PodTemplateSpec): void {
  spec?.volumes?.forEach(({ gcePersistentDisk: disk }, i) => {
    if (disk === undefined || disk.readOnly === true) return;
    const why =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';
    at.child('spec').child('volumes').index(i).child('gcePersistentDisk').invalid('readOnly', false, why);
  });
}

interface WithCollisions {
  readonly status?: { readonly collisionCount?: number };
}

/** How often a name was already taken is only counted up. */
export function checkCollisionCount(
  { status }: WithCollisions,
  { status: old }: WithCollisions,
  problems: Problems,
): void {
  const count = status?.collisionCount ?? 0;
  if (count >= (old?.collisionCount ?? 0)) return;
  At.root(problems, 'status').invalid('collisionCount', count, 'cannot be decremented');
}
