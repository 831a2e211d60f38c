import type { FlagTable } from '../../machinery/flags/flags.js';

/** How objects are encrypted in the store. */
export const ENCRYPTION_FLAGS = {
  encryptionProviderConfig: {
    flag: 'encryption-provider-config',
    type: 'string',
    metavar: 'FILE',
    help: 'which resources are encrypted in the store, and with which keys; without it none',
  },
  encryptionProviderConfigReload: {
    flag: 'encryption-provider-config-automatic-reload',
    type: 'bool',
    help: 'read --encryption-provider-config again when it changes',
  },
} as const satisfies FlagTable;
