import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyId } from './signing-keys.js';
import { fileSigner, tokenSigner } from './token-signer.js';

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = (modulusLength: number): KeyObject => generateKeyPairSync('rsa', { modulusLength }).privateKey;

const part = (text = ''): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

describe('tokenSigner()', () => {
  for (const [alg, hash, key] of [
    ['RS256', 'sha256', rsa(2048)],
    ['ES256', 'sha256', ec('P-256')],
    ['ES384', 'sha384', ec('P-384')],
    ['ES512', 'sha512', ec('P-521')],
  ] as const) {
    it(`signs with ${alg} what the public half verifies, and names the key`, async () => {
      const token = await tokenSigner(pem(key)).sign({ sub: 'ä' });
      const [header, claims, signature = '', ...more] = token.split('.');
      assert.deepEqual(more, []);
      const { kid, ...rest } = part(header) as { kid: string };
      assert.deepEqual(rest, { alg });
      assert.match(kid, /^[\w-]{43}$/);
      assert.deepEqual(part(claims), { sub: 'ä' });
      const verified = verify(
        hash,
        Buffer.from(`${header}.${claims}`),
        { key: createPublicKey(key), dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      );
      assert.ok(verified);
    });
  }

  it('reads the older forms of keys, and gives one key one name', async () => {
    const key = rsa(2048);
    const names = await Promise.all(
      [pem(key), key.export({ type: 'pkcs1', format: 'pem' }).toString()].map(
        async (text) => (await tokenSigner(text).sign({})).split('.')[0],
      ),
    );
    assert.equal(names[0], names[1]);
  });

  for (const [what, text, message] of [
    ['no key', 'nothing', /no private key/],
    ['a public key', createPublicKey(ec('P-256')).export({ type: 'spki', format: 'pem' }).toString(), /no private key/],
    ['a key of another type', pem(generateKeyPairSync('ed25519').privateKey), /type ed25519 cannot sign/],
    ['another curve', pem(ec('secp256k1')), /type secp256k1 cannot sign/],
    ['a short RSA key', pem(rsa(1024)), /less than 2048 bits/],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => tokenSigner(text), message));
  }
});

describe('fileSigner()', () => {
  const dir = mkdtempSync(join(tmpdir(), 'signer-'));
  after(() => rmSync(dir, { recursive: true }));

  it('signs with the key that lies in the file now, and with the last one while none does', async () => {
    const path = join(dir, 'key');
    const said: string[] = [];
    const log = { info: (it: string) => void said.push(it), warn: (it: string) => void said.push(it) };
    assert.throws(() => fileSigner(path, log), /Cannot use .*key to sign tokens/);
    const [first, second] = [ec('P-256'), rsa(2048)];
    writeFileSync(path, pem(first));
    const signer = fileSigner(path, log);
    const signedBy = async (): Promise<unknown> => (part((await signer.sign({})).split('.')[0]) as { kid: string }).kid;
    assert.equal(await signedBy(), keyId(first));
    writeFileSync(path, 'half');
    assert.deepEqual([await signedBy(), await signedBy()], [keyId(first), keyId(first)]);
    writeFileSync(path, pem(second));
    assert.equal(await signedBy(), keyId(second));
    assert.deepEqual(said, ['Changed files cannot be used yet', 'Changed files are used']);
  });
});
