import type { CronJobSpec } from '../../../../machinery/types/generated/batch.v1.js';
import type { At } from '../checks/at.js';
import { isTimeZone, scheduleProblem } from './schedule.js';

function checkSchedule(at: At, { schedule = '', timeZone }: CronJobSpec): void {
  if (schedule === '') return;
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

/** Each job gets a selector of its own. */
export function checkCronJob(at: At, spec: CronJobSpec): void {
  checkSchedule(at, spec);
  checkTimeZone(at, spec.timeZone);
  const { selector, manualSelector } = spec.jobTemplate?.spec ?? {};
  const jobAt = at.child('jobTemplate').child('spec');
  if (selector !== undefined) jobAt.invalid('selector', selector, '`selector` will be auto-generated');
  if (manualSelector === true) jobAt.notSupported('manualSelector', manualSelector, ['nil', 'false']);
}
