import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { SERVICE_ACCOUNTS } from './controllers.js';

/** The keeper of service accounts as a process of its own. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain(
    {
      name: 'platform-service-accounts',
      groups: [SERVICE_ACCOUNTS],
      port: 10264,
      controllers: SERVICE_ACCOUNTS.controllers.map(({ name }) => name),
    },
    argv,
    d,
  );
