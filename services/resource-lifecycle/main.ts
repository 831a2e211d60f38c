import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { RESOURCE_LIFECYCLE } from './controllers.js';

/** The keeper of the life of resources as a process of its own. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain(
    {
      name: 'platform-resource-lifecycle',
      groups: [RESOURCE_LIFECYCLE],
      port: 10265,
      controllers: RESOURCE_LIFECYCLE.controllers.map(({ name }) => name),
    },
    argv,
    d,
  );
