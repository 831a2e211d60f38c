import type { FlagTable } from '../machinery/flags/flags.js';

/** Flags of the controllers of the process `token-cleaner`. */
export const TOKEN_CLEANER_FLAGS = {
  clusterInfoServer: {
    flag: 'cluster-info-server',
    type: 'string',
    metavar: 'URL',
    help: 'where new clients reach the server, published with the config map cluster-info; else where this client does',
  },
} as const satisfies FlagTable;
