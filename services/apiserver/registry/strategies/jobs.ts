import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Job } from '../../../machinery/types/generated/batch.v1.js';
import type { Strategy } from '../strategy.js';
import { JOB_LABELS } from '../validation/batch/jobs.js';

type Labels = Readonly<Record<string, string>>;

/**
 * Gives a job's pods labels that no other job's have, and lets the job look for those. What a client has put there
 * stays, for validation to speak of.
 */
function prepareForCreate(job: ApiObject & Job): void {
  const { spec = {} } = job;
  if (spec.manualSelector === true) return;
  const { uid = '', name = '' } = job.metadata;
  const { selector, template } = spec;
  const own = template?.metadata?.labels ?? {};
  const labels = sorted({ [JOB_LABELS.name]: name, [JOB_LABELS.uid]: uid, ...own });
  // One without labels has those of its pods, by its defaults: so it has these, too.
  if (isDeepStrictEqual(job.metadata.labels ?? {}, own)) job.metadata.labels = labels;
  (job as ApiObject)['spec'] = {
    ...spec,
    selector: { ...selector, matchLabels: sorted({ [JOB_LABELS.uid]: uid, ...selector?.matchLabels }) },
    template: { ...template, metadata: { ...template?.metadata, labels } },
  };
}

const sorted = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export const jobs: Partial<Strategy> = {
  generation: 'spec',
  immutable: [['spec', 'selector']],
  orphansIn: ['v1'],
  silentDeletionWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  prepareForCreate,
};
