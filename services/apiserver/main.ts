import { FlagError, type ParsedFlags } from '../machinery/flags/flags.js';
import { checkOptions } from './check-options.js';
import { createLog, type LogLevel } from './log.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from './options.js';
import { localUrl } from './process/address.js';
import { commandLine, type ProcessDeps } from './process/command-line.js';
import { serve } from './process/serve.js';

/** The API server as a process of its own. @returns The exit code. */
export async function main(argv: readonly string[], d: ProcessDeps): Promise<number> {
  const parsed = commandLine(d, API_SERVER_FLAGS, argv, check);
  if ('exitCode' in parsed) return parsed.exitCode;
  const { options, warnings } = parsed;
  const log = createLog(options.logLevel as LogLevel); // one of the flag's choices
  for (const warning of warnings) log.warn(warning);
  return serve(d, {
    log,
    shutdownDelayMs: options.shutdownDelayMs,
    start: async (onFatal) => {
      const { startApiServer } = await import('./server.js');
      const server = await startApiServer(options, { log, version: d.version, onFatal });
      return {
        announcement: localUrl(options, server.port),
        ready: (signal) => server.ready(signal),
        close: () => server.close(),
      };
    },
  });
}

/** What the table cannot say. Nothing is served in the clear, so certificate and key are needed. */
function check({ options }: ParsedFlags<typeof API_SERVER_FLAGS>): void {
  checkOptions(options);
  for (const key of ['tlsCertFile', 'tlsKeyFile'] as const satisfies readonly (keyof ApiServerOptions)[]) {
    if (options[key] === '') throw new FlagError(`--${API_SERVER_FLAGS[key].flag} is needed`);
  }
  const { serviceAccountIssuer: issuer, serviceAccountSigningKeyFile: key } = API_SERVER_FLAGS;
  if (options.serviceAccountSigningKeyFile !== '' && options.serviceAccountIssuer.length === 0) {
    throw new FlagError(`--${key.flag} needs --${issuer.flag}`);
  }
}
