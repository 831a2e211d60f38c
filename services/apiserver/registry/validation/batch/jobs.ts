import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At, shownMap } from '../checks/at.js';
import type { LabelSelector, StringMap } from '../checks/labels.js';
import { checkedSelector, selects } from '../checks/labels.js';
import { checkImmutable, checkNotNegative, each } from '../checks/members.js';
import type { PodChecks, PodTemplate } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: string;
  readonly suspend?: boolean;
  readonly manualSelector?: boolean;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
}

const specOf = (job: ApiObject): JobSpec => job['spec'] ?? {};

const NUMBERS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
] as const;
const INDEXED = 'Indexed';
const MODES = ['NonIndexed', INDEXED];
/** The indexes that are done are listed in the status, which has to fit somewhere. */
const MAX_INDEXED_PARALLELISM = 100_000;

function checkCompletionMode(at: At, { completionMode: mode, completions, parallelism }: JobSpec): void {
  if (mode === undefined) return;
  if (!MODES.includes(mode)) at.notSupported('completionMode', mode, MODES);
  if (mode !== INDEXED) return;
  if (completions === undefined) at.required('completions', `when completion mode is ${INDEXED}`);
  if (parallelism !== undefined && parallelism > MAX_INDEXED_PARALLELISM) {
    const why = `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is ${INDEXED}`;
    at.invalid('parallelism', parallelism, why);
  }
}

const RESTART_POLICIES = ['OnFailure', 'Never'];

/** What ends must be allowed to. */
function checkEnding(at: At, restartPolicy: string): void {
  if (restartPolicy === 'Always' || restartPolicy === '') {
    at.required('restartPolicy', 'valid values: "OnFailure", "Never"');
  } else if (!RESTART_POLICIES.includes(restartPolicy)) {
    at.notSupported('restartPolicy', restartPolicy, RESTART_POLICIES);
  }
}

/** What a job and the template of one must be; the selector is another matter. */
export function checkJobSpec(at: At, spec: JobSpec, checks: PodChecks): void {
  const { template = {} } = spec;
  for (const member of NUMBERS) checkNotNegative(at, member, spec[member]);
  checkCompletionMode(at, spec);
  const templateAt = at.child('template');
  checks.template(templateAt, template);
  checkEnding(templateAt.child('spec'), template.spec?.restartPolicy ?? '');
}

function checkSelector(at: At, { selector, template }: JobSpec): void {
  if (selector === undefined) at.required('selector');
  const right = checkedSelector(at, selector);
  const { labels = {} } = template?.metadata ?? {};
  if (right === undefined || selects(right, labels)) return;
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
function checkGenerated(at: At, job: ApiObject): void {
  const { manualSelector, selector, template } = specOf(job);
  if (manualSelector === true || selector === undefined) return;
  const { uid = '', name = '' } = job.metadata;
  const labels = template?.metadata?.labels ?? {};
  const templateAt = at.child('template').child('metadata');
  checkLabel(templateAt, labels, JOB_LABELS.uid, uid);
  checkLabel(templateAt, labels, JOB_LABELS.name, name);
  if (!selects(selector, { [JOB_LABELS.uid]: uid, [JOB_LABELS.name]: name })) {
    at.invalid('selector', selector, '`selector` not auto-generated');
  }
}

/** Where pods of a job that waits and has never started may run is still open. */
const isMovable = (old: ApiObject): boolean =>
  specOf(old).suspend === true && (old['status'] as { startTime?: unknown } | undefined)?.startTime === undefined;

type Affinity = Readonly<Record<string, unknown>>;

/** The template without what may change: compared instead of it. */
function unmovable({ metadata, spec }: PodTemplate): object {
  const { labels: _labels, annotations: _annotations, ...restOfMetadata } = metadata ?? {};
  const { nodeSelector: _nodeSelector, tolerations: _tolerations, affinity, ...rest } = spec ?? {};
  const { nodeAffinity: _nodeAffinity, ...others } = (affinity ?? {}) as Affinity;
  return { metadata: restOfMetadata, spec: { ...rest, affinity: others } };
}

function checkUpdate(next: ApiObject, old: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(next);
  const oldSpec = specOf(old);
  checkImmutable(at, 'completions', spec.completions, oldSpec.completions);
  const { template = {} } = spec;
  const { template: oldTemplate = {} } = oldSpec;
  const isSame = isMovable(old) && isDeepStrictEqual(unmovable(template), unmovable(oldTemplate));
  if (!isSame) checkImmutable(at, 'template', template, oldTemplate);
  checkImmutable(at, 'completionMode', spec.completionMode, oldSpec.completionMode);
}

interface JobStatus {
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly ready?: number;
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

function checkStatus(next: ApiObject, _old: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'status');
  const status: JobStatus = next['status'] ?? {};
  for (const member of ['active', 'succeeded', 'failed', 'ready'] as const)
    checkNotNegative(at, member, status[member]);
  const seen = new Set<string>();
  for (const member of ['succeeded', 'failed'] as const) {
    each(at.child('uncountedTerminatedPods'), member, status.uncountedTerminatedPods?.[member], (uid, uidAt) => {
      if (uid === '') uidAt.invalid('', uid, 'must not be empty');
      else if (seen.has(uid)) uidAt.duplicate('', uid);
      seen.add(uid);
    });
  }
}

export const jobs = (checks: PodChecks): KindValidation => ({
  object: (job, problems) => {
    const at = At.root(problems, 'spec');
    checkGenerated(at, job);
    checkJobSpec(at, specOf(job), checks);
    checkSelector(at, specOf(job));
  },
  update: checkUpdate,
  parts: { status: checkStatus },
});
