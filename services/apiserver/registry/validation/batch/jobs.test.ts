import assert from 'node:assert/strict';
import { THE_SERVER } from '../../../request/users.js';
import { jobs } from '../../strategies/jobs.js';
import type { Change } from '../testing/cases.js';
import { changed, KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0 } from '../testing/words.js';

const T = 'spec.template';
const UID = '0b5f5d6e-8d3b-4f2c-9a55-0a1b2c3d4e5f';
const labels = { 'controller-uid': UID, 'job-name': 'pi', app: 'pi' };
const template = {
  metadata: { labels },
  spec: { restartPolicy: 'Never', containers: [{ name: 'pi', image: 'perl', command: ['perl'] }] },
};
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'pi', namespace: 'default', uid: UID },
  spec: { backoffLimit: 4, selector: { matchLabels: { 'controller-uid': UID } }, template },
};

describe('validation of jobs', () => {
  const kind = new KindUnderTest({ group: 'batch', resource: 'jobs', type: 'batch/v1.Job' });
  kind.acceptsManifest('a job', job);
  kind.accepts(job, [
    { [`${T}.spec.restartPolicy`]: 'OnFailure' },
    { 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'spec.parallelism': 100_000 },
    {
      'spec.manualSelector': true,
      'spec.selector': { matchLabels: { app: 'pi' } },
      [`${T}.metadata.labels`]: { app: 'pi' },
    },
  ]);
  const negative = (member: string): readonly [Change, string, string] => [
    { [`spec.${member}`]: -1 },
    `spec.${member}`,
    `Invalid value: -1: ${AT_LEAST_0}`,
  ];
  const shown = '"app":"pi", "controller-uid":"x", "job-name":"pi"';
  kind.refuses(job, [
    ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'].map(negative),
    [
      { 'spec.completionMode': 'All' },
      'spec.completionMode',
      'Unsupported value: "All": supported values: "NonIndexed", "Indexed"',
    ],
    [
      { 'spec.completionMode': 'Indexed', 'spec.parallelism': 100_001 },
      'spec.completions',
      'Required value: when completion mode is Indexed',
      'spec.parallelism',
      'Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
    [{ [`${T}.spec.containers.0.name`]: undefined }, `${T}.spec.containers[0].name`, 'Required value'],
    [
      { [`${T}.spec.restartPolicy`]: undefined },
      `${T}.spec.restartPolicy`,
      'Required value: valid values: "OnFailure", "Never"',
    ],
    [
      { 'spec.selector': undefined },
      'spec.selector',
      'Required value',
      `${T}.metadata.labels`,
      `Invalid value: map[string]string{"app":"pi", "controller-uid":"${UID}", "job-name":"pi"}: \`selector\` does not match template \`labels\``,
    ],
    [
      { [`${T}.metadata.labels.controller-uid`]: 'x' },
      `${T}.metadata.labels[controller-uid]`,
      `Invalid value: map[string]string{${shown}}: must be '${UID}'`,
      `${T}.metadata.labels`,
      `Invalid value: map[string]string{${shown}}: \`selector\` does not match template \`labels\``,
    ],
    [
      { [`${T}.metadata.labels.job-name`]: undefined },
      `${T}.metadata.labels[job-name]`,
      `Required value: must be 'pi'`,
    ],
    [
      { 'spec.selector': { matchLabels: { app: 'pi' } } },
      'spec.selector',
      'Invalid value: {"matchLabels":{"app":"pi"}}: `selector` not auto-generated',
    ],
  ]);

  it('refuses a restart policy that nobody knows once as a policy and once as a job', () => {
    assert.deepEqual(
      kind.onCreate(changed(job, { [`${T}.spec.restartPolicy`]: 'Sometimes' })).map(({ message }) => message),
      [
        'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        'Unsupported value: "Sometimes": supported values: "OnFailure", "Never"',
      ],
    );
  });

  const immutable = (value: string): string => `Invalid value: ${value}: field is immutable`;
  kind.refusesUpdates(changed(job, { 'spec.completions': 1 }), [
    [{ 'spec.completions': 2 }, 'spec.completions', immutable('2')],
    [{ 'spec.completionMode': 'Indexed' }, 'spec.completionMode', immutable('"Indexed"')],
  ]);
  const waiting = changed(job, { 'spec.suspend': true });
  const moved = {
    [`${T}.spec.nodeSelector`]: { zone: 'a' },
    [`${T}.spec.tolerations`]: [{ operator: 'Exists' }],
    [`${T}.spec.affinity`]: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      },
    },
    [`${T}.metadata.labels.queue`]: 'a',
    [`${T}.metadata.annotations`]: { a: 'b' },
  };
  kind.acceptsUpdates(waiting, [moved, { 'spec.suspend': false, 'spec.backoffLimit': 1 }]);
  const fieldsOf = (change: Change, old: typeof waiting): readonly string[] =>
    kind.onUpdate(changed(old, change), old).map(({ field }) => field);

  it('keeps the template, but for where pods may run while none has started', () => {
    assert.deepEqual(fieldsOf({ [`${T}.spec.containers.0.image`]: 'ruby' }, waiting), [T]);
    assert.deepEqual(fieldsOf({ [`${T}.spec.affinity`]: { podAffinity: {} } }, waiting), [T]);
    assert.deepEqual(fieldsOf(moved, job), [T]);
    assert.deepEqual(fieldsOf(moved, changed(waiting, { 'status.startTime': '2024-01-01T00:00:00Z' })), [T]);
  });

  kind.refusesPart('status', job, [
    [{ 'status.active': -1 }, 'status.active', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.ready': -1 }, 'status.ready', `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { 'status.uncountedTerminatedPods': { succeeded: ['a', ''], failed: ['a'] } },
      'status.uncountedTerminatedPods.succeeded[1]',
      'Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[0]',
      'Duplicate value: "a"',
    ],
  ]);

  it('finds nothing in what the strategy makes of a job as people write it', () => {
    const written = kind.decoded(changed(job, { 'spec.selector': undefined, [`${T}.metadata`]: undefined }));
    jobs.prepareForCreate?.(written, THE_SERVER, 'batch/v1');
    const problems: [] = [];
    kind.validation.object?.(written, problems);
    assert.deepEqual(problems, []);
    const spec = written['spec'] as typeof job.spec;
    assert.deepEqual(spec.selector, { matchLabels: { 'controller-uid': UID } });
    assert.deepEqual(spec.template.metadata.labels, { 'controller-uid': UID, 'job-name': 'pi' });
  });
});

describe('validation of cron jobs', () => {
  const kind = new KindUnderTest({ group: 'batch', resource: 'cronjobs', type: 'batch/v1.CronJob' });
  const cron = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'backup', namespace: 'default' },
    spec: {
      schedule: '0 3 * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'a', image: 'a' }] } } },
      },
    },
  };
  const J = 'spec.jobTemplate.spec';
  kind.acceptsManifest('a cron job', cron);
  kind.accepts(cron, [
    { 'spec.timeZone': 'Europe/Zurich', 'spec.concurrencyPolicy': 'Replace' },
    { 'spec.schedule': 'TZ=UTC 0 3 * * *' },
    { 'spec.successfulJobsHistoryLimit': 0, 'spec.failedJobsHistoryLimit': 0, 'spec.startingDeadlineSeconds': 0 },
    { [`${J}.manualSelector`]: false },
  ]);
  kind.refuses(cron, [
    [{ 'spec.schedule': '' }, 'spec.schedule', 'Required value'],
    [
      { 'spec.schedule': 'error' },
      'spec.schedule',
      'Invalid value: "error": expected exactly 5 fields, found 1: [error]',
    ],
    [
      { 'spec.schedule': 'TZ=UTC 0 3 * * *', 'spec.timeZone': 'UTC' },
      'spec.schedule',
      'Invalid value: "TZ=UTC 0 3 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
    ],
    [{ 'spec.timeZone': '' }, 'spec.timeZone', 'Invalid value: "": timeZone must be nil or non-empty string'],
    [
      { 'spec.timeZone': 'Local' },
      'spec.timeZone',
      'Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    ],
    [{ 'spec.timeZone': 'Mars' }, 'spec.timeZone', 'Invalid value: "Mars": unknown time zone Mars'],
    [{ 'spec.startingDeadlineSeconds': -1 }, 'spec.startingDeadlineSeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { 'spec.concurrencyPolicy': 'Queue' },
      'spec.concurrencyPolicy',
      'Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
    ],
    [
      { [`${J}.template.spec.restartPolicy`]: 'Always' },
      `${J}.template.spec.restartPolicy`,
      'Required value: valid values: "OnFailure", "Never"',
    ],
    [{ [`${J}.parallelism`]: -1 }, `${J}.parallelism`, `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { [`${J}.selector`]: { matchLabels: { a: 'b' } }, [`${J}.manualSelector`]: true },
      `${J}.selector`,
      'Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      `${J}.manualSelector`,
      'Unsupported value: true: supported values: "nil", "false"',
    ],
    [{ 'spec.failedJobsHistoryLimit': -1 }, 'spec.failedJobsHistoryLimit', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.successfulJobsHistoryLimit': -1 }, 'spec.successfulJobsHistoryLimit', `Invalid value: -1: ${AT_LEAST_0}`],
  ]);
  kind.acceptsUpdates(cron, [{ 'spec.schedule': '@daily' }]);
});
