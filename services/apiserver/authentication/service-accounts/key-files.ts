import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { algorithmsOf, keyId } from '../../../machinery/jwt/signing-keys.js';
import { FileChanges } from '../../../machinery/files/file-changes.js';
import type { Log } from '../../../machinery/log/log.js';
import type { VerifyingKey } from '../jwt/signatures.js';

export interface KeyFileOptions {
  readonly serviceAccountKeyFile: readonly string[];
  readonly serviceAccountSigningKeyFile: string;
  readonly tlsKeyFile: string;
}

/** Keys that may become others while the server runs. */
export interface VerifyingKeys {
  /** Another array after each change. */
  readonly current: readonly VerifyingKey[];
  /** The id of the key that signs tokens here; undefined: none does. */
  readonly signing?: string | undefined;
  /** Looks at the files at once, as for a token that is new. */
  look(): void;
}

/** The keys of `verifyingKeys`, which follow their files. @throws {Error} as it does */
export function followedKeys(o: KeyFileOptions, log: Pick<Log, 'info' | 'warn'>, signal: AbortSignal): VerifyingKeys {
  const signing = o.serviceAccountSigningKeyFile === '' ? o.tlsKeyFile : o.serviceAccountSigningKeyFile;
  const changes = new FileChanges(o.serviceAccountKeyFile.length === 0 ? [signing] : o.serviceAccountKeyFile);
  let current = verifyingKeys(o);
  const read = (): void => {
    const next = verifyingKeys(o);
    if (next.length === 0 && current.length > 0) throw new Error('There is no key any more');
    current = next;
  };
  const rereading = { what: 'keys that verify tokens', read, log };
  signal.addEventListener('abort', changes.follow(rereading), { once: true });
  const signer = followedSigner(o.serviceAccountSigningKeyFile, signal);
  return {
    get current() {
      return current;
    },
    get signing() {
      return signer();
    },
    look: () => changes.reread(rereading),
  };
}

/** The id of the key in a file, as it is now. Who signs with it tells of what is wrong with it. */
function followedSigner(file: string, signal: AbortSignal): () => string | undefined {
  if (file === '') return () => undefined;
  const read = (): string | undefined => {
    try {
      return keysOf(file, 'sign')[0]?.id;
    } catch {
      return undefined;
    }
  };
  const changes = new FileChanges([file]);
  let id = read();
  signal.addEventListener(
    'abort',
    changes.watch(SIGNER_EVERY_MS, () => (id = read())),
    { once: true },
  );
  return () => id;
}

/** A token that names none of them is tried with each. */
const MAX_KEYS = 64;
const SIGNER_EVERY_MS = 5_000;

/**
 * The keys of the files that are named, else the key that tokens are signed with, else that of the serving certificate
 * (spec 2, 5.4), where it is of a type that signs tokens.
 *
 * @returns Each key once. Empty: no token can be verified.
 * @throws {Error} In one line, naming the file that cannot be used.
 */
export function verifyingKeys(o: KeyFileOptions): readonly VerifyingKey[] {
  const named = o.serviceAccountKeyFile;
  if (named.length === 0) {
    const signing = o.serviceAccountSigningKeyFile;
    return signing === '' ? servingKey(o.tlsKeyFile) : keysOf(signing, 'sign');
  }
  const byId = new Map(named.flatMap((file) => keysOf(file, 'verify')).map((key) => [key.id, key]));
  if (byId.size > MAX_KEYS) throw new Error(`Cannot verify tokens with ${byId.size} keys: ${MAX_KEYS} are the most`);
  return [...byId.values()];
}

function keysOf(file: string, purpose: 'sign' | 'verify'): readonly VerifyingKey[] {
  try {
    return keysIn(readFileSync(file, 'utf8'));
  } catch (err) {
    throw new Error(`Cannot use ${file} to ${purpose} tokens: ${(err as Error).message}`, { cause: err });
  }
}

/** The key of the serving certificate, if it is of a type that signs tokens. */
function servingKey(file: string): readonly VerifyingKey[] {
  if (file === '') return [];
  try {
    return keysIn(readFileSync(file, 'utf8'));
  } catch {
    return []; // the listener says what is wrong with the file
  }
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;
/** Others, such as parameters of curves, may lie beside keys. */
const HOLDS_KEY = /(?:KEY|^CERTIFICATE)$/;

/**
 * Public keys, private keys, of which the public half is taken, and keys of certificates.
 *
 * @throws {Error} In one line, when there is none, or one that cannot be used.
 */
export function keysIn(pem: string): readonly VerifyingKey[] {
  const blocks = [...pem.matchAll(BLOCK)].filter(([, label = '']) => HOLDS_KEY.test(label));
  if (blocks.length === 0) throw new Error('there is no key in PEM');
  return blocks.map(([block]) => {
    const key = publicKey(block);
    return { id: keyId(key), key, algorithms: algorithmsOf(key) };
  });
}

function publicKey(block: string): KeyObject {
  try {
    return createPublicKey(block);
  } catch {
    throw new Error('there is a key that cannot be read'); // what OpenSSL says of it may quote the key
  }
}
