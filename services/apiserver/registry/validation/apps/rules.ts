import { isDeepStrictEqual } from 'node:util';
import type * as apps from '../../../../machinery/types/generated/apps.v1.js';
import type { PodTemplateSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { LabelSelector } from '../../../../machinery/types/generated/meta.v1.js';
import { At } from '../checks/at.js';
import { checkAnnotations, checkLabels, checkSelectsTemplate, isEmptySelector } from '../checks/labels.js';
import { checkNotMoreThanAll, isZeroCount } from '../checks/quantities.js';
import { checkReplicaStatus } from '../core/replicas.js';
import { checkKeptRunning } from '../pods/spec.js';
import type { KindValidation, TypeRule, TypeRules, AroundRule, Problems } from '../types.js';

/** The selector that stands for an absent one: it matches nothing. */
const NOTHING: LabelSelector = { matchExpressions: [{ operator: 'In' }] };

/**
 * A workload's selector selects something, and what the workload makes.
 *
 * @param kind For the message, e.g. `deployment`.
 * @param why For the message about a selector that is none; absent: there is no such message.
 */
function checkSelector(
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
const replicatedRule: Required<AroundRule<Replicated>> = {
  first: (at, spec) => checkSelector(at, spec, 'deployment', 'invalid label selector'),
  last: (at, { replicas = 1, template = {} }) => {
    if (replicas > 1) checkSharedDisks(at.child('template'), template);
    checkKeptRunning(at.child('template'), template, 'ReplicaSet');
  },
};

/** Disks of a template that run on several machines have to be read-only. */
function checkSharedDisks(at: At, { spec }: PodTemplateSpec): void {
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
function checkCollisionCount({ status }: WithCollisions, { status: old }: WithCollisions, problems: Problems): void {
  const count = status?.collisionCount ?? 0;
  if (count >= (old?.collisionCount ?? 0)) return;
  At.root(problems, 'status').invalid('collisionCount', count, 'cannot be decremented');
}

const checkRevision: TypeRule<apps.ControllerRevision> = (at, { data }) => {
  if (data === undefined || data === null) at.required('data', 'data is mandatory');
};

const ROLLING = 'RollingUpdate';

const checkDaemonSet: TypeRule<apps.DaemonSetSpec> = (at, spec) => {
  const { template = {}, updateStrategy: strategy = {} } = spec;
  const templateAt = at.child('template');
  checkSelector(at, spec, 'daemonset');
  checkSharedDisks(templateAt, template);
  checkKeptRunning(templateAt, template, 'DaemonSet');
  const { type = ROLLING, rollingUpdate = {} } = strategy;
  if (type === ROLLING) checkSurge(at.child('updateStrategy').child('rollingUpdate'), rollingUpdate);
  else if (type !== 'OnDelete') at.notSupported('updateStrategy', strategy, [ROLLING, 'OnDelete']);
};

/** A machine either loses its pod first or gets the new one first. */
const checkSurge: TypeRule<apps.RollingUpdateDaemonSet> = (at, { maxUnavailable = 1, maxSurge = 0 }) => {
  if (isZeroCount(maxUnavailable)) {
    if (isZeroCount(maxSurge)) at.required('maxUnavailable', 'cannot be 0 when maxSurge is 0');
  } else if (!isZeroCount(maxSurge)) {
    at.invalid('maxSurge', maxSurge, 'may not be set when maxUnavailable is non-zero');
  }
};

const checkDeployment: TypeRule<apps.DeploymentSpec> = (at, spec) => {
  const { minReadySeconds = 0, progressDeadlineSeconds: deadline } = spec;
  replicatedRule.last(at, spec);
  if (deadline !== undefined && deadline <= minReadySeconds) {
    at.invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
  }
};

const checkStrategy: TypeRule<apps.DeploymentStrategy> = (at, { type = ROLLING, rollingUpdate }) => {
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return;
    at.forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== ROLLING) {
    at.notSupported('type', type, ['Recreate', ROLLING]);
  }
};

const checkRollingUpdate: TypeRule<apps.RollingUpdateDeployment> = (at, { maxUnavailable, maxSurge }) => {
  if (isZeroCount(maxUnavailable) && isZeroCount(maxSurge)) {
    at.invalid('maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  checkNotMoreThanAll(at, 'maxUnavailable', maxUnavailable);
};

const POLICIES = ['OrderedReady', 'Parallel'];

function checkSetStrategy(at: At, strategy: apps.StatefulSetUpdateStrategy): void {
  const { type = ROLLING, rollingUpdate } = strategy;
  if (type !== ROLLING && type !== 'OnDelete') {
    at.invalid('updateStrategy', strategy, `must be '${ROLLING}' or 'OnDelete'`);
  } else if (type !== ROLLING && rollingUpdate !== undefined) {
    const why = `only allowed for updateStrategy '${ROLLING}'`;
    at.child('updateStrategy').invalid('rollingUpdate', rollingUpdate, why);
  }
}

/**
 * The template's spec is not looked at: it may mount the claims that the set makes, and clients have come to rely on
 * being told by the pods.
 */
const checkStatefulSet: TypeRule<apps.StatefulSetSpec> = (at, spec) => {
  const { podManagementPolicy: policy, updateStrategy = {}, template = {} } = spec;
  if (policy !== undefined && !POLICIES.includes(policy)) {
    at.invalid('podManagementPolicy', policy, `must be '${POLICIES.join("' or '")}'`);
  }
  checkSetStrategy(at, updateStrategy);
  const templateAt = at.child('template');
  const isRight = at.isRight('selector');
  checkSelector(at, spec, 'statefulset', '');
  if (isRight) {
    checkLabels(templateAt, 'labels', template.metadata?.labels);
    checkAnnotations(templateAt, 'annotations', template.metadata?.annotations);
  }
  checkKeptRunning(templateAt, template, 'StatefulSet');
};

export const appsRules: TypeRules<apps.Types> = {
  ControllerRevision: checkRevision,
  DaemonSetSpec: checkDaemonSet,
  DeploymentSpec: { first: replicatedRule.first, last: checkDeployment },
  DeploymentStatus: (at, status) => checkReplicaStatus(at, status),
  DeploymentStrategy: checkStrategy,
  ReplicaSetSpec: replicatedRule,
  ReplicaSetStatus: (at, status) => checkReplicaStatus(at, status),
  RollingUpdateDeployment: checkRollingUpdate,
  RollingUpdateStatefulSetStrategy: (at, { maxUnavailable }) => {
    if (isZeroCount(maxUnavailable)) at.invalid('maxUnavailable', maxUnavailable, 'cannot be 0');
    checkNotMoreThanAll(at, 'maxUnavailable', maxUnavailable);
  },
  StatefulSetSpec: checkStatefulSet,
  StatefulSetStatus: (at, status) => checkReplicaStatus(at, status, 'status.readyReplicas'),
};

/** The immutable part of the spec: pods and claims of the set share it. */
function fixedPart(spec: apps.StatefulSetSpec): object {
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

/** Of daemon sets and deployments. */
export const counted: KindValidation<apps.DaemonSet | apps.Deployment> = { parts: { status: checkCollisionCount } };

export const statefulSets: KindValidation<apps.StatefulSet> = {
  update: ({ spec = {} }, { spec: old = {} }, problems) => {
    if (isDeepStrictEqual(fixedPart(spec), fixedPart(old))) return;
    const why =
      "updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    At.root(problems).forbidden('spec', why);
  },
  parts: { status: checkCollisionCount },
};
