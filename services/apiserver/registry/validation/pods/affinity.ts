import { dns1123Label } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelKey, checkLabelSelector } from '../checks/labels.js';
import { checkRule, each, isUnset } from '../checks/members.js';
import type { NodeSelector, NodeSelectorTerm } from './node-selector.js';
import { checkNodeSelector, checkNodeSelectorTerm } from './node-selector.js';

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight?: number;
      readonly preference?: NodeSelectorTerm;
    }[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight?: number;
    readonly podAffinityTerm?: PodAffinityTerm;
  }[];
}

interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey?: string;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function checkWeight(at: At, weight = 0): void {
  if (weight < 1 || weight > 100) at.invalid('weight', weight, 'must be in the range 1-100');
}

function checkPodTerm(
  { labelSelector, namespaceSelector, namespaces = [], topologyKey }: PodAffinityTerm,
  at: At,
): void {
  checkLabelSelector(at, 'labelSelector', labelSelector);
  checkLabelSelector(at, 'namespaceSelector', namespaceSelector);
  for (const namespace of namespaces) checkRule(at, 'namespace', namespace, dns1123Label);
  if (isUnset(topologyKey)) at.required('topologyKey', 'can not be empty');
  checkLabelKey(at, 'topologyKey', topologyKey);
}

function checkPodAffinity(at: At, affinity: PodAffinity | undefined): void {
  if (affinity === undefined) return;
  each(at, REQUIRED, affinity[REQUIRED], checkPodTerm);
  each(at, PREFERRED, affinity[PREFERRED], ({ weight, podAffinityTerm = {} }, termAt) => {
    checkWeight(termAt, weight);
    checkPodTerm(podAffinityTerm, termAt.child('podAffinityTerm'));
  });
}

export function checkAffinity(at: At, { nodeAffinity, podAffinity, podAntiAffinity }: Affinity): void {
  if (nodeAffinity !== undefined) {
    const nodeAt = at.child('nodeAffinity');
    const required = nodeAffinity[REQUIRED];
    if (required !== undefined) checkNodeSelector(nodeAt.child(REQUIRED), required);
    each(nodeAt, PREFERRED, nodeAffinity[PREFERRED], ({ weight, preference = {} }, termAt) => {
      checkWeight(termAt, weight);
      checkNodeSelectorTerm(preference, termAt.child('preference'));
    });
  }
  checkPodAffinity(at.child('podAffinity'), podAffinity);
  checkPodAffinity(at.child('podAntiAffinity'), podAntiAffinity);
}
