import type { ControllerGroup } from '../controllers/controller.js';
import type { FlagTable } from '../machinery/flags/flags.js';
import { openBootstrapSigner } from './bootstrap-signer.js';
import { openTokenCleaner } from './token-cleaner.js';

const FLAGS = {
  clusterInfoServer: {
    flag: 'cluster-info-server',
    type: 'string',
    metavar: 'URL',
    help: 'where new clients reach the server, published with the config map cluster-info; else where this client does',
  },
} as const satisfies FlagTable;

/** The controllers of the process `token-cleaner`; as in other servers they run where they are named. */
export const TOKEN_CLEANER = {
  flags: FLAGS,
  controllers: [
    { name: 'tokencleaner', account: 'token-cleaner', isOnByDefault: false, open: openTokenCleaner },
    { name: 'bootstrapsigner', account: 'bootstrap-signer', isOnByDefault: false, open: openBootstrapSigner },
  ],
} as const satisfies ControllerGroup<typeof FLAGS>;
