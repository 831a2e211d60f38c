import { CERTIFICATE_SIGNER } from '../certificate-signer/controllers.js';
import { RESOURCE_LIFECYCLE } from '../resource-lifecycle/controllers.js';
import { ROLE_AGGREGATION } from '../role-aggregation/controllers.js';
import { SERVICE_ACCOUNTS } from '../service-accounts/controllers.js';
import { TOKEN_CLEANER } from '../token-cleaner/controllers.js';

/** All controllers that there are. */
export const GROUPS = [
  SERVICE_ACCOUNTS,
  RESOURCE_LIFECYCLE,
  CERTIFICATE_SIGNER,
  TOKEN_CLEANER,
  ROLE_AGGREGATION,
] as const;
