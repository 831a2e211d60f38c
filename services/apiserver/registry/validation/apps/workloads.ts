import type { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkSelectsTemplate, requireSelector } from '../checks/labels.js';
import type { PodChecks, PodTemplate } from '../pods/spec.js';
import { checkKeptRunning } from '../pods/spec.js';

/* What several workloads ask of their specs and states. */

export interface Workload {
  /** Always written. */
  readonly selector?: LabelSelector | null;
  readonly template?: PodTemplate;
}

export interface Replicated extends Workload {
  readonly replicas?: number;
}

/** A deployment makes replica sets: both ask the same of what they select and make, in the same words. */
export function checkReplicated(
  at: At,
  { replicas = 1, selector, template = {} }: Replicated,
  checks: PodChecks,
): void {
  const right = requireSelector(at, selector, 'deployment');
  if (right === undefined) return;
  const templateAt = at.child('template');
  checkSelectsTemplate(templateAt, right, template.metadata?.labels);
  checks.template(templateAt, template);
  if (replicas > 1) checkSharedDisks(templateAt, template);
  checkKeptRunning(templateAt, template, 'ReplicaSet');
}

const DISK = 'gcePersistentDisk';

/** What of a template may run on several machines at once. */
export function checkSharedDisks(at: At, { spec }: PodTemplate): void {
  const volumesAt = at.child('spec').child('volumes');
  spec?.volumes?.forEach((volume, i) => {
    const disk = volume[DISK] as { readonly readOnly?: boolean } | undefined;
    if (disk === undefined || disk.readOnly === true) return;
    const why =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';
    volumesAt.index(i).child(DISK).invalid('readOnly', false, why);
  });
}

interface Collisions {
  readonly collisionCount?: number;
}

/** How often a name was already taken is only counted up. */
export function checkCollisionCount(at: At, next: Collisions, old: Collisions): void {
  const count = next.collisionCount ?? 0;
  if (count < (old.collisionCount ?? 0)) at.invalid('collisionCount', count, 'cannot be decremented');
}
