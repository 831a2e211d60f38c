import type { ControllerGroup } from '../controllers/controller.js';
import { CERTIFICATE_SIGNER_FLAGS } from './flags.js';
import { openApproving } from './approving.js';
import { openCleaning } from './cleaning.js';
import { openSigning } from './signing.js';

/** The controllers of the process `certificate-signer`. */
export const CERTIFICATE_SIGNER = {
  flags: CERTIFICATE_SIGNER_FLAGS,
  controllers: [
    { name: 'csrsigning', account: 'certificate-controller', isOnByDefault: true, open: openSigning },
    { name: 'csrapproving', account: 'certificate-controller', isOnByDefault: true, open: openApproving },
    { name: 'csrcleaner', account: 'certificate-controller', isOnByDefault: true, open: openCleaning },
  ],
} as const satisfies ControllerGroup<typeof CERTIFICATE_SIGNER_FLAGS>;
