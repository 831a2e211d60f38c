import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { GROUPS } from './groups.js';

/** Any set of controllers as one process. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain({ name: 'platform-controller-manager', groups: GROUPS, port: 10257, controllers: ['*'] }, argv, d);
