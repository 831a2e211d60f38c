import { checkOptions } from '../apiserver/server/check-options.js';
import { createLog } from '../machinery/log/log.js';
import { mayBeAnonymous } from '../apiserver/options/anonymous.js';
import { commandLine, usage, type ProcessDeps } from '../machinery/process/command-line.js';
import { serve } from '../machinery/process/serve.js';
import { FlagError, type ParsedFlags } from '../machinery/flags/flags.js';
import { isHost } from '../machinery/pki/hosts.js';
import { UP_FLAGS } from './options.js';
import { checkControllers, start } from './start.js';

/** Everything in one process, with credentials made at the start. @returns The exit code. */
export async function main(argv: readonly string[], d: ProcessDeps): Promise<number> {
  const parsed = commandLine(d, UP_FLAGS, argv, check);
  if ('exitCode' in parsed) return parsed.exitCode;
  const wrong = await usage(d, () => checkControllers(parsed.options));
  if (wrong !== undefined) return wrong.exitCode;
  const { warnings } = parsed;
  const options = { ...parsed.options, anonymousAuth: mayBeAnonymous(parsed) };
  const log = createLog(options);
  for (const warning of warnings) log.warn(warning);
  return serve(d, {
    log,
    closeMs: options.shutdownDelayMs + options.shutdownDrainMs,
    start: (onFatal) => start(options, { log, version: d.version, onFatal }),
  });
}

/** Checks what the table cannot say. */
function check({ options }: ParsedFlags<typeof UP_FLAGS>): readonly string[] {
  const warnings = checkOptions(options);
  const { tlsCertFile, tlsKeyFile, tlsSans } = UP_FLAGS;
  if ((options.tlsCertFile === '') !== (options.tlsKeyFile === '')) {
    throw new FlagError(`--${tlsCertFile.flag} and --${tlsKeyFile.flag} go together`);
  }
  const wrong = options.tlsSans.find((name) => !isHost(name));
  if (wrong === undefined) return warnings;
  throw new FlagError(`Cannot parse --${tlsSans.flag}: ${JSON.stringify(wrong)} is neither a host name nor an address`);
}
