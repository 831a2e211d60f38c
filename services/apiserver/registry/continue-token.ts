import { badRequest } from '../../machinery/meta/status.js';

/** Where a chunked list goes on. */
export interface ContinueToken {
  /** The version of the first chunk; `INCONSISTENT` to go on with whatever is there now. */
  readonly revision: number;
  /** First key of the next chunk, relative to the resource's keys. */
  readonly start: string;
}

/** In a token that a 410 hands out: the old state is gone, the client may take the rest as it is now. */
export const INCONSISTENT = -1;

const FORM = 1;
const MAX_LENGTH = 4096;

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: FORM, rv: token.revision, start: token.start })).toString('base64url');
}

/** @throws {StatusError} BadRequest for anything that this server did not make. */
export function decodeContinueToken(text: string): ContinueToken {
  if (text.length <= MAX_LENGTH) {
    try {
      const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
      const versionOk = typeof rv === 'number' && Number.isSafeInteger(rv) && (rv > 0 || rv === INCONSISTENT);
      if (v === FORM && versionOk && typeof start === 'string' && start !== '') return { revision: rv, start };
    } catch {
      // Not ours: refused below like every other token that is not.
    }
  }
  throw badRequest('continue key is not valid: it was not issued by this server');
}
