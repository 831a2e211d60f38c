import type { PodChecks } from '../pods/spec.js';
import type { GroupValidation } from '../types.js';
import { deployments } from './deployments.js';

export const appsValidation = (checks: PodChecks): GroupValidation => ({
  deployments: deployments(checks),
});
