import type { PodChecks } from '../pods/spec.js';
import type { GroupValidation } from '../types.js';
import { cronJobs } from './cron-jobs.js';
import { jobs } from './jobs.js';

export const batchValidation = (checks: PodChecks): GroupValidation => ({
  cronjobs: cronJobs(checks),
  jobs: jobs(checks),
});
