import type { ControllerGroup } from '../controllers/controller.js';
import { TOKEN_CLEANER_FLAGS } from './flags.js';
import { openBootstrapSigner } from './bootstrap-signer.js';
import { openTokenCleaner } from './token-cleaner.js';

/** The controllers of the process `token-cleaner`; as in other servers they run where they are named. */
export const TOKEN_CLEANER = {
  flags: TOKEN_CLEANER_FLAGS,
  controllers: [
    { name: 'tokencleaner', account: 'token-cleaner', isOnByDefault: false, open: openTokenCleaner },
    { name: 'bootstrapsigner', account: 'bootstrap-signer', isOnByDefault: false, open: openBootstrapSigner },
  ],
} as const satisfies ControllerGroup<typeof TOKEN_CLEANER_FLAGS>;
