import type { GroupValidation } from '../types.js';
import { podDisruptionBudgets } from './budgets.js';
import { podSecurityPolicies } from './pod-security-policies.js';

export const policyValidation: GroupValidation = {
  poddisruptionbudgets: podDisruptionBudgets,
  podsecuritypolicies: podSecurityPolicies,
};
