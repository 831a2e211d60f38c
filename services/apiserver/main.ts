import { FlagError, type ParsedFlags } from '../machinery/flags/flags.js';
import { checkOptions } from './server/check-options.js';
import { createLog } from '../machinery/log/log.js';
import { API_SERVER_FLAGS } from './options/flags.js';
import { mayBeAnonymous } from './options/anonymous.js';
import { localUrl } from '../machinery/process/address.js';
import { commandLine, type ProcessDeps } from '../machinery/process/command-line.js';
import { serve } from '../machinery/process/serve.js';
import { servingFiles } from './process/serving-certificate.js';

/** The API server as a process of its own. @returns The exit code. */
export async function main(argv: readonly string[], d: ProcessDeps): Promise<number> {
  const parsed = commandLine(d, API_SERVER_FLAGS, argv, check);
  if ('exitCode' in parsed) return parsed.exitCode;
  const { warnings } = parsed;
  const options = { ...parsed.options, anonymousAuth: mayBeAnonymous(parsed) };
  const log = createLog(options);
  for (const warning of warnings) log.warn(warning);
  return serve(d, {
    log,
    closeMs: options.shutdownDelayMs + options.shutdownDrainMs,
    start: async (onFatal) => {
      const { startApiServer } = await import('./server/server.js');
      const files = await servingFiles(options);
      const server = await startApiServer({ ...options, ...files }, { log, version: d.version, onFatal });
      return {
        announcement: localUrl(options, server.port),
        ready: (signal) => server.ready(signal),
        close: () => server.close(),
      };
    },
  });
}

/** Checks what the table cannot say. Nothing is served in the clear, so certificate and key are needed. */
function check({ options }: ParsedFlags<typeof API_SERVER_FLAGS>): readonly string[] {
  const warnings = checkOptions(options);
  const { tlsCertFile, tlsKeyFile, certDir } = API_SERVER_FLAGS;
  if (options.tlsCertFile === '' && options.certDir === '') {
    throw new FlagError(`--${tlsCertFile.flag} or --${certDir.flag} is needed`);
  }
  if ((options.tlsCertFile === '') !== (options.tlsKeyFile === '')) {
    throw new FlagError(`--${tlsCertFile.flag} and --${tlsKeyFile.flag} go together`);
  }
  const { serviceAccountIssuer: issuer, serviceAccountSigningKeyFile: key } = API_SERVER_FLAGS;
  if (options.serviceAccountSigningKeyFile !== '' && options.serviceAccountIssuer.length === 0) {
    throw new FlagError(`--${key.flag} needs --${issuer.flag}`);
  }
  return warnings;
}
