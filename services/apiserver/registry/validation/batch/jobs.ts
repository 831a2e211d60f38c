import { isDeepStrictEqual } from 'node:util';
import type * as batch from '../../../../machinery/types/generated/batch.v1.js';
import type { PodTemplateSpec } from '../../../../machinery/types/generated/core.v1.js';
import { At, shownMap, checkImmutable, each } from '../checks/at.js';
import { checkDomainPath } from '../checks/domain-path.js';
import type { StringMap } from '../checks/labels.js';
import { selects } from '../checks/labels.js';
import type { KindValidation, TypeRule, TypeRules } from '../types.js';
import { checkCronJob } from './cron-jobs.js';

type JobSpec = batch.JobSpec;

const INDEXED = 'Indexed';
/** The indexes that are done are listed in the status, which has to fit somewhere. */
const MAX_INDEXED_PARALLELISM = 100_000;

function checkCompletionMode(at: At, { completionMode: mode, completions, parallelism }: JobSpec): void {
  if (mode !== INDEXED) return;
  if (completions === undefined) at.required('completions', `when completion mode is ${INDEXED}`);
  if (parallelism !== undefined && parallelism > MAX_INDEXED_PARALLELISM) {
    const why = `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is ${INDEXED}`;
    at.invalid('parallelism', parallelism, why);
  }
}

const RESTART_POLICIES = ['OnFailure', 'Never'];

/** Pods of jobs may not restart for ever. */
function checkEnding(at: At, restartPolicy: string): void {
  if (restartPolicy === 'Always' || restartPolicy === '') {
    at.required('restartPolicy', 'valid values: "OnFailure", "Never"');
  } else if (!RESTART_POLICIES.includes(restartPolicy)) {
    at.notSupported('restartPolicy', restartPolicy, RESTART_POLICIES);
  }
}

/** Rules for a job and for the template of one, apart from the selector. */
export const checkJobSpec: TypeRule<JobSpec> = (at, spec) => {
  if (spec.managedBy === '') at.required('managedBy');
  else if (spec.managedBy !== undefined) checkDomainPath(at, 'managedBy', spec.managedBy);
  checkCompletionMode(at, spec);
  checkEnding(at.child('template').child('spec'), spec.template?.spec?.restartPolicy ?? '');
};

function checkSelector(at: At, { selector, template }: JobSpec): void {
  const { labels = {} } = template?.metadata ?? {};
  if (selector === undefined) at.required('selector');
  else if (!at.isRight('selector') || selects(selector, labels)) return;
  const why = '`selector` does not match template `labels`';
  at.invalidShown('template.metadata.labels', shownMap(labels), why);
}

/** Keys of the labels that the server gives the pods of a job, unless its owner sees to what is selected. */
export const JOB_LABELS = { uid: 'controller-uid', name: 'job-name' } as const;

function checkLabel(at: At, labels: StringMap, key: string, expected: string): void {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const labelAt = at.child('labels').key(key);
  if (value === undefined) labelAt.required('', `must be '${expected}'`);
  else if (value !== expected) labelAt.invalidShown('', shownMap(labels), `must be '${expected}'`);
}

/** The server selects by what no other job has; clients may have put something else in its place. */
function checkGenerated(at: At, { metadata = {}, spec = {} }: batch.Job): void {
  const { manualSelector, selector, template } = spec;
  if (manualSelector === true || selector === undefined) return;
  const { uid = '', name = '' } = metadata;
  const labels = template?.metadata?.labels ?? {};
  const templateAt = at.child('template').child('metadata');
  checkLabel(templateAt, labels, JOB_LABELS.uid, uid);
  checkLabel(templateAt, labels, JOB_LABELS.name, name);
  if (!selects(selector, { [JOB_LABELS.uid]: uid, [JOB_LABELS.name]: name })) {
    at.invalid('selector', selector, '`selector` not auto-generated');
  }
}

/** Where pods of a job that waits and has never started may run is still open. */
const isMovable = ({ spec, status }: batch.Job): boolean => spec?.suspend === true && status?.startTime === undefined;

/** The template without what may change: compared instead of it. */
function unmovable({ metadata, spec }: PodTemplateSpec): object {
  const { labels: _labels, annotations: _annotations, ...restOfMetadata } = metadata ?? {};
  const { nodeSelector: _nodeSelector, tolerations: _tolerations, affinity, ...rest } = spec ?? {};
  const { nodeAffinity: _nodeAffinity, ...others } = affinity ?? {};
  return { metadata: restOfMetadata, spec: { ...rest, affinity: others } };
}

/** Each item, in whichever list it stands, is there once. */
const checkUncounted: TypeRule<batch.UncountedTerminatedPods> = (at, uncounted) => {
  const seen = new Set<string>();
  for (const member of ['succeeded', 'failed'] as const) {
    each(at, member, uncounted[member], (uid, uidAt) => {
      if (uid === '') uidAt.invalid('', uid, 'must not be empty');
      else if (seen.has(uid)) uidAt.duplicate('', uid);
      seen.add(uid);
    });
  }
};

export const batchRules: TypeRules<batch.Types> = {
  CronJobSpec: checkCronJob,
  Job: (root, job) => {
    const at = root.child('spec');
    checkGenerated(at, job);
    checkSelector(at, job.spec ?? {});
  },
  JobSpec: checkJobSpec,
  UncountedTerminatedPods: checkUncounted,
};

export const jobs: KindValidation<batch.Job> = {
  update: (next, old, problems) => {
    const { spec: { template = {} } = {} } = next;
    const { spec: { template: oldTemplate = {} } = {} } = old;
    if (isMovable(old) && isDeepStrictEqual(unmovable(template), unmovable(oldTemplate))) return;
    checkImmutable(At.root(problems, 'spec'), 'template', template, oldTemplate);
  },
};
