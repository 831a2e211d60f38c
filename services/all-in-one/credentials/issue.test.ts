import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { issueAuthority, issueLeaf, newKey, type Authority } from './issue.js';

const NOW = new Date();
const DAY_MS = 24 * 3_600_000;
const daysLeft = (cert: X509Certificate): number => Math.round((Date.parse(cert.validTo) - NOW.getTime()) / DAY_MS);

async function authorityWith(key: string): Promise<Authority> {
  return { key, cert: await issueAuthority({ key, commonName: 'test-ca', previous: undefined }, NOW) };
}
const leafOf = async (by: Authority, now = NOW): Promise<X509Certificate> => {
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const request = {
    key: await newKey(),
    organization: 'a:group',
    commonName: 'leaf',
    hosts,
    usage: 'serverAuth',
  } as const;
  return new X509Certificate(await issueLeaf(request, by, now));
};

describe('issueAuthority()', () => {
  it('makes an authority for ten years that has signed itself', async () => {
    const { cert, key } = await authorityWith(await newKey());
    const parsed = new X509Certificate(cert);
    assert.equal(parsed.ca, true);
    assert.equal(parsed.subject, 'CN=test-ca');
    assert.equal(parsed.checkPrivateKey(createPrivateKey(key)), true);
    assert.equal(parsed.verify(parsed.publicKey), true);
    assert.equal(daysLeft(parsed), 3650);
  });

  it('keeps name and key of the certificate before, so that what it signed stays good', async () => {
    const first = await authorityWith(await newKey());
    const leaf = await leafOf(first);
    const later = new Date(NOW.getTime() + DAY_MS);
    const second = await issueAuthority({ key: first.key, commonName: 'other', previous: first.cert }, later);
    const renewed = new X509Certificate(second);
    assert.equal(renewed.subject, 'CN=test-ca');
    assert.equal(leaf.checkIssued(renewed) && leaf.verify(renewed.publicKey), true);
    assert.notEqual(renewed.serialNumber, new X509Certificate(first.cert).serialNumber);
  });
});

describe('issueLeaf()', () => {
  it('makes a certificate for a year with the names, and no authority', async () => {
    const leaf = await leafOf(await authorityWith(await newKey()));
    assert.equal(leaf.ca, false);
    assert.equal(leaf.subject, 'O=a:group\nCN=leaf');
    assert.equal(leaf.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(daysLeft(leaf), 365);
  });

  it('gives each certificate a serial number of its own', async () => {
    const authority = await authorityWith(await newKey());
    const [one, two] = await Promise.all([leafOf(authority), leafOf(authority)]);
    assert.notEqual(one.serialNumber, two.serialNumber);
    assert.ok(one.serialNumber.length >= 28);
  });

  it('does not outlive its authority', async () => {
    const authority = await authorityWith(await newKey());
    const nearTheEnd = new Date(NOW.getTime() + 3500 * DAY_MS);
    assert.equal(daysLeft(await leafOf(authority, nearTheEnd)), 3650);
  });

  const brought = {
    'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'RSA 2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  };
  for (const [name, make] of Object.entries(brought)) {
    it(`signs with an authority on ${name}`, async () => {
      const key = make().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const authority = await authorityWith(key);
      const leaf = await leafOf(authority);
      assert.equal(leaf.verify(new X509Certificate(authority.cert).publicKey), true);
    });
  }

  it('refuses an authority whose key cannot sign certificates', async () => {
    const key = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await assert.rejects(authorityWith(key), { message: 'Cannot sign with a key of type x25519' });
  });
});
