import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { StoreError } from '../../store.js';
import { UnreadableValue, type Cipher, type PlainValue } from '../transformer.js';
import {
  decodeEnvelope,
  encodeEnvelope,
  KEY_BYTES,
  openSealed,
  sealWithSeed,
  SOURCE,
  wrongEnvelope,
  type Envelope,
} from './envelope.js';
import { KmsError, type EncryptedKey, type KmsClient } from './kms-client.js';

export interface KmsProviderOptions {
  /** Of the provider, as the configuration has it. */
  readonly name: string;
  readonly client: KmsClient;
  readonly log: { warn(message: string, keys?: object): void; info(message: string, keys?: object): void };
  readonly observe?: KmsObserver;
  /** Milliseconds on a clock that only goes forward. */
  readonly nowMs?: () => number;
}

/** For metrics. Key IDs are given as they are. */
export interface KmsObserver {
  keyUsed(direction: 'from_storage' | 'to_storage', keyId: string): void;
  statusKey(keyId: string): void;
  invalidKeyId(why: 'empty' | 'too_long'): void;
  keyMade(seconds: number, ok: boolean): void;
  keysKept(count: number): void;
  keyMissed(): void;
}

/** A seed that was not confirmed by a status for this long is not written with: the service may have let go of its key. */
const SEED_MS = 3 * 60_000;
/** Between two questions for the status of a service that is well, and of one that is not. */
export const POLL_MS = { well: 60_000, unwell: 10_000 } as const;
/** Decrypted keys that are kept, and for how long: some 200 bytes each. There is one for each start of each server. */
const MAX_KEYS = 1_000;
const KEEP_KEYS_MS = 60 * 60_000;
const MAX_KEY_ID = 1024;

/** What values are written with. */
interface Seed extends EncryptedKey {
  readonly secret: Buffer;
  readonly uid: string;
}

/**
 * Envelope encryption: values are encrypted here, with a seed that the service has encrypted once and that lies encrypted
 * beside each value. The service is asked for its status by and by, for a new seed when its key is another one, and for
 * seeds of other servers and of before, once each.
 */
export class KmsProvider implements Cipher {
  readonly #o: KmsProviderOptions;
  readonly #nowMs: () => number;
  readonly #keys: LRUCache<string, Buffer>;
  readonly #asked = new Map<string, Promise<Buffer>>();
  #seed: Seed | undefined;
  #seedUntilMs = -Infinity;
  #well = false;
  #polling: Promise<void> | undefined;

  constructor(o: KmsProviderOptions) {
    this.#o = o;
    this.#nowMs = o.nowMs ?? ((): number => performance.now());
    this.#keys = new LRUCache({ max: MAX_KEYS, ttl: KEEP_KEYS_MS, perf: { now: this.#nowMs } });
  }

  get name(): string {
    return this.#o.name;
  }

  /** The last status was good, and there is a seed to write with. */
  get well(): boolean {
    return this.#well;
  }

  /** Asks for the status, and for a seed where one is due. Calls at the same time share one. Never rejects. */
  poll(): Promise<void> {
    return (this.#polling ??= this.#poll().finally(() => (this.#polling = undefined)));
  }

  close(): void {
    this.#o.client.close();
  }

  seal(key: string, plain: Buffer): Buffer {
    const seed = this.#seed;
    if (seed === undefined || this.#nowMs() > this.#seedUntilMs) {
      throw new StoreError('encryption', `the key management service ${this.name} has given no key to encrypt with`);
    }
    this.#o.observe?.keyUsed('to_storage', seed.keyId);
    return encodeEnvelope({ ...seed, data: sealWithSeed(seed.secret, key, plain), sourceType: SOURCE.seed });
  }

  open(key: string, sealed: Buffer): PlainValue | Promise<PlainValue> {
    const envelope = decodeEnvelope(sealed);
    const id = idOf(envelope);
    const known = this.#keys.get(id);
    if (known !== undefined) return this.#opened(known, key, envelope);
    return this.#ask(id, envelope).then((secret) => this.#opened(secret, key, envelope));
  }

  #opened(secret: Buffer, key: string, envelope: Envelope): PlainValue {
    const value = openSealed(secret, key, envelope);
    this.#o.observe?.keyUsed('from_storage', envelope.keyId);
    const seed = this.#seed;
    const stale = seed !== undefined && (envelope.keyId !== seed.keyId || envelope.sourceType !== SOURCE.seed);
    return { value, stale };
  }

  /** @throws {UnreadableValue} */
  #ask(id: string, key: EncryptedKey): Promise<Buffer> {
    const asked = this.#asked.get(id);
    if (asked !== undefined) return asked;
    this.#o.observe?.keyMissed();
    const asking = this.#decrypt(id, key).finally(() => this.#asked.delete(id));
    this.#asked.set(id, asking);
    return asking;
  }

  async #decrypt(id: string, key: EncryptedKey): Promise<Buffer> {
    const uid = randomUUID();
    try {
      const secret = await this.#o.client.decrypt(key, uid);
      if (secret.length !== KEY_BYTES) throw new KmsError('InvalidArgument', 'Decrypt: the key has a wrong length');
      this.#keep(id, secret);
      return secret;
    } catch (err) {
      this.#o.log.warn('A key of the store could not be decrypted', { provider: this.name, uid, err });
      const code = err instanceof KmsError ? err.code : 'Unknown';
      if (this.#well && err instanceof KmsError && err.isOutage) void this.poll();
      throw new UnreadableValue(`the key management service ${this.name} did not decrypt its key: ${code}`);
    }
  }

  #keep(id: string, secret: Buffer): void {
    this.#keys.set(id, secret);
    this.#o.observe?.keysKept(this.#keys.size);
  }

  async #poll(): Promise<void> {
    try {
      const keyId = await this.#statusKey();
      if (this.#seed?.keyId !== keyId) await this.#takeSeed(keyId);
      this.#seedUntilMs = this.#nowMs() + SEED_MS;
      if (!this.#well) this.#o.log.info('The key management service is well', { provider: this.name });
      this.#well = true;
    } catch (err) {
      this.#o.log.warn('The key management service is not well', { provider: this.name, err });
      this.#well = false;
    }
  }

  async #statusKey(): Promise<string> {
    const { version, healthz, keyId } = await this.#o.client.status();
    if (version !== 'v2') throw new Error(`The version of the service is ${JSON.stringify(version)}, not v2`);
    if (healthz !== 'ok') throw new Error(`The service says that it is not ok: ${JSON.stringify(healthz)}`);
    if (keyId === '' || Buffer.byteLength(keyId) > MAX_KEY_ID) {
      this.#o.observe?.invalidKeyId(keyId === '' ? 'empty' : 'too_long');
      throw new Error(`The service names no key that can be used; key_id has 1 to ${MAX_KEY_ID} bytes`);
    }
    this.#o.observe?.statusKey(keyId);
    return keyId;
  }

  async #takeSeed(statusKeyId: string): Promise<void> {
    const startedMs = this.#nowMs();
    const secret = randomBytes(KEY_BYTES);
    const uid = randomUUID();
    const made = (ok: boolean): void => this.#o.observe?.keyMade((this.#nowMs() - startedMs) / 1000, ok);
    try {
      const key = await this.#o.client.encrypt(secret, uid);
      const wrong = wrongEnvelope(key);
      if (wrong !== undefined) throw new Error(`The service gave an answer that cannot be used: ${wrong}`);
      this.#seed = { ...key, secret, uid };
      this.#keep(idOf(key), secret);
      made(true);
      this.#o.log.info('Values are encrypted with a new key', {
        provider: this.name,
        uid,
        asked: key.keyId === statusKeyId,
      });
    } catch (err) {
      made(false);
      throw err;
    }
  }
}

/** What a decrypted key is kept under: all that it depends on. */
function idOf({ source, keyId, annotations }: EncryptedKey): string {
  const hash = createHash('sha256');
  const parts = [keyId, source, ...[...annotations].sort(([a], [b]) => (a < b ? -1 : 1)).flat()];
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64');
}
