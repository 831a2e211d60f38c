import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import { checkEnum, checkNotNegative } from '../checks/members.js';
import type { PodChecks } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';
import type { JobSpec } from './jobs.js';
import { checkJobSpec } from './jobs.js';
import { isTimeZone, scheduleProblem } from './schedule.js';

interface CronJobSpec {
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: number;
  readonly concurrencyPolicy?: string;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
  readonly jobTemplate?: { readonly spec?: JobSpec };
}

function checkSchedule(at: At, { schedule = '', timeZone }: CronJobSpec): void {
  if (schedule === '') {
    at.required('schedule');
    return;
  }
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) at.invalid('schedule', schedule, problem);
  if (schedule.includes('TZ') && timeZone !== undefined) {
    at.invalid('schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
}

function checkTimeZone(at: At, timeZone: string | undefined): void {
  if (timeZone === undefined) return;
  if (timeZone === '') {
    at.invalid('timeZone', timeZone, 'timeZone must be nil or non-empty string');
    return;
  }
  if (timeZone.toLowerCase() === 'local') {
    const why = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    at.invalid('timeZone', timeZone, why);
  }
  if (!isTimeZone(timeZone)) at.invalid('timeZone', timeZone, `unknown time zone ${timeZone}`);
}

const POLICIES = ['Allow', 'Forbid', 'Replace'];

/** Each job gets a selector of its own. */
function checkTemplate(at: At, spec: JobSpec, checks: PodChecks): void {
  checkJobSpec(at, spec, checks);
  const { selector, manualSelector } = spec;
  if (selector !== undefined) at.invalid('selector', selector, '`selector` will be auto-generated');
  if (manualSelector === true) at.notSupported('manualSelector', manualSelector, ['nil', 'false']);
}

const checkCronJob =
  (checks: PodChecks) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const spec: CronJobSpec = object['spec'] ?? {};
    checkSchedule(at, spec);
    checkNotNegative(at, 'startingDeadlineSeconds', spec.startingDeadlineSeconds);
    checkTimeZone(at, spec.timeZone);
    checkEnum(at, 'concurrencyPolicy', spec.concurrencyPolicy, POLICIES);
    checkTemplate(at.child('jobTemplate').child('spec'), spec.jobTemplate?.spec ?? {}, checks);
    checkNotNegative(at, 'successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit);
    checkNotNegative(at, 'failedJobsHistoryLimit', spec.failedJobsHistoryLimit);
  };

export const cronJobs = (checks: PodChecks): KindValidation => ({ object: checkCronJob(checks) });
