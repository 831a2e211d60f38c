import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followedKeys, keysIn, verifyingKeys } from './key-files.js';
import { keyId } from '../../../machinery/jwt/signing-keys.js';

const ec = (namedCurve = 'P-256'): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = (modulusLength = 2048): KeyObject => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1' | 'spki'): string =>
  key.export({ type, format: 'pem' } as { type: 'pkcs8'; format: 'pem' }).toString();
const publicPem = (key: KeyObject): string => pem(createPublicKey(key), 'spki');

const R = rsa();
const E = ec();

describe('keysIn()', () => {
  for (const [what, text, key] of [
    ['a public key', publicPem(E), E],
    ['a public RSA key of the older form', pem(createPublicKey(R), 'pkcs1'), R],
    ['a private key', pem(R, 'pkcs8'), R],
    ['a private RSA key of the older form', pem(R, 'pkcs1'), R],
    ['a private EC key of the older form', pem(E, 'sec1'), E],
    ['a key after the parameters of its curve', `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem(E, 'sec1')}`, E], // prettier-ignore
    ['a key among words', `This is it:\r\n${publicPem(E)}\nThat was it.`, E],
  ] as const) {
    it(`takes the public half of ${what}`, () => {
      const [only, ...more] = keysIn(text);
      assert.deepEqual(more, []);
      assert.equal(only?.key.type, 'public');
      assert.equal(only.id, keyId(key));
    });
  }

  it('takes the key of a certificate', () => {
    const dir = mkdtempSync(join(tmpdir(), 'keys-'));
    try {
      writeFileSync(join(dir, 'key'), pem(E, 'pkcs8'));
      const cert = execFileSync('openssl', ['req', '-x509', '-key', join(dir, 'key'), '-subj', '/CN=x', '-days', '1']);
      assert.deepEqual(
        keysIn(cert.toString()).map(({ id }) => id),
        [keyId(E)],
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('takes all keys of a text', () => {
    assert.deepEqual(
      keysIn(publicPem(R) + pem(E, 'pkcs8') + publicPem(ec('P-521'))).map(({ algorithms }) => algorithms[0]),
      ['RS256', 'ES256', 'ES512'],
    );
  });

  const encrypted = E.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
  for (const [what, text, message] of [
    ['nothing', '', /there is no key in PEM/],
    ['something else', 'nothing', /there is no key in PEM/],
    ['half a block', publicPem(E).slice(0, -10), /there is no key in PEM/],
    ['what is no key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /cannot be read/],
    ['an encrypted key', encrypted, /cannot be read/],
    ['a key of another type', publicPem(generateKeyPairSync('ed25519').privateKey), /type ed25519 cannot sign/],
    ['another curve', publicPem(ec('secp256k1')), /type secp256k1 cannot sign/],
    ['a short RSA key', publicPem(rsa(1024)), /less than 2048 bits/],
    ['a bad key behind a good one', publicPem(E) + publicPem(rsa(1024)), /less than 2048 bits/],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => keysIn(text), message));
  }
});

describe('verifyingKeys()', () => {
  let dir: string;
  before(() => (dir = mkdtempSync(join(tmpdir(), 'keys-'))));
  after(() => rmSync(dir, { recursive: true }));

  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const ids = (files: readonly string[], signing = '', tls = ''): readonly string[] =>
    verifyingKeys({ serviceAccountKeyFile: files, serviceAccountSigningKeyFile: signing, tlsKeyFile: tls }).map(
      ({ id }) => id,
    );

  it('takes every key of every file, each once', () => {
    const one = file('one', publicPem(E) + publicPem(R));
    const two = file('two', pem(R, 'pkcs8'));
    assert.deepEqual(ids([one, two]), [keyId(E), keyId(R)]);
  });

  it('follows files that change, and keeps what it has while they cannot be used', () => {
    const signing = file('followed', pem(E, 'pkcs8'));
    const said: string[] = [];
    const log = { info: (it: string) => void said.push(it), warn: (it: string) => void said.push(it) };
    const end = new AbortController();
    const o = { serviceAccountKeyFile: [], serviceAccountSigningKeyFile: '', tlsKeyFile: signing };
    for (const given of [
      o,
      { ...o, serviceAccountSigningKeyFile: signing },
      { ...o, serviceAccountKeyFile: [signing], tlsKeyFile: '' },
    ]) {
      // prettier-ignore
      file('followed', pem(E, 'pkcs8'));
      const keys = followedKeys(given, log, end.signal);
      const present = (): readonly string[] => keys.current.map(({ id }) => id);
      file('followed', 'half of a');
      keys.look();
      assert.deepEqual(present(), [keyId(E)]);
      file('followed', pem(R, 'pkcs8'));
      keys.look();
      keys.look();
      assert.deepEqual(present(), [keyId(R)]);
    }
    end.abort();
    assert.deepEqual(said, Array.from({ length: 3 }, () => ['Changed files cannot be used yet', 'Changed files are used']).flat()); // prettier-ignore
  });

  it('takes the signing key where no file is named, and else the one of the serving certificate', () => {
    const [signing, tls] = [file('signing', pem(R, 'pkcs8')), file('tls', pem(E, 'pkcs8'))];
    assert.deepEqual(ids([file('named', publicPem(E))], signing, tls), [keyId(E)]);
    assert.deepEqual(ids([], signing, tls), [keyId(R)]);
    assert.deepEqual(ids([], '', tls), [keyId(E)]);
    assert.deepEqual(ids([]), []);
  });

  it('has none when the key of the serving certificate cannot sign tokens', () => {
    const tls = file('tls', pem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'));
    assert.deepEqual(ids([], '', tls), []);
    assert.deepEqual(ids([], '', join(dir, 'nowhere')), []);
  });

  it('names the file that it cannot use', () => {
    assert.throws(() => ids([join(dir, 'nowhere')]), /Cannot use \S+nowhere to verify tokens: ENOENT/);
    assert.throws(() => ids([file('bad', 'x')]), /Cannot use \S+bad to verify tokens: there is no key in PEM$/);
  });

  it('says nothing of what is in a key', () => {
    const secret = pem(E, 'pkcs8').replace('MIG', 'AAA');
    assert.throws(
      () => ids([file('broken', secret)]),
      (err: Error) => !err.message.includes(secret.slice(40, 60)) && /cannot be read$/.test(err.message),
    );
  });

  it('takes no more keys than a token may be tried with', () => {
    const keys = Array.from({ length: 65 }, () => publicPem(ec()));
    assert.equal(ids([file('most', keys.slice(1).join(''))]).length, 64);
    assert.throws(() => ids([file('many', keys.join(''))]), /65 keys: 64 are the most/);
  });
});
