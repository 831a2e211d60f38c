import type { ApiServerOptions } from '../options.js';
import { alwaysAllow, alwaysDeny } from './always.js';
import { privilegedGroup } from './privileged.js';
import type { Authorizer } from './types.js';

export interface Authorization {
  /** In the order in which they are asked. */
  readonly authorizers: readonly Authorizer[];
}

/** Everybody who decides, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export function openAuthorization(o: ApiServerOptions): Authorization {
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
  };
  const named = o.authorizationMode.map((mode) => modes[mode]?.() ?? alwaysDeny);
  return { authorizers: [privilegedGroup, ...named] };
}
