import { gatesHelp } from '../machinery/features/feature-gates.js';
import type { FlagTable } from '../machinery/flags/flags.js';

/** Flags of the controllers of the process `service-accounts`. */
export const SERVICE_ACCOUNTS_FLAGS = {
  rootCaFile: {
    flag: 'root-ca-file',
    type: 'string',
    metavar: 'FILE',
    help: 'authorities that are published to every namespace and put beside tokens; else those that this client trusts',
  },
  serviceAccountPrivateKeyFile: {
    flag: 'service-account-private-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'private RSA or EC key that signs tokens in secrets of service accounts; without it they get none',
  },
  concurrentServiceAccountTokenSyncs: {
    flag: 'concurrent-serviceaccount-token-syncs',
    type: 'int',
    default: '5',
    min: '1',
    max: '100',
    help: 'service accounts and token secrets that are worked on at once',
  },
  featureGates: {
    flag: 'feature-gates',
    type: 'map',
    metavar: 'NAME=BOOL,...',
    help: `features to turn on or off; AllAlpha and AllBeta stand for a stage. ${gatesHelp()}`,
  },
} as const satisfies FlagTable;
