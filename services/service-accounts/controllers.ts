import type { ControllerGroup } from '../controllers/controller.js';
import { SERVICE_ACCOUNTS_FLAGS } from './flags.js';
import { openDefaultAccount } from './default-account.js';
import { openRootCaPublisher } from './root-ca-publisher.js';
import { openTokenSecrets } from './token-secrets.js';

/** The controllers of the process `service-accounts`. */
export const SERVICE_ACCOUNTS = {
  flags: SERVICE_ACCOUNTS_FLAGS,
  controllers: [
    {
      name: 'serviceaccount',
      account: 'service-account-controller',
      isOnByDefault: true,
      open: openDefaultAccount,
    },
    { name: 'serviceaccount-token', account: '', isOnByDefault: true, open: openTokenSecrets },
    {
      name: 'root-ca-cert-publisher',
      account: 'root-ca-cert-publisher',
      isOnByDefault: true,
      open: openRootCaPublisher,
    },
  ],
} as const satisfies ControllerGroup<typeof SERVICE_ACCOUNTS_FLAGS>;
