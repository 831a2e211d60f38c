import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkSelectsTemplate } from '../checks/labels.js';
import { checkNotNegative } from '../checks/members.js';
import type { PodChecks, PodTemplate } from '../pods/spec.js';
import { checkKeptRunning } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';

export const podTemplates = (checks: PodChecks): KindValidation => ({
  object: (object, problems) => {
    checks.template(At.root(problems, 'template'), object['template'] ?? {});
  },
});

interface ControllerSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: StringMap;
  readonly template?: PodTemplate;
}

const checkController =
  (checks: PodChecks) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const { replicas, minReadySeconds, selector = {}, template } = (object['spec'] ?? {}) as ControllerSpec;
    checkNotNegative(at, 'minReadySeconds', minReadySeconds);
    // Left out, it is what the template is labelled with.
    const hasLabels = Object.keys(template?.metadata?.labels ?? {}).length > 0;
    if (Object.keys(selector).length === 0 && !hasLabels) at.required('selector');
    checkNotNegative(at, 'replicas', replicas);
    if (template === undefined) {
      at.required('template');
      return;
    }
    const templateAt = at.child('template');
    checkSelectsTemplate(templateAt, { matchLabels: selector }, template.metadata?.labels);
    checks.template(templateAt, template);
    checkKeptRunning(templateAt, template, 'ReplicationController');
  };

export interface ReplicaStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const;
const PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;

/** Of the replicas there are, some are ready, and of those some are available. */
export function checkReplicaStatus(at: At, status: ReplicaStatus): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const member of COUNTS) checkNotNegative(at, member, status[member]);
  for (const member of PARTS) {
    const count = status[member] ?? 0;
    if (count > replicas) at.invalid(member, count, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) {
    at.invalid('availableReplicas', availableReplicas, 'cannot be greater than readyReplicas');
  }
}

export const replicationControllers = (checks: PodChecks): KindValidation => ({
  object: checkController(checks),
  parts: {
    status: (next, _old, problems) => {
      checkReplicaStatus(At.root(problems, 'status'), next['status'] ?? {});
    },
  },
});
