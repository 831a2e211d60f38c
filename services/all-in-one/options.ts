import { API_SERVER_FLAGS } from '../apiserver/options/flags.js';
import type { FlagTable, OptionsOf } from '../machinery/flags/flags.js';

/** The flags of everything in one process: those of the server, and where credentials are concerned a few more. */
export const UP_FLAGS = {
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
