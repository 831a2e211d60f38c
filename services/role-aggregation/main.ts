import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { ROLE_AGGREGATION } from './controllers.js';

/** The aggregation of roles as a process of its own. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain(
    {
      name: 'platform-role-aggregation',
      groups: [ROLE_AGGREGATION],
      port: 10263,
      controllers: ROLE_AGGREGATION.controllers.map(({ name }) => name),
    },
    argv,
    d,
  );
