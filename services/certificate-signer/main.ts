import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { CERTIFICATE_SIGNER } from './controllers.js';

/** The signer of certificates as a process of its own. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain(
    {
      name: 'platform-certificate-signer',
      groups: [CERTIFICATE_SIGNER],
      port: 10261,
      controllers: CERTIFICATE_SIGNER.controllers.map(({ name }) => name),
    },
    argv,
    d,
  );
