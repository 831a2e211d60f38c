import { API_SERVER_FLAGS } from '../apiserver/options/flags.js';
import { RUNNING_FLAGS } from '../controllers/process/options.js';
import { CERTIFICATE_SIGNER_FLAGS } from '../certificate-signer/flags.js';
import { RESOURCE_LIFECYCLE_FLAGS } from '../resource-lifecycle/flags.js';
import { SERVICE_ACCOUNTS_FLAGS } from '../service-accounts/flags.js';
import { TOKEN_CLEANER_FLAGS } from '../token-cleaner/flags.js';
import type { FlagTable, OptionsOf } from '../machinery/flags/flags.js';

/** The flags of everything in one process: those of controllers and of the server, and a few more of credentials. */
export const UP_FLAGS = {
  ...CERTIFICATE_SIGNER_FLAGS,
  ...RESOURCE_LIFECYCLE_FLAGS,
  ...SERVICE_ACCOUNTS_FLAGS,
  ...TOKEN_CLEANER_FLAGS,
  controllers: { ...RUNNING_FLAGS.controllers, default: '*,bootstrapsigner,tokencleaner' },
  ...API_SERVER_FLAGS,
  dataDir: {
    ...API_SERVER_FLAGS.dataDir,
    help: 'directory of the embedded store, of credentials that are made, and of the client configuration',
  },
  enableBootstrapTokenAuth: { ...API_SERVER_FLAGS.enableBootstrapTokenAuth, default: 'true' },
  tlsSans: {
    flag: 'tls-san',
    type: 'list',
    metavar: 'NAME,...',
    help: 'more host names and addresses for the serving certificate that is made',
  },
} as const satisfies FlagTable;

export type UpOptions = OptionsOf<typeof UP_FLAGS>;
