import type { FlagTable, OptionsOf } from '../machinery/flags/flags.js';

/** What a command is called with. */
export interface Call<T extends FlagTable> {
  readonly options: OptionsOf<T>;
  /** Names of the flags that the command line set. */
  readonly given: ReadonlySet<keyof T>;
  /** One for each word that the command takes. */
  readonly operands: readonly string[];
  readonly version: string;
  /** A result, on stdout. */
  readonly print: (line: string) => void;
  /** What is going on, on stderr. */
  readonly report: (line: string) => void;
}

export interface Command<T extends FlagTable = FlagTable> {
  /** As it is called, e.g. `backup verify`. */
  readonly name: string;
  /** What follows it, for the usage line, e.g. `FILE`. */
  readonly operands: readonly string[];
  readonly help: string;
  readonly flags: T;
  /** @throws {CommandError | StoreError} Its message is one line that says why it failed. */
  run(call: Call<T>, signal: AbortSignal): Promise<void>;
}

/** A command whose flags are known to what it does. */
export const command = <T extends FlagTable>(it: Command<T>): Command => it as unknown as Command; // run() gets what its own table made
