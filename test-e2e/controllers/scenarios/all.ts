import { ACCOUNTS } from './accounts.js';
import { BOOTSTRAP_TOKENS } from './bootstrap-tokens.js';
import { JOBS } from './jobs.js';
import { NAMESPACES } from './namespaces.js';
import { OWNERS } from './owners.js';
import { QUOTAS } from './quotas.js';
import { ROLES } from './roles.js';
import type { Scenario } from './scenario.js';
import { SIGNING_REQUESTS } from './signing-requests.js';
import { STORAGE } from './storage.js';

export const SCENARIOS: readonly Scenario[] = [
  ...OWNERS,
  ...NAMESPACES,
  ...ACCOUNTS,
  ...BOOTSTRAP_TOKENS,
  ...SIGNING_REQUESTS,
  ...QUOTAS,
  ...ROLES,
  ...STORAGE,
  ...JOBS,
];
