import { badRequest } from '../../machinery/meta/status.js';
import { addWarnings } from '../http/warnings.js';
import type { Context } from '../pipeline/request.js';

/** Is told the paths of members that no declaration knows, which are not stored. */
export type OnUnknown = (paths: readonly string[]) => void;

type Mode = 'Ignore' | 'Warn' | 'Strict';
const MODES: Readonly<Record<string, Mode>> = { '': 'Warn', Ignore: 'Ignore', Warn: 'Warn', Strict: 'Strict' };
/**
 * What `fieldValidation` asks to do about unknown members: nothing, a warning each (the default), or a refusal.
 *
 * @throws {StatusError} BadRequest for another value; the function that is returned throws it in the strict mode
 */
export function onUnknownFields(ctx: Context): OnUnknown {
  const asked = ctx.state.query.get('fieldValidation') ?? '';
  const mode = Object.hasOwn(MODES, asked) ? MODES[asked] : undefined;
  if (mode === undefined) {
    throw badRequest(
      `Invalid value for query parameter fieldValidation: ${JSON.stringify(asked)}, supported: Ignore, Warn, Strict`,
    );
  }
  return REACTIONS[mode](ctx);
}

const named = (paths: readonly string[]): string[] => paths.map((path) => `unknown field ${JSON.stringify(path)}`);

const REACTIONS: Readonly<Record<Mode, (ctx: Context) => OnUnknown>> = {
  Ignore: () => () => undefined,
  Warn: (ctx) => (paths) => {
    addWarnings(ctx, named(paths));
  },
  Strict: () => (paths) => {
    if (paths.length > 0) throw badRequest(`strict decoding error: ${named(paths).join(', ')}`);
  },
};
