import { FlagError, helpText, parseFlags, type FlagTable, type ParsedFlags } from '../flags/flags.js';

/** Parameters of a process besides its flags. */
export interface ProcessDeps {
  /** How it was called, e.g. the name of the program and a command; for usage and error lines. */
  readonly program: string;
  /** `major.minor.patch` of the product. */
  readonly version: string;
}

/** The process is over before it began. */
export interface Ended {
  readonly exitCode: number;
}

const WRONG_FLAGS = 2;

/**
 * Reads the flags. `--help` is answered on stdout and a command line that cannot be used with one line on stderr; both
 * end the process.
 *
 * @param check Looks at what the table cannot say, e.g. flags that need each other. It returns warnings, or throws a
 * FlagError.
 */
export function commandLine<T extends FlagTable>(
  { program }: ProcessDeps,
  table: T,
  argv: readonly string[],
  check: (parsed: ParsedFlags<T>) => readonly string[],
): ParsedFlags<T> | Ended {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(helpText(`${program} [flags]`, table));
    return { exitCode: 0 };
  }
  try {
    const parsed = parseFlags(table, argv);
    return { ...parsed, warnings: [...parsed.warnings, ...check(parsed)] };
  } catch (err) {
    return refused(program, err);
  }
}

/** Checks what can only be found out later. @returns How the process ends for a FlagError, of which it tells; undefined: it goes on. */
export async function usage(
  { program }: Pick<ProcessDeps, 'program'>,
  check: () => Promise<void>,
): Promise<Ended | undefined> {
  try {
    await check();
    return undefined;
  } catch (err) {
    return refused(program, err);
  }
}

/** @throws What is no FlagError. */
function refused(program: string, err: unknown): Ended {
  if (!(err instanceof FlagError)) throw err;
  tell(`${program}: ${err.message}`);
  return { exitCode: WRONG_FLAGS };
}

/** One line for a person, on stderr, whatever line breaks the text has. */
export function tell(text: string): void {
  process.stderr.write(`${text.replace(/\s*\n\s*/g, ' ')}\n`);
}
