import { isDeepStrictEqual } from 'node:util';
import { dns1123Subdomain, qualifiedName } from '../../../../machinery/meta/metadata.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type { PodSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, betweenDetail, checkRule, each } from '../checks/at.js';
import { ipAddress, ipVersion } from '../checks/text.js';
import { checkImage } from '../pods/containers.js';
import { seccompCheck } from '../pods/seccomp.js';
import { checkTolerations, identityOf } from '../pods/spec.js';
import type { KindValidation, Problems, TypeRule } from '../types.js';

type Pod = ApiObject & core.Pod;
const specOf = ({ spec = {} }: core.Pod): PodSpec => spec;

/** A token is made for an account: which one must be said. Templates may leave it open. */
function checkTokens(at: At, spec: PodSpec): void {
  if (spec.serviceAccountName !== undefined) return;
  each(at, 'volumes', spec.volumes, ({ projected }, volumeAt) => {
    if (projected === undefined) return;
    each(volumeAt.child('projected'), 'sources', projected.sources, ({ serviceAccountToken }, sourceAt) => {
      if (serviceAccountToken === undefined) return;
      sourceAt.forbidden('serviceAccountToken', 'must not be specified when serviceAccountName is not set');
    });
  });
}

/** The claims that are made for volumes are named after the pod and the volume, and are those volumes' own. */
function checkEphemeralVolumes(at: At, volumes: PodSpec['volumes'], podName: string): void {
  const made = new Set(
    volumes?.flatMap(({ name = '', ephemeral }) => (ephemeral === undefined ? [] : [`${podName}-${name}`])),
  );
  if (podName === '' || made.size === 0) return;
  each(at, 'volumes', volumes, ({ name = '', ephemeral, persistentVolumeClaim: claim }, volumeAt) => {
    if (ephemeral !== undefined && name !== '') {
      for (const problem of dns1123Subdomain(`${podName}-${name}`)) {
        volumeAt.invalid('name', name, `PVC name "${podName}-${name}": ${problem}`);
      }
    }
    if (claim?.claimName === undefined || !made.has(claim.claimName)) return;
    const why = 'must not reference a PVC that gets created for an ephemeral volume';
    volumeAt.invalid('persistentVolumeClaim.claimName', claim.claimName, why);
  });
}

const LISTS = ['containers', 'initContainers'] as const;

/** Rules for pods beside those of all specs of pods. */
export const checkPod: TypeRule<core.Pod> = (root, pod) => {
  const at = root.child('spec');
  const spec = specOf(pod);
  checkEphemeralVolumes(at, spec.volumes, pod.metadata?.name ?? '');
  checkTokens(at, spec);
  for (const list of LISTS) each(at, list, spec[list], (container, containerAt) => checkImage(containerAt, container));
};

function checkNoEphemeral(pod: Pod, problems: Problems): void {
  if ((specOf(pod).ephemeralContainers ?? []).length > 0) {
    At.root(problems, 'spec').forbidden('ephemeralContainers', 'cannot be set on create');
  }
}

const UPDATABLE =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const LONGEST_DEADLINE = 2 ** 31 - 1;

/** @returns Whether there is no need to look further. */
function checkDeadline(at: At, next: number | undefined, old: number | undefined): boolean {
  if (next === undefined) {
    if (old !== undefined) {
      at.invalid('activeDeadlineSeconds', undefined, 'must not update from a positive integer to nil value');
    }
    return false;
  }
  if (next < 0 || next > LONGEST_DEADLINE) {
    at.invalid('activeDeadlineSeconds', next, betweenDetail(0, LONGEST_DEADLINE));
    return true;
  }
  if (old === undefined || next <= old) return false;
  at.invalid('activeDeadlineSeconds', next, 'must be less than or equal to previous value');
  return true;
}

/** Problems of a toleration are reported here as well as for the spec: other servers report them twice. */
function checkTolerationsKept(at: At, next: PodSpec, old: PodSpec): void {
  const kept = new Set((next.tolerations ?? []).map(identityOf));
  if ((old.tolerations ?? []).every((toleration) => kept.has(identityOf(toleration)))) {
    checkTolerations(at, 'tolerations', next.tolerations);
    return;
  }
  at.forbidden('tolerations', 'existing toleration can not be modified except its tolerationSeconds');
}

const withImagesOf = (list: PodSpec['containers'], other: PodSpec['containers']): readonly object[] | undefined =>
  list?.map((container, i) => ({ ...container, image: other?.[i]?.image }));

/** `next` with what may change as it was. */
function unchanging(next: PodSpec, old: PodSpec): object {
  const { terminationGracePeriodSeconds: grace } = next;
  const { terminationGracePeriodSeconds: oldGrace } = old;
  const mayChangeGrace = grace === 1 && oldGrace !== undefined && oldGrace < 0;
  return withoutAbsent({
    ...next,
    containers: withImagesOf(next.containers, old.containers),
    initContainers: withImagesOf(next.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    terminationGracePeriodSeconds: mayChangeGrace ? oldGrace : grace,
  });
}

const withoutAbsent = (object: object): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

function checkUpdate(next: Pod, old: Pod, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(next);
  const oldSpec = specOf(old);
  for (const list of LISTS) {
    if ((spec[list] ?? []).length === (oldSpec[list] ?? []).length) continue;
    at.forbidden(list, 'pod updates may not add or remove containers');
    return;
  }
  if (checkDeadline(at, spec.activeDeadlineSeconds, oldSpec.activeDeadlineSeconds)) return;
  checkTolerationsKept(at, spec, oldSpec);
  if (isDeepStrictEqual(spec, oldSpec)) return;
  if (!isDeepStrictEqual(unchanging(spec, oldSpec), unchanging(oldSpec, oldSpec))) at.forbidden('', UPDATABLE);
}

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;
const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

/** A terminated container that is not restarted stays terminated. */
function checkTransitions(at: At, next: core.PodStatus, old: core.PodStatus, policy: string): void {
  for (const list of STATUS_LISTS) {
    const restarts = list === 'ephemeralContainerStatuses' ? 'Never' : policy;
    if (restarts === 'Always') continue;
    const running = new Set((next[list] ?? []).filter((status) => !hasEnded(status)).map(({ name }) => name));
    each(at, list, old[list], (status, statusAt) => {
      const failed = (status.state?.terminated?.exitCode ?? 0) !== 0;
      if (!hasEnded(status) || (failed && restarts === 'OnFailure') || !running.has(status.name)) return;
      statusAt.forbidden('state', 'may not be transitioned to non-terminated state');
    });
  }
}

const hasEnded = ({ state }: core.ContainerStatus): boolean => state?.terminated !== undefined;

function checkAddresses(at: At, podIPs: readonly core.PodIP[] = []): void {
  const listAt = at.child('podIPs');
  const seen = new Set<string>();
  podIPs.forEach(({ ip = '' }, i) => {
    checkRule(listAt.index(i), '', ip, ipAddress);
  });
  if (podIPs.length < 2) return;
  const versions = podIPs.map(({ ip = '' }) => ipVersion(ip));
  if (podIPs.length > 2 || versions[0] === versions[1]) {
    at.invalid('podIPs', podIPs, 'may specify no more than one IP for each IP family');
  }
  podIPs.forEach((podIP, i) => {
    if (seen.has(podIP.ip ?? '')) listAt.index(i).duplicate('', podIP);
    seen.add(podIP.ip ?? '');
  });
}

function checkStatus(next: Pod, old: Pod, problems: Problems): void {
  const at = At.root(problems, 'status');
  const { status = {} } = next;
  const { status: oldStatus = {} } = old;
  each(At.root(problems, 'metadata'), 'conditions', status.conditions, ({ type = '' }, conditionAt) => {
    if (!OWN_CONDITIONS.includes(type)) checkRule(conditionAt, 'Type', type, qualifiedName);
  });
  const { nominatedNodeName = '' } = status;
  if (nominatedNodeName !== '' && nominatedNodeName !== oldStatus.nominatedNodeName) {
    checkRule(at, 'nominatedNodeName', nominatedNodeName, dns1123Subdomain);
  }
  checkTransitions(at, status, oldStatus, specOf(old).restartPolicy ?? 'Always');
  checkAddresses(at, status.podIPs);
}

/** Others may be added to those that are there; none goes, and none changes. */
function checkEphemeral(next: Pod, old: Pod, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const list = new Map((specOf(next).ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of specOf(old).ephemeralContainers ?? []) {
    const name = container.name ?? '';
    const kept = list.get(container.name);
    if (isDeepStrictEqual(kept, container)) continue;
    const what = kept === undefined ? 'removed' : 'changed';
    at.forbidden('ephemeralContainers', `existing ephemeral containers "${name}" may not be ${what}\n`);
  }
}

export const pods = ({ profiles }: Vocabulary): KindValidation<core.Pod> => {
  const checkSeccomp = seccompCheck(profiles);
  return {
    create: (pod, problems) => {
      checkNoEphemeral(pod, problems);
      checkSeccomp(pod, problems);
    },
    update: checkUpdate,
    parts: { status: checkStatus, ephemeralcontainers: checkEphemeral },
  };
};
