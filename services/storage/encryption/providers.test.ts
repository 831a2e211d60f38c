import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { aesCbc, aesGcm } from './aes.js';
import { SOURCE, decodeEnvelope, encodeEnvelope, openSealed, sealWithSeed, wrongEnvelope } from './kms/envelope.js';
import { secretbox } from './secretbox.js';
import {
  IDENTITY,
  providerChain,
  UnreadableValue,
  type Cipher,
  type PlainValue,
  type Provider,
} from './transformer.js';

const WORD = 'k8s:enc:';
const KEY = '/registry/core/secrets/default/a';
const SECRET = Buffer.from('0123456789abcdef0123456789ABCDEF');
const PLAIN = 'a value at rest';

/** What another server of this API has made of PLAIN, with SECRET, for KEY. */
const MADE = {
  aescbc: '748c287b7b3e01f0f6e9e1b7518e927c0804275d48ec233fb754158c2b33a57e',
  aesgcm: 'b9954fbd409c0aee470b508bd87f944d52776e0a59ffec124ed69b9f34ac4de2d3553a4667f6ebc2bfce94',
  secretbox:
    'd45c439557d27b9af3d13fcc021bdbfbab4cd8d5165e853d8b3bb6a3670e0d6bef5d7ffd0e8d63d4b1371862abe6be67c2e40412fbbf2b',
  seed: 'e5d4b4e3e7375976ad1072bdd23bc1d80a79694ba4b444d1a9e08e62e40fe92e57bacfe7775ed0b65ce2044f3c0def9ee53ae0bad4103d7a5e50da05994ee2fa289b1d837538e352424349',
};
/** The envelopes in which it has stored them. */
const ENVELOPES = {
  seed: `0a4b${MADE.seed}12056b65792d311a077772617070656422140a0f6b6d732e6578616d706c652e636f6d1201312801`,
  key: `0a2b${MADE.aesgcm}12056b65792d311a0777726170706564`,
};

const seeded = (secret: Buffer): Cipher => ({
  seal: (key, plain) => sealWithSeed(secret, key, plain),
  open: (key, data) => openSealed(secret, key, { ...BARE, data, sourceType: SOURCE.seed }),
});
const BARE = { keyId: 'k', source: Buffer.from('s'), annotations: new Map<string, Buffer>() };

const CIPHERS: readonly (readonly [
  name: keyof typeof MADE,
  of: (secret: Buffer) => Cipher,
  sizes: readonly number[],
])[] = [
  ['aescbc', aesCbc, [16, 24, 32]],
  ['aesgcm', aesGcm, [16, 24, 32]],
  ['secretbox', secretbox, [32]],
  ['seed', seeded, [32]],
];
/** Those that notice every change of a value, and those that notice its place. */
const AUTHENTICATED = new Set(['aesgcm', 'secretbox', 'seed']);
const PLACED = new Set(['aesgcm', 'seed']);

const read = (cipher: Cipher, sealed: Buffer, key = KEY): string => (cipher.open(key, sealed) as Buffer).toString();

for (const [name, of, sizes] of CIPHERS) {
  describe(name, () => {
    const cipher = of(SECRET);

    it('reads what another server has written', () => {
      assert.equal(read(cipher, Buffer.from(MADE[name], 'hex')), PLAIN);
    });

    it('reads whatever it has written, with keys of every size, and never writes the same twice', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...sizes), (bytes, size) => {
          const one = of(randomBytes(size));
          const plain = Buffer.from(bytes);
          const [first, second] = [one.seal(KEY, plain) as Buffer, one.seal(KEY, plain) as Buffer];
          assert.deepEqual(one.open(KEY, first), plain);
          assert.notDeepEqual(first, second);
          assert.ok(plain.length < 8 || !first.includes(plain));
        }),
      );
    });

    it('refuses what is cut short, to the last byte', () => {
      const sealed = cipher.seal(KEY, Buffer.from(PLAIN)) as Buffer;
      for (let length = 0; length < sealed.length; length++) {
        assert.throws(() => cipher.open(KEY, sealed.subarray(0, length)), UnreadableValue, `${length} bytes`);
      }
    });

    if (AUTHENTICATED.has(name)) {
      it('refuses another key, and a value with one bit changed', () => {
        const sealed = cipher.seal(KEY, Buffer.from(PLAIN)) as Buffer;
        assert.throws(() => of(randomBytes(32)).open(KEY, sealed), UnreadableValue);
        for (let i = 0; i < sealed.length; i++) {
          const changed = Buffer.from(sealed);
          changed[i] = (changed[i] ?? 0) ^ 1;
          assert.throws(() => cipher.open(KEY, changed), UnreadableValue, `byte ${i}`);
        }
      });
    }

    it(PLACED.has(name) ? 'refuses a value of another place' : 'reads a value wherever it lies', () => {
      const sealed = cipher.seal(KEY, Buffer.from(PLAIN)) as Buffer;
      if (PLACED.has(name)) assert.throws(() => cipher.open(`${KEY}b`, sealed), UnreadableValue);
      else assert.equal(read(cipher, sealed, `${KEY}b`), PLAIN);
    });

    it('says nothing of value or key when it fails', () => {
      for (const value of [randomBytes(64), randomBytes(3)]) {
        try {
          void cipher.open(KEY, value);
        } catch (err) {
          const { message } = err as Error;
          for (const secret of [SECRET, value]) {
            for (const form of ['hex', 'base64', 'latin1'] as const)
              assert.ok(!message.includes(secret.toString(form)));
          }
        }
      }
    });
  });
}

describe('aescbc', () => {
  it('writes with a first block of its own each time, so that equal values look different', () => {
    const cipher = aesCbc(SECRET);
    const heads = Array.from({ length: 50 }, () =>
      (cipher.seal(KEY, Buffer.from(PLAIN)) as Buffer).toString('hex', 0, 16),
    );
    assert.equal(new Set(heads).size, 50);
  });
});

describe('envelopes of a key management service', () => {
  for (const type of ['seed', 'key'] as const) {
    it(`reads those that another server has written with a ${type}, and writes the same bytes`, () => {
      const bytes = Buffer.from(ENVELOPES[type], 'hex');
      const envelope = decodeEnvelope(bytes);
      const { keyId, source, sourceType, annotations } = envelope;
      assert.deepEqual([keyId, String(source), sourceType], ['key-1', 'wrapped', SOURCE[type]]);
      assert.deepEqual([...annotations], type === 'seed' ? [['kms.example.com', Buffer.from('1')]] : []);
      assert.equal(String(openSealed(SECRET, KEY, envelope)), PLAIN);
      assert.deepEqual(encodeEnvelope(envelope), bytes);
    });
  }

  it('reads whatever it has written', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 }).map((a) => Buffer.from(a));
    const names = fc.stringMatching(/^[a-z]{1,5}\.[a-z]{1,5}$/);
    fc.assert(
      fc.property(
        bytes,
        fc.string({ minLength: 1, maxLength: 50 }),
        bytes,
        fc.dictionary(names, bytes),
        fc.constantFrom(0, 1),
        (data, keyId, source, notes, sourceType) => {
          fc.pre(Buffer.from(keyId).toString() === keyId);
          const envelope = { data, keyId, source, annotations: new Map(Object.entries(notes)), sourceType };
          assert.deepEqual(decodeEnvelope(encodeEnvelope(envelope)), envelope);
        },
      ),
    );
  });

  it('refuses bytes that are none, without a fault of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeEnvelope(Buffer.from(bytes));
        } catch (err) {
          assert.ok(err instanceof UnreadableValue);
        }
      }),
    );
    assert.throws(() => decodeEnvelope(Buffer.alloc(0)), UnreadableValue);
    const unknown = { ...BARE, data: Buffer.from(MADE.seed, 'hex'), sourceType: 2 };
    assert.throws(() => openSealed(SECRET, KEY, unknown), /an unknown type: 2/);
    const short = { ...BARE, data: Buffer.alloc(31), sourceType: SOURCE.seed };
    assert.throws(() => openSealed(SECRET, KEY, short), /shorter/);
  });

  const wrong: readonly (readonly [string, Partial<typeof BARE>, RegExp | undefined])[] = [
    ['what a service may say', {}, undefined],
    ['no key ID', { keyId: '' }, /key_id/],
    ['a key ID of a kilobyte', { keyId: 'x'.repeat(1024) }, undefined],
    ['a longer key ID', { keyId: 'x'.repeat(1025) }, /key_id/],
    ['no ciphertext', { source: Buffer.alloc(0) }, /ciphertext/],
    ['a ciphertext of a kilobyte', { source: Buffer.alloc(1024) }, undefined],
    ['a longer ciphertext', { source: Buffer.alloc(1025) }, /ciphertext/],
    ['an annotation without a domain', { annotations: new Map([['x', Buffer.alloc(1)]]) }, /domain names/],
    ['annotations of 32 KB', { annotations: new Map([['a.b', Buffer.alloc(32 * 1024 - 3)]]) }, undefined],
    ['larger annotations', { annotations: new Map([['a.b', Buffer.alloc(32 * 1024 - 2)]]) }, /annotations/],
  ];
  for (const [what, parts, why] of wrong) {
    it(`${why === undefined ? 'takes' : 'refuses'} ${what}`, () => {
      const said = wrongEnvelope({ ...BARE, ...parts });
      if (why === undefined) assert.equal(said, undefined);
      else assert.match(said ?? '', why);
    });
  }
});

describe('providerChain()', () => {
  const one: Provider = { prefix: `${WORD}aescbc:v1:one:`, cipher: aesCbc(SECRET) };
  const two: Provider = { prefix: `${WORD}aesgcm:v1:two:`, cipher: aesGcm(SECRET) };
  const plain = Buffer.from(PLAIN);
  const stored = (p: Provider): Buffer => providerChain(WORD, [p]).toStore(KEY, plain) as Buffer;
  const from = (providers: readonly Provider[], bytes: Buffer): PlainValue =>
    providerChain(WORD, providers).fromStore(KEY, bytes) as PlainValue;

  it('writes what begins with the name of the first provider', () => {
    assert.ok(stored(one).toString('latin1').startsWith('k8s:enc:aescbc:v1:one:'));
    assert.equal(providerChain(WORD, [IDENTITY, one]).toStore(KEY, plain), plain);
  });

  it('reads what each of them wrote, and says whether it was the first', () => {
    const bytes = [stored(one), stored(two), plain];
    const stale = (providers: readonly Provider[]): boolean[] =>
      bytes.map((b) => {
        const opened = from(providers, b);
        assert.deepEqual(opened.value, plain);
        return opened.stale;
      });
    assert.deepEqual(stale([one, two, IDENTITY]), [false, true, true]);
    assert.deepEqual(stale([two, one, IDENTITY]), [true, false, true]);
    assert.deepEqual(stale([IDENTITY, one, two]), [true, true, false]);
  });

  it('does not read what none of them has written, nor what is plain without the provider for it', () => {
    assert.throws(() => from([one, IDENTITY], stored(two)), /no matching prefix found/);
    assert.throws(() => from([one, two], plain), /no matching prefix found/);
    assert.throws(() => from([one], Buffer.alloc(0)), /no matching prefix found/);
  });

  it('tries all keys of one name', () => {
    const other = { ...two, cipher: aesGcm(randomBytes(32)) };
    assert.deepEqual(from([other, two], stored(two)), { value: plain, stale: true });
    assert.throws(() => from([other], stored(two)), /not written with this key/);
  });

  it('knows what is to be left as it is', () => {
    assert.ok(providerChain(WORD, [IDENTITY, one]).asIs(plain));
    assert.ok(!providerChain(WORD, [one, IDENTITY]).asIs(plain));
    assert.ok(!providerChain(WORD, [IDENTITY]).asIs(stored(one)));
    assert.ok(providerChain(WORD, [IDENTITY]).asIs(Buffer.from('k8s\0protobuf')));
  });

  it('tells of each transformation, and of none that does nothing', () => {
    const told: unknown[] = [];
    const chain = providerChain(WORD, [one, two], ({ direction, prefix, ok }) => told.push([direction, prefix, ok]));
    void chain.fromStore(KEY, chain.toStore(KEY, plain) as Buffer);
    assert.throws(() => chain.fromStore(KEY, stored(two).subarray(0, 30)));
    assert.throws(() => chain.fromStore(KEY, Buffer.from(`${WORD}other`)));
    void providerChain(WORD, [IDENTITY], () => told.push('plain')).toStore(KEY, plain);
    assert.deepEqual(told, [
      ['to_storage', one.prefix, true],
      ['from_storage', one.prefix, true],
      ['from_storage', two.prefix, false],
      ['from_storage', '', false],
    ]);
  });
});
