import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { TestKey } from '../service-accounts/testing/tokens.js';
import { readKeySet, type KeySet } from './key-set.js';
import { jwkOf } from './testing/provider.js';

const ALL = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);
const K256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' });

const read = (keys: unknown, allowed: ReadonlySet<string> = ALL): KeySet => readKeySet({ keys }, allowed).keys;

describe('readKeySet()', () => {
  const rsa = TestKey.rsa();
  const ec = new TestKey();

  for (const [what, document] of [
    ['a list', []],
    ['null', null],
    ['nothing', {}],
    ['keys that are no list', { keys: {} }],
    ['keys that only a prototype has', Object.create({ keys: [] })],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => readKeySet(document, ALL), /is no set of keys/));
  }

  it('refuses too many', () => {
    const keys = Array.from({ length: 65 }, () => jwkOf(ec));
    assert.throws(() => read(keys), /holds 65 keys: 64 are the most/);
    assert.equal(read(keys.slice(1)).keys.length, 64);
  });

  const left: readonly (readonly [what: string, member: unknown, allowed?: string[]])[] = [
    ['what is no object', 'key'],
    ['null', null],
    ['a key for encryption', jwkOf(rsa, { use: 'enc' })],
    ['a key for another operation', jwkOf(rsa, { key_ops: ['encrypt'] })],
    ['a key whose operations are no list', jwkOf(rsa, { key_ops: 'verify' })],
    ['a shared secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'a', alg: 'HS256' }],
    ['an Edwards key', { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
    ['a kind that only a prototype has', { kty: 'constructor' }],
    ['a kind that is no text', { kty: { toString: 1 } }],
    ['a name that is no text', jwkOf(rsa, { kid: 7 })],
    ['a key for an algorithm of another kind', jwkOf(rsa, { alg: 'ES256' })],
    ['a key for the algorithm of a shared secret', jwkOf(rsa, { alg: 'HS256' })],
    ['a key for encryption by its algorithm', jwkOf(rsa, { alg: 'RSA-OAEP' })],
    ['a key for an algorithm that is not allowed', jwkOf(rsa, { alg: 'RS512' }), ['RS256']],
    ['a key none of whose algorithms is allowed', jwkOf(ec), ['RS256']],
  ];
  for (const [what, member, allowed = [...ALL]] of left) {
    it(`leaves out ${what}, and takes others`, () => {
      const beside = allowed.includes('ES256') ? ec : rsa;
      const { keys } = read([member, jwkOf(beside)], new Set(allowed));
      assert.deepEqual(keys.map(({ name }) => name), [beside.verifying.id]); // prettier-ignore
    });
  }

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  for (const [what, member, message] of [
    ['an RSA key of 1024 bits', { ...weak, kid: 'weak' }, /^"weak": an RSA key of less than 2048 bits cannot sign/],
    ['a key that is cut', jwkOf(ec, { y: 'AA', kid: 'cut' }), /^"cut": the key cannot be read$/],
    ['a key without its members', { kty: 'RSA' }, /^a key without a name: the key cannot be read$/],
    ['a key whose members are numbers', { kty: 'RSA', n: 1, e: 2 }, /the key cannot be read$/],
    ['a key on another curve', K256, /secp256k1 cannot sign tokens/],
    ['a key with a very long name', { kty: 'RSA', kid: 'x'.repeat(9_000) }, /^"x{64}": the key cannot be read$/],
  ] as const) {
    it(`tells of ${what}, and takes others`, () => {
      const { keys, unusable } = readKeySet({ keys: [member, jwkOf(ec)] }, ALL);
      assert.deepEqual([keys.keys.length, unusable.length], [1, 1]);
      assert.match(unusable[0]!, message);
    });
  }

  it('takes keys for what they may sign, and no more than is allowed', () => {
    const keys = [jwkOf(rsa), jwkOf(rsa, { alg: 'PS384', use: undefined }), jwkOf(ec, { key_ops: ['verify'] })];
    const algorithms = (allowed: ReadonlySet<string>): unknown => read(keys, allowed).keys.map((it) => it.algorithms);
    assert.deepEqual(algorithms(ALL), [['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'], ['PS384'], ['ES256']]);
    assert.deepEqual(algorithms(new Set(['RS256'])), [['RS256']]);
  });

  it('never takes the private half', () => {
    const [key] = read([{ ...rsa.privateKey.export({ format: 'jwk' }), kid: 'a' }]).keys;
    assert.equal(key!.key.type, 'public');
  });
});

describe('KeySet', () => {
  const [a, b] = [new TestKey(), new TestKey()];

  it('gives the keys of a name, and all where none is named', () => {
    const set = read([jwkOf(a, { kid: 'a' }), jwkOf(b, { kid: 'b' }), jwkOf(b, { kid: undefined })]);
    const ids = (name: string | undefined): string[] => set.named(name).map(({ id }) => id);
    assert.deepEqual(ids('a'), [a.verifying.id]);
    assert.deepEqual(ids('c'), []);
    assert.deepEqual(ids('__proto__'), []);
    assert.equal(ids(undefined).length, 3);
  });

  it('is the same in another order, and another with another name or algorithm', () => {
    const [one, two] = [jwkOf(a), jwkOf(b)];
    assert.ok(read([one, two]).equals(read([two, one])));
    for (const keys of [[one], [one, jwkOf(b, { kid: 'b' })], [one, two, two]]) {
      assert.ok(!read([one, two]).equals(read(keys)));
    }
    assert.ok(!read([]).equals(undefined));
    const rsa = TestKey.rsa();
    assert.ok(!read([jwkOf(rsa)]).equals(read([jwkOf(rsa, { alg: 'RS256' })])));
  });
});
