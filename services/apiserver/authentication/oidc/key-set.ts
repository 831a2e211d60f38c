import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { algorithmsOf, keyId } from '../../../machinery/jwt/signing-keys.js';
import type { VerifyingKey } from '../jwt/signatures.js';

/** A key of the provider. */
export interface ProviderKey extends VerifyingKey {
  /** The `kid` that the provider gives it. */
  readonly name: string | undefined;
}

/** The keys that a provider had at one time. */
export class KeySet {
  readonly keys: readonly ProviderKey[];
  readonly #ids: ReadonlySet<string>;
  readonly #content: string;

  constructor(keys: readonly ProviderKey[]) {
    this.keys = keys;
    this.#ids = new Set(keys.map(({ id }) => id));
    this.#content = keys
      .map(({ name, id, algorithms }) => JSON.stringify([name, id, algorithms]))
      .sort()
      .join('\n');
  }

  /** @param id Of the key itself. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Those that may have signed a token whose header names this one; none is named: any of them. */
  named(name: string | undefined): readonly ProviderKey[] {
    return name === undefined ? this.keys : this.keys.filter((key) => key.name === name);
  }

  equals(other: KeySet | undefined): boolean {
    return other !== undefined && this.#content === other.#content;
  }
}

export interface ReadKeys {
  readonly keys: KeySet;
  /** One line for each key for signatures that is not used, with why. */
  readonly unusable: readonly string[];
}

/** A token that names none of them is tried with each. */
const MAX_KEYS = 64;

/**
 * Reads a set of keys (RFC 7517, 5). Keys for other uses, of other kinds and for other algorithms than the allowed ones
 * are left out, as section 5 there wants it; so are keys that are too weak.
 *
 * @throws {Error} In one line, when it is none, or holds too many.
 */
export function readKeySet(document: unknown, allowed: ReadonlySet<string>): ReadKeys {
  const members = isJsonObject(document) ? getOwn(document, 'keys') : undefined;
  if (!Array.isArray(members)) throw new Error('is no set of keys');
  if (members.length > MAX_KEYS) throw new Error(`holds ${members.length} keys: ${MAX_KEYS} are the most`);
  const keys: ProviderKey[] = [];
  const unusable: string[] = [];
  for (const member of members as readonly unknown[]) {
    if (!isJsonObject(member) || !isForSignatures(member)) continue;
    try {
      const key = providerKey(member, allowed);
      if (key !== undefined) keys.push(key);
    } catch (err) {
      unusable.push(`${shown(getOwn(member, 'kid'))}: ${(err as Error).message}`);
    }
  }
  return { keys: new KeySet(keys), unusable };
}

type Member = Readonly<Record<string, unknown>>;

function isForSignatures(member: Member): boolean {
  const [use, operations, kid] = ['use', 'key_ops', 'kid'].map((name) => getOwn(member, name));
  if (kid !== undefined && typeof kid !== 'string') return false;
  if (use !== undefined && use !== 'sig') return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}

/** The members that make up a public key (RFC 7518, 6). Others, such as those of a private one, are not looked at. */
const PUBLIC = new Map([
  ['RSA', ['kty', 'n', 'e']],
  ['EC', ['kty', 'crv', 'x', 'y']],
]);

/** undefined: nothing that it signs is taken. @throws {Error} For one that cannot be read, or is too weak. */
function providerKey(member: Member, allowed: ReadonlySet<string>): ProviderKey | undefined {
  const names = PUBLIC.get(String(getOwn(member, 'kty')));
  if (names === undefined) return undefined;
  const key = publicKey(Object.fromEntries(names.map((name) => [name, getOwn(member, name)])));
  const [alg, kid] = [getOwn(member, 'alg'), getOwn(member, 'kid')];
  const [first, ...others] = algorithmsOf(key).filter((it) => allowed.has(it) && (alg === undefined || alg === it));
  if (first === undefined) return undefined;
  return { name: kid as string | undefined, id: keyId(key), key, algorithms: [first, ...others] };
}

function publicKey(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new Error('the key cannot be read');
  }
}

/** The provider's name of a key, short enough for a log. */
const shown = (kid: unknown): string =>
  typeof kid === 'string' ? JSON.stringify(kid.slice(0, 64)) : 'a key without a name';
