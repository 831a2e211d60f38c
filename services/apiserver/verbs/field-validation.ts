import { badRequest } from '../../machinery/meta/status.js';
import { addWarnings } from '../http/warnings.js';
import type { Context } from '../request/request.js';

type Mode = 'Ignore' | 'Warn' | 'Strict';
const MODES: ReadonlyMap<string, Mode> = new Map(
  Object.entries<Mode>({ '': 'Warn', Ignore: 'Ignore', Warn: 'Warn', Strict: 'Strict' }),
);

/**
 * What `fieldValidation` asks to do about members that are not stored, unknown ones and all but the last of several of
 * one name: nothing, a warning each (the default), or a refusal that names all of them.
 */
export class FieldValidation {
  /** Where a decoder notes duplicates; undefined when nobody wants to know. */
  readonly duplicates: string[] | undefined;
  /** Where a decoder notes how numbers are written that may be no integers. */
  readonly literals = new Map<string, string>();
  readonly #ctx: Context;
  readonly #mode: Mode;

  /** @throws {StatusError} BadRequest for another value */
  constructor(ctx: Context) {
    const asked = ctx.state.query.get('fieldValidation') ?? '';
    const mode = MODES.get(asked);
    if (mode === undefined) {
      throw badRequest(
        `Invalid value for query parameter fieldValidation: ${JSON.stringify(asked)}, supported: Ignore, Warn, Strict`,
      );
    }
    this.#ctx = ctx;
    this.#mode = mode;
    this.duplicates = mode === 'Ignore' ? undefined : [];
  }

  /**
   * Takes the paths of members that no declaration knows, and settles what is to be said of them and of the duplicates.
   *
   * @throws {StatusError} BadRequest in the strict mode
   */
  readonly onUnknown = (unknown: readonly string[]): void => {
    if (this.duplicates === undefined) return;
    const problems = [...named('duplicate', this.duplicates), ...named('unknown', unknown)];
    if (problems.length === 0) return;
    if (this.#mode === 'Strict') throw badRequest(`strict decoding error: ${problems.join(', ')}`);
    addWarnings(this.#ctx, problems);
  };
}

const named = (what: string, paths: readonly string[]): string[] =>
  paths.map((path) => `${what} field ${JSON.stringify(path)}`);
