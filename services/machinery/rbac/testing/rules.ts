import type { PolicyRule } from '../policy-rule.js';

export const rule = (members: Partial<PolicyRule>): PolicyRule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...members,
});

/** `rule` for resources of the core group. */
export const on = (verbs: string, resources: string, ...resourceNames: string[]): PolicyRule =>
  rule({ verbs: verbs.split(','), apiGroups: [''], resources: resources.split(','), resourceNames });
