import { badRequest } from '../../machinery/meta/status.js';
import type { Context } from '../pipeline/request.js';

/** Is told the paths of members that no declaration knows, which are not stored. */
export type OnUnknown = (paths: readonly string[]) => void;

type Mode = 'Ignore' | 'Warn' | 'Strict';
const MODES: Readonly<Record<string, Mode>> = { '': 'Warn', Ignore: 'Ignore', Warn: 'Warn', Strict: 'Strict' };
/** More would make headers that clients refuse. */
const MAX_WARNINGS = 20;

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
    if (paths.length > 0) ctx.set('Warning', named(paths).slice(0, MAX_WARNINGS).map(warning));
  },
  Strict: () => (paths) => {
    if (paths.length > 0) throw badRequest(`strict decoding error: ${named(paths).join(', ')}`);
  },
};

/** RFC 7234, 5.5. The text is the client's own: nothing but printable ASCII may reach a header. */
const warning = (text: string): string =>
  `299 - "${text
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`;
