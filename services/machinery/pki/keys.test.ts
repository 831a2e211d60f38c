import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { traditionalPem } from './keys.js';

const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('traditionalPem()', () => {
  for (const [kind, head, privateKey] of [
    ['an elliptic curve', 'EC PRIVATE KEY', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ['RSA', 'RSA PRIVATE KEY', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['Ed25519', 'PRIVATE KEY', generateKeyPairSync('ed25519').privateKey],
  ] as const) {
    it(`writes a key of ${kind} as ${head}`, () => {
      const written = traditionalPem(pkcs8(privateKey));
      assert.ok(written.startsWith(`-----BEGIN ${head}-----\n`), written.slice(0, 40));
      assert.equal(pkcs8(createPrivateKey(written)), pkcs8(privateKey), 'another key');
      assert.equal(traditionalPem(written), written);
    });
  }
  it('refuses what is no key', () => assert.throws(() => traditionalPem('no key')));
});
