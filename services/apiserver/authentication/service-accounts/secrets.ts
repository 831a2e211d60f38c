import { hash, timingSafeEqual } from 'node:crypto';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import type { CachedObject } from '../../cache/cached-object.js';

/** Texts that a client must not learn are compared, and kept, as their digests. */
export const digestOf = (text: string | Buffer): Buffer => hash('sha256', text, 'buffer');

/** The digest as text, to find something by. */
export const tokenId = (token: string): string => hash('sha256', token, 'base64');

/** Takes the same time whatever differs. */
export const sameDigest = (a: Buffer, b: Buffer): boolean => timingSafeEqual(a, b);

/** The decoded content of a Secret. */
export interface SecretParts {
  readonly type: string;
  /** undefined: there is none of that key. */
  readonly value: (key: string) => Buffer | undefined;
}

/** Parses the whole object: what is made of it should be kept beside it. */
export function secretParts(object: CachedObject): SecretParts {
  const { type, data } = object.parse() as { readonly type?: string; readonly data?: unknown };
  return {
    type: type ?? '',
    value: (key) => {
      const encoded = isJsonObject(data) ? getOwn(data, key) : undefined;
      return typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : undefined;
    },
  };
}
