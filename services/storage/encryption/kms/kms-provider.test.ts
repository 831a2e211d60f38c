import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { isStoreError } from '../../store.js';
import { UnreadableValue, type PlainValue } from '../transformer.js';
import { decodeEnvelope, encodeEnvelope, SOURCE } from './envelope.js';
import { guardedKms } from './guarded-kms.js';
import { KmsError, type EncryptedKey, type KmsClient } from './kms-client.js';
import { KmsProvider } from './kms-provider.js';

const KEY = '/registry/core/secrets/default/a';
const PLAIN = Buffer.from('a value at rest');

/** A service that turns keys around, and notes what it is asked. */
class Service implements KmsClient {
  keyId = 'k1';
  healthz = 'ok';
  version = 'v2';
  failing: KmsError | undefined;
  encrypted: Partial<EncryptedKey> = {};
  readonly asked: string[] = [];

  #ask(what: string): void {
    this.asked.push(what);
    if (this.failing !== undefined) throw this.failing;
  }

  async status() {
    await turn();
    this.#ask('status');
    return { version: this.version, healthz: this.healthz, keyId: this.keyId };
  }

  async encrypt(plaintext: Buffer): Promise<EncryptedKey> {
    await turn();
    this.#ask('encrypt');
    const source = Buffer.from(plaintext).reverse();
    return { source, keyId: this.keyId, annotations: new Map([['a.b', Buffer.from('1')]]), ...this.encrypted };
  }

  async decrypt({ source, annotations }: EncryptedKey): Promise<Buffer> {
    await turn();
    this.#ask('decrypt');
    assert.equal(String(annotations.get('a.b')), '1');
    return Buffer.from(source).reverse();
  }

  close(): void {
    this.asked.push('close');
  }
}

describe('KmsProvider', () => {
  let nowMs = 0;
  let service: Service;
  const logged: unknown[] = [];
  const log = {
    info: (...args: unknown[]) => logged.push(args),
    warn: (...args: unknown[]) => logged.push(args),
  };
  const opened = async (client: KmsClient = service): Promise<KmsProvider> => {
    const provider = new KmsProvider({ name: 'p', client, log, nowMs: () => nowMs });
    await provider.poll();
    return provider;
  };
  beforeEach(() => {
    nowMs = 1;
    logged.length = 0;
    service = new Service();
  });

  it('asks for one key, and encrypts any number of values with it', async () => {
    const provider = await opened();
    assert.ok(provider.well);
    const values = Array.from({ length: 100 }, () => provider.seal(KEY, PLAIN));
    for (const value of values) assert.deepEqual(provider.open(KEY, value), { value: PLAIN, stale: false });
    assert.deepEqual(service.asked, ['status', 'encrypt']);
    assert.equal(decodeEnvelope(values[0] ?? PLAIN).sourceType, SOURCE.seed);
  });

  it('has keys of other servers decrypted once, also when many values are read at the same time', async () => {
    const [writer, reader] = [await opened(), await opened()];
    service.asked.length = 0;
    const values = Array.from({ length: 20 }, () => Promise.resolve(reader.open(KEY, writer.seal(KEY, PLAIN))));
    assert.deepEqual(
      await Promise.all(values),
      values.map(() => ({ value: PLAIN, stale: false })),
    );
    assert.deepEqual(reader.open(KEY, writer.seal(KEY, PLAIN)), { value: PLAIN, stale: false });
    assert.deepEqual(service.asked, ['decrypt']);
  });

  it('takes a new key when the service has one, and finds what the one before has written stale', async () => {
    const provider = await opened();
    const before = provider.seal(KEY, PLAIN);
    await provider.poll();
    assert.deepEqual(provider.open(KEY, before), { value: PLAIN, stale: false });
    service.keyId = 'k2';
    await provider.poll();
    assert.deepEqual(provider.open(KEY, before), { value: PLAIN, stale: true });
    const after = provider.seal(KEY, PLAIN);
    assert.deepEqual(provider.open(KEY, after), { value: PLAIN, stale: false });
    assert.equal(decodeEnvelope(after).keyId, 'k2');
    assert.notDeepEqual(decodeEnvelope(after).source, decodeEnvelope(before).source);
  });

  it('finds a value stale that was encrypted with the key itself', async () => {
    const provider = await opened();
    const envelope = decodeEnvelope(provider.seal(KEY, PLAIN));
    const secret = Buffer.from(envelope.source).reverse();
    const { aesGcm } = await import('../aes.js');
    const data = aesGcm(secret).seal(KEY, PLAIN) as Buffer;
    const old = encodeEnvelope({ ...envelope, data, sourceType: SOURCE.key });
    assert.deepEqual(await provider.open(KEY, old), { value: PLAIN, stale: true });
  });

  it('writes for three minutes without a status, no longer, and again after one', async () => {
    const provider = await opened();
    service.failing = new KmsError('Unavailable', 'no one is there');
    nowMs += 3 * 60_000;
    await provider.poll();
    assert.ok(!provider.well);
    const value = provider.seal(KEY, PLAIN);
    nowMs += 1;
    assert.throws(
      () => provider.seal(KEY, PLAIN),
      (err) => isStoreError(err, 'encryption'),
    );
    assert.deepEqual(provider.open(KEY, value), { value: PLAIN, stale: false });
    service.failing = undefined;
    await provider.poll();
    assert.deepEqual(provider.open(KEY, provider.seal(KEY, PLAIN)), { value: PLAIN, stale: false });
  });

  it('asks again for a key after an hour', async () => {
    const provider = await opened();
    const value = provider.seal(KEY, PLAIN);
    nowMs += 60 * 60_000 + 1;
    await provider.open(KEY, value);
    assert.deepEqual(service.asked, ['status', 'encrypt', 'decrypt']);
  });

  it('cannot read while the service is away, says how it failed and not what with, and reads when it is back', async () => {
    const value = (await opened()).seal(KEY, PLAIN);
    const reader = await opened();
    service.failing = new KmsError('DeadlineExceeded', 'the words of the service');
    await assert.rejects(
      async () => reader.open(KEY, value),
      (err) =>
        err instanceof UnreadableValue &&
        err.message === 'the key management service p did not decrypt its key: DeadlineExceeded',
    );
    service.failing = undefined;
    assert.deepEqual(await reader.open(KEY, value), { value: PLAIN, stale: false });
  });

  for (const [what, set] of [
    ['of another version', (s: Service) => (s.version = 'v1')],
    ['that is not ok', (s: Service) => (s.healthz = 'sick')],
    ['without a key', (s: Service) => (s.keyId = '')],
    ['with a key ID that is too long', (s: Service) => (s.keyId = 'x'.repeat(1025))],
    ['that encrypts into nothing', (s: Service) => (s.encrypted = { source: Buffer.alloc(0) })],
    ['that gives no key ID with a key', (s: Service) => (s.encrypted = { keyId: '' })],
  ] as const) {
    it(`does not take the word of a service ${what}`, async () => {
      set(service);
      const provider = await opened();
      assert.ok(!provider.well);
      assert.throws(() => provider.seal(KEY, PLAIN), /has given no key to encrypt with/);
    });
  }

  it('refuses a key of a wrong length, a value of another place, and one that was changed', async () => {
    const provider = await opened();
    const value = provider.seal(KEY, PLAIN);
    const envelope = decodeEnvelope(value);
    const short = encodeEnvelope({ ...envelope, source: Buffer.from('short') });
    await assert.rejects(async () => provider.open(KEY, short), /InvalidArgument/);
    assert.throws(() => provider.open(`${KEY}b`, value), UnreadableValue);
    const data = Buffer.from(envelope.data);
    data[40] = (data[40] ?? 0) ^ 1;
    assert.throws(() => provider.open(KEY, encodeEnvelope({ ...envelope, data })), UnreadableValue);
  });

  it('logs neither keys nor values', async () => {
    const provider = await opened();
    const envelope = decodeEnvelope(provider.seal(KEY, PLAIN));
    service.failing = new KmsError('Unavailable', 'away');
    await provider.poll();
    await Promise.resolve(provider.open(KEY, encodeEnvelope({ ...envelope, keyId: 'other' }))).catch(() => undefined);
    const text = JSON.stringify(logged);
    const secret = Buffer.from(envelope.source).reverse();
    for (const form of ['hex', 'base64'] as const) assert.ok(!text.includes(secret.toString(form)));
    assert.ok(!text.includes(String(PLAIN)));
  });

  it('leaves a service alone that does not answer, and asks again after a good status', async () => {
    const guarded = await guardedKms(service, { restMs: 3_600_000 });
    const value = (await opened()).seal(KEY, PLAIN);
    const reader = await opened(guarded);
    service.failing = new KmsError('DeadlineExceeded', 'late');
    const read = async (): Promise<PlainValue> => reader.open(KEY, value);
    for (let i = 0; i < 8; i++) await assert.rejects(read, UnreadableValue);
    const asked = service.asked.filter((what) => what === 'decrypt').length;
    assert.ok(asked < 6, `${asked} calls`);
    service.failing = undefined;
    await assert.rejects(read, /Unavailable/);
    await reader.poll();
    assert.deepEqual(await read(), { value: PLAIN, stale: false });
    reader.close();
  });

  it('asks on where a service refuses: that is an answer', async () => {
    const guarded = await guardedKms(service);
    const value = (await opened()).seal(KEY, PLAIN);
    const reader = await opened(guarded);
    service.failing = new KmsError('InvalidArgument', 'no');
    service.asked.length = 0;
    for (let i = 0; i < 8; i++) await assert.rejects(async () => reader.open(KEY, value), /InvalidArgument/);
    assert.equal(service.asked.length, 8);
    reader.close();
  });
});
