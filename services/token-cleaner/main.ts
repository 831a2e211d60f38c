import { controllerMain } from '../controllers/process/controller-main.js';
import type { ProcessDeps } from '../machinery/process/command-line.js';
import { TOKEN_CLEANER } from './controllers.js';

/** The keeper of bootstrap tokens as a process of its own. @returns The exit code. */
export const main = (argv: readonly string[], d: ProcessDeps): Promise<number> =>
  controllerMain(
    {
      name: 'platform-token-cleaner',
      groups: [TOKEN_CLEANER],
      port: 10262,
      controllers: TOKEN_CLEANER.controllers.map(({ name }) => name),
    },
    argv,
    d,
  );
