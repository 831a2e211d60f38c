import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { issueAuthority, issueLeaf, newKey, type Authority } from './issue.js';
import { OpenSsl } from './testing/openssl.js';

const NOW = new Date();
const DAY_MS = 24 * 3_600_000;
const daysLeft = (cert: X509Certificate): number => Math.round((Date.parse(cert.validTo) - NOW.getTime()) / DAY_MS);

const authorityWith = (key: string): Authority => ({
  key,
  cert: issueAuthority({ key, commonName: 'test-ca', previous: undefined }, NOW),
});
const leafOf = async (by: Authority, now = NOW): Promise<X509Certificate> => {
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const request = {
    key: await newKey(),
    organization: 'a:group',
    commonName: 'leaf',
    hosts,
    usage: 'serverAuth',
  } as const;
  return new X509Certificate(issueLeaf(request, by, now));
};

describe('issueAuthority()', () => {
  it('makes an authority for ten years that has signed itself', async () => {
    const { cert, key } = authorityWith(await newKey());
    const parsed = new X509Certificate(cert);
    assert.equal(parsed.ca, true);
    assert.equal(parsed.subject, 'CN=test-ca');
    assert.equal(parsed.checkPrivateKey(createPrivateKey(key)), true);
    assert.equal(parsed.verify(parsed.publicKey), true);
    assert.equal(daysLeft(parsed), 3650);
  });

  it('keeps name and key of the certificate before, so that what it signed stays good', async () => {
    const first = authorityWith(await newKey());
    const leaf = await leafOf(first);
    const later = new Date(NOW.getTime() + DAY_MS);
    const second = issueAuthority({ key: first.key, commonName: 'other', previous: first.cert }, later);
    const renewed = new X509Certificate(second);
    assert.equal(renewed.subject, 'CN=test-ca');
    assert.equal(leaf.checkIssued(renewed) && leaf.verify(renewed.publicKey), true);
    assert.notEqual(renewed.serialNumber, new X509Certificate(first.cert).serialNumber);
  });
});

describe('issueLeaf()', () => {
  it('makes a certificate for a year with the names, and no authority', async () => {
    const leaf = await leafOf(authorityWith(await newKey()));
    assert.equal(leaf.ca, false);
    assert.equal(leaf.subject, 'O=a:group\nCN=leaf');
    assert.equal(leaf.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(daysLeft(leaf), 365);
  });

  it('gives each certificate a serial number of its own', async () => {
    const authority = authorityWith(await newKey());
    const [one, two] = await Promise.all([leafOf(authority), leafOf(authority)]);
    assert.notEqual(one.serialNumber, two.serialNumber);
    assert.ok(one.serialNumber.length >= 28);
  });

  it('does not outlive its authority', async () => {
    const authority = authorityWith(await newKey());
    const nearTheEnd = new Date(NOW.getTime() + 3500 * DAY_MS);
    assert.equal(daysLeft(await leafOf(authority, nearTheEnd)), 3650);
  });

  const openssl = new OpenSsl();
  after(() => {
    openssl.remove();
  });
  const pairs = {
    'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'P-521': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    'RSA 2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    Ed25519: () => generateKeyPairSync('ed25519'),
  };
  for (const [name, make] of Object.entries(pairs)) {
    it(`makes certificates on ${name} that openssl finds in order`, () => {
      const key = make().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const subjectKey = make().publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const first = authorityWith(key);
      const later = new Date(NOW.getTime() + 1000);
      const second = { key, cert: issueAuthority({ key, commonName: 'x', previous: first.cert }, later) };
      const request = { key: subjectKey, organization: 'é:中', commonName: 'a', hosts: ['a.b', '::1', '10.0.0.1'] };
      const verify = ['verify', '-x509_strict', '-verify_hostname', 'a.b', '-purpose', 'sslserver', '-CAfile'];
      for (const issuer of [first, second]) {
        const leaf = openssl.write('leaf', issueLeaf({ ...request, usage: 'serverAuth' }, issuer, NOW));
        for (const { cert } of [first, second]) {
          assert.match(openssl.run(...verify, openssl.write('ca', cert), leaf), /^leaf: OK$/m);
        }
        const own = openssl.write('own', issuer.cert);
        assert.match(openssl.run('verify', '-x509_strict', '-CAfile', own, own), /^own: OK$/m);
        assert.match(openssl.run('x509', '-in', leaf, '-noout', '-subject', '-nameopt', 'utf8'), /O\s*=\s*é:中/);
      }
    });
  }

  it('keeps the key id that an authority of an operator has', () => {
    const id = '01:02:03';
    const own = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'key', '-addext', `subjectKeyIdentifier=${id}`];
    openssl.run('req', '-x509', ...own, '-subj', '/C=DE/CN=own', '-out', 'brought');
    const [key, brought] = ['key', 'brought'].map((file) => openssl.read(file).toString()) as [string, string];
    const cert = issueAuthority({ key, commonName: 'x', previous: brought }, NOW);
    const leaf = issueLeaf({ key, commonName: 'a', hosts: [], usage: 'clientAuth' }, { key, cert }, NOW);
    for (const [text, names] of [
      [cert, ['subjectKeyIdentifier']],
      [leaf, ['authorityKeyIdentifier']],
    ] as const) {
      const args = ['x509', '-in', openssl.write('it', text), '-noout', '-ext', ...names];
      assert.match(openssl.run(...args), new RegExp(`^ +(?:keyid:)?${id}$`, 'm'));
    }
  });

  for (const [name, make, algorithm] of [
    ['RSA with empty parameters', pairs['RSA 2048'], '300d06092a864886f70d01010b0500'],
    ['ECDSA without parameters', pairs['P-256'], '300a06082a8648ce3d040302'],
  ] as const) {
    it(`names ${name}, in both places`, () => {
      const key = make().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const der = new X509Certificate(authorityWith(key).cert).raw.toString('hex');
      assert.equal(der.split(algorithm).length, 3);
    });
  }

  it('writes years from 2050 on with four digits', async () => {
    const key = await newKey();
    const now = new Date('2048-01-01T00:00:00Z');
    const cert = issueAuthority({ key, commonName: 'ca', previous: undefined }, now);
    assert.equal(new X509Certificate(cert).validTo, 'Dec 29 00:00:00 2057 GMT');
  });

  it('refuses an authority whose key cannot sign certificates', () => {
    const key = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    assert.throws(() => authorityWith(key), { message: 'Cannot sign with a key of type x25519' });
  });
});
