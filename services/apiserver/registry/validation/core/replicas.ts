import type { ReplicationControllerSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkSelectsTemplate } from '../checks/labels.js';
import { checkKeptRunning } from '../pods/spec.js';

export function checkController(at: At, { selector = {}, template }: ReplicationControllerSpec): void {
  // Left out, it is what the template is labelled with.
  const hasLabels = Object.keys(template?.metadata?.labels ?? {}).length > 0;
  if (Object.keys(selector).length === 0 && !hasLabels) at.required('selector');
  if (template === undefined) return;
  const templateAt = at.child('template');
  checkSelectsTemplate(templateAt, { matchLabels: selector }, template.metadata?.labels);
  checkKeptRunning(templateAt, template, 'ReplicationController');
}

const PARTS = [
  'updatedReplicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'currentReplicas',
  'availableReplicas',
] as const;
type ReplicaStatus = Readonly<Partial<Record<(typeof PARTS)[number] | 'replicas', number>>>;

/** Of the replicas there are, some are ready, and of those some are available. @param ready What the message calls them. */
export function checkReplicaStatus(at: At, status: ReplicaStatus, ready = 'readyReplicas'): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const member of PARTS) {
    const count = status[member] ?? 0;
    if (count > replicas) at.invalid(member, count, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) {
    at.invalid('availableReplicas', availableReplicas, `cannot be greater than ${ready}`);
  }
}
