import { hash } from 'node:crypto';
import { badRequest } from '../../machinery/meta/status.js';

/** Where a chunked list goes on. */
export interface ContinueToken {
  /** The version of the first chunk; `INCONSISTENT` to go on with whatever is there now. */
  readonly revision: number;
  /** First key of the next chunk, relative to the resource's keys. */
  readonly start: string;
  /** Which list it goes on with: see `collectionId`. */
  readonly of: string;
}

/** Stands for a collection and what is selected of it. Short, however long the selectors are. */
export const collectionId = (keyPrefix: string, namespace: string, selection: string): string =>
  hash('sha256', JSON.stringify([keyPrefix, namespace, selection]), 'base64url').slice(0, ID_CHARACTERS);
const ID_CHARACTERS = 22;

/** In a token that a 410 hands out: the old state is gone, the client may take the rest as it is now. */
export const INCONSISTENT = -1;

const FORM = 2;
const MAX_LENGTH = 4096;

export function encodeContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: FORM, rv: token.revision, start: token.start, of: token.of })).toString(
    'base64url',
  );
}

/**
 * @param of The list that is asked for.
 *
 * @throws {StatusError} BadRequest for anything that this server did not make, or made for another list: the client would
 * take the rest of one for that of the other.
 */
export function decodeContinueToken(text: string, of: string): ContinueToken {
  const token = text.length <= MAX_LENGTH ? parsed(text) : undefined;
  if (token === undefined) throw badRequest('continue key is not valid: it was not issued by this server');
  if (token.of === of) return token;
  throw badRequest('continue key is not valid: it belongs to another collection, namespace or selector');
}

function parsed(text: string): ContinueToken | undefined {
  try {
    const { v, rv, start, of } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
    const versionOk = typeof rv === 'number' && Number.isSafeInteger(rv) && (rv > 0 || rv === INCONSISTENT);
    if (v !== FORM || !versionOk || typeof start !== 'string' || start === '' || typeof of !== 'string')
      return undefined;
    return { revision: rv, start, of };
  } catch {
    return undefined; // not ours
  }
}
