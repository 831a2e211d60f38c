import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { Count } from '../checks/counts.js';
import { checkCount, checkNotMoreThanAll, isZeroCount } from '../checks/counts.js';
import { checkAnnotations, checkLabels, checkSelectsTemplate, requireSelector } from '../checks/labels.js';
import { checkEnum, checkNotNegative } from '../checks/members.js';
import { checkKeptRunning } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';
import type { Replicated } from './workloads.js';
import { checkCollisionCount } from './workloads.js';

interface UpdateStrategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: Count };
}

interface StatefulSetSpec extends Replicated {
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: UpdateStrategy;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
}

const specOf = (object: ApiObject): StatefulSetSpec => object['spec'] ?? {};

const ROLLING = 'RollingUpdate';
const ON_DELETE = 'OnDelete';

function checkRollingUpdate(at: At, { partition, maxUnavailable }: NonNullable<UpdateStrategy['rollingUpdate']>): void {
  checkNotNegative(at, 'partition', partition);
  checkCount(at, 'maxUnavailable', maxUnavailable);
  if (isZeroCount(maxUnavailable)) at.invalid('maxUnavailable', maxUnavailable, 'cannot be 0');
  checkNotMoreThanAll(at, 'maxUnavailable', maxUnavailable);
}

function checkStrategy(at: At, strategy: UpdateStrategy): void {
  const { type = ROLLING, rollingUpdate } = strategy;
  if (type !== ROLLING && type !== ON_DELETE) {
    at.invalid('updateStrategy', strategy, `must be '${ROLLING}' or '${ON_DELETE}'`);
  } else if (rollingUpdate !== undefined) {
    const strategyAt = at.child('updateStrategy');
    if (type === ROLLING) checkRollingUpdate(strategyAt.child('rollingUpdate'), rollingUpdate);
    else strategyAt.invalid('rollingUpdate', rollingUpdate, `only allowed for updateStrategy '${ROLLING}'`);
  }
}

const POLICIES = ['OrderedReady', 'Parallel'];
const RETENTION = ['Retain', 'Delete'];

function checkPolicies(at: At, spec: StatefulSetSpec): void {
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: retention } = spec;
  if (policy !== undefined && !POLICIES.includes(policy)) {
    at.invalid('podManagementPolicy', policy, `must be '${POLICIES.join("' or '")}'`);
  }
  checkStrategy(at, spec.updateStrategy ?? {});
  const retentionAt = at.child('persistentVolumeClaimRetentionPolicy');
  checkEnum(retentionAt, 'whenDeleted', retention?.whenDeleted, RETENTION);
  checkEnum(retentionAt, 'whenScaled', retention?.whenScaled, RETENTION);
}

/**
 * The template's spec is not looked at: it may mount the claims that the set makes, and clients have come to rely on being
 * told by the pods.
 */
function checkTemplate(at: At, spec: StatefulSetSpec): void {
  const { selector, template = {} } = spec;
  const { labels, annotations } = template.metadata ?? {};
  const templateAt = at.child('template');
  const right = requireSelector(at, selector, 'statefulset', '');
  if (right !== undefined) {
    checkSelectsTemplate(templateAt, right, labels);
    checkLabels(templateAt, 'labels', labels);
    checkAnnotations(templateAt, 'annotations', annotations);
  }
  checkKeptRunning(templateAt, template, 'StatefulSet');
}

function checkStatefulSet(object: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(object);
  checkPolicies(at, spec);
  checkNotNegative(at, 'replicas', spec.replicas);
  checkNotNegative(at, 'minReadySeconds', spec.minReadySeconds);
  checkTemplate(at, spec);
}

/** What the set's pods and claims have in common stays as it was made. */
function fixedPart(spec: StatefulSetSpec): object {
  const {
    replicas: _replicas,
    template: _template,
    updateStrategy: _updateStrategy,
    minReadySeconds: _minReadySeconds,
    persistentVolumeClaimRetentionPolicy: _retentionPolicy,
    ...rest
  } = spec;
  return rest;
}

function checkUpdate(next: ApiObject, old: ApiObject, problems: Problems): void {
  if (isDeepStrictEqual(fixedPart(specOf(next)), fixedPart(specOf(old)))) return;
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  At.root(problems).forbidden('spec', why);
}

const COUNTS = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
] as const;
const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
type Status = Readonly<Partial<Record<(typeof COUNTS)[number], number>>>;

function checkStatus(next: ApiObject, old: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'status');
  const status: Status = next['status'] ?? {};
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const member of COUNTS) checkNotNegative(at, member, status[member]);
  for (const member of PARTS) {
    const count = status[member] ?? 0;
    if (count > replicas) at.invalid(member, count, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) {
    at.invalid('availableReplicas', availableReplicas, 'cannot be greater than status.readyReplicas');
  }
  checkCollisionCount(at, status, old['status'] ?? {});
}

export const statefulSets: KindValidation = {
  object: checkStatefulSet,
  update: checkUpdate,
  parts: { status: checkStatus },
};
