import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { issueAuthority, issueRequested, newKey, type Authority } from './issue.js';
import { readSigningRequest, type SigningRequest } from './signing-request.js';
import { OpenSsl } from './testing/openssl.js';

const NOW = new Date();
const HOUR_MS = 3_600_000;

describe('issueRequested()', () => {
  const openssl = new OpenSsl();
  after(() => openssl.remove());
  let authority: Authority;
  before(async () => {
    const key = await newKey();
    authority = { key, cert: issueAuthority({ key, commonName: 'test-ca', previous: undefined }, NOW) };
    openssl.write('ca.crt', authority.cert);
  });

  const requestOf = (key: readonly string[], ...more: readonly string[]): string => {
    openssl.run('req', '-new', '-newkey', ...key, '-nodes', '-keyout', 'key', '-out', 'request', ...more);
    return openssl.read('request').toString();
  };
  const curve = (name: string): readonly string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${name}`];
  const issued = (request: SigningRequest, usages: readonly string[]): string => {
    const to = new Date(NOW.getTime() + HOUR_MS);
    const pem = issueRequested({ ...request, usages, from: NOW, to }, authority);
    openssl.write('leaf.crt', pem);
    return openssl.run('x509', '-in', 'leaf.crt', '-noout', '-text');
  };
  /** The names of the extensions, in order. */
  const extensionsOf = (text: string): readonly string[] =>
    [...text.slice(text.indexOf('X509v3 extensions:')).matchAll(/^ {12}(X509v3 [^:]+|[0-9.]+|[A-Z][^:\n]+):/gm)].map(
      ([, name = '']) => name.trim(),
    );
  const NAMES = 'subjectAltName=DNS:a.b,DNS:*.c.d,IP:10.0.0.1,IP:fd00::1,email:x@y.z,URI:spiffe://a/b';

  for (const [name, key, purposes] of [
    ['RSA', ['rsa:2048'], ['digital signature', 'key encipherment', 'client auth']],
    ['ECDSA P-256', curve('P-256'), ['digital signature', 'client auth']],
    ['ECDSA P-384', curve('P-384'), ['digital signature', 'client auth']],
    ['ECDSA P-521', curve('P-521'), ['digital signature', 'client auth']],
    ['Ed25519', ['ed25519'], ['digital signature', 'client auth']],
  ] as const) {
    it(`signs a request with a key of ${name} so that openssl finds nothing wrong`, () => {
      const request = readSigningRequest(requestOf(key, '-subj', '/O=people/O=a:group/CN=alice', '-addext', NAMES));
      const text = issued(request, purposes);
      const strict = ['-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.crt', 'leaf.crt'];
      assert.match(openssl.run('verify', ...strict), /leaf\.crt: OK/);
      const leaf = new X509Certificate(openssl.read('leaf.crt'));
      assert.equal(leaf.subject, 'O=people\nO=a:group\nCN=alice');
      assert.equal(leaf.ca, false);
      assert.match(text, /CA:FALSE/);
      assert.equal(
        openssl.run('pkey', '-in', 'key', '-pubout'),
        leaf.publicKey.export({ type: 'spki', format: 'pem' }),
      );
    });
  }

  it('carries the names that it is given, and no extension but those it is for', () => {
    const asked = ['-addext', NAMES, '-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'nsComment=mine'];
    const request = readSigningRequest(requestOf(curve('P-256'), '-subj', '/CN=alice', ...asked));
    const text = issued(request, ['digital signature', 'server auth', 'client auth']);
    assert.deepEqual(extensionsOf(text), [
      'X509v3 Key Usage',
      'X509v3 Extended Key Usage',
      'X509v3 Basic Constraints',
      'X509v3 Authority Key Identifier',
      'X509v3 Subject Alternative Name',
    ]);
    const leaf = new X509Certificate(openssl.read('leaf.crt'));
    assert.equal(
      leaf.subjectAltName,
      'DNS:a.b, DNS:*.c.d, email:x@y.z, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1, URI:spiffe://a/b',
    );
    assert.equal(leaf.ca, false);
    assert.match(text, /Digital Signature\n/);
    assert.match(text, /TLS Web Server Authentication, TLS Web Client Authentication\n/);
  });

  it('has no extension of names without names, and a critical one without a subject', () => {
    const plain = readSigningRequest(requestOf(curve('P-256'), '-subj', '/CN=alice'));
    assert.equal(extensionsOf(issued(plain, ['client auth'])).includes('X509v3 Subject Alternative Name'), false);
    const nameless = readSigningRequest(requestOf(curve('P-256'), '-subj', '/', '-addext', NAMES));
    assert.match(issued(nameless, ['client auth']), /Subject Alternative Name: critical/);
  });

  it('writes every usage that requests may name', () => {
    const request = readSigningRequest(requestOf(curve('P-256'), '-subj', '/CN=alice'));
    const text = issued(request, [
      ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement'],
      ...['data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only'],
      ...['any', 'server auth', 'client auth', 'code signing', 'email protection', 's/mime'],
      ...['ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing'],
      ...['microsoft sgc', 'netscape sgc'],
    ]);
    assert.match(
      text,
      /Digital Signature, Non Repudiation, Key Encipherment, Data Encipherment, Key Agreement, Certificate Sign, CRL Sign, Encipher Only, Decipher Only\n/,
    );
    assert.match(
      text,
      /Any Extended Key Usage, TLS Web Server Authentication, TLS Web Client Authentication, Code Signing, E-mail Protection, IPSec End System, IPSec Tunnel, IPSec User, Time Stamping, OCSP Signing, Microsoft Server Gated Crypto, Netscape Server Gated Crypto\n/,
    );
    assert.match(issued(request, ['key encipherment']), /Key Encipherment\n/);
    assert.equal(extensionsOf(issued(request, ['key encipherment'])).includes('X509v3 Extended Key Usage'), false);
    assert.equal(extensionsOf(issued(request, ['client auth'])).includes('X509v3 Key Usage'), false);
  });

  it('gives each certificate a random serial number', () => {
    const request = readSigningRequest(requestOf(curve('P-256'), '-subj', '/CN=alice'));
    const serials = Array.from({ length: 20 }, () => {
      issued(request, ['client auth']);
      return new X509Certificate(openssl.read('leaf.crt')).serialNumber;
    });
    assert.equal(new Set(serials).size, 20);
    assert.ok(serials.every((serial) => serial.length >= 28));
  });
});

describe('readSigningRequest()', () => {
  const openssl = new OpenSsl();
  after(() => openssl.remove());
  const read = (...more: readonly string[]): SigningRequest => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key'];
    openssl.run('req', '-new', ...key, '-out', 'request', ...more);
    return readSigningRequest(openssl.read('request').toString());
  };

  it('tells the subject and the names', () => {
    const names = 'subjectAltName=DNS:a.b,IP:10.0.0.1,IP:::ffff:1.2.3.4,IP:fd00::1,email:x@y.z,URI:u:r';
    const { commonName, organizations, alternativeNames } = read(
      '-subj',
      '/O=b/OU=c/O=a/CN=x/CN=alice',
      '-addext',
      names,
    );
    assert.equal(commonName, 'alice');
    assert.deepEqual(organizations, ['b', 'a']);
    assert.deepEqual(alternativeNames, {
      dns: ['a.b'],
      ip: ['10.0.0.1', '::ffff:102:304', 'fd00::1'],
      email: ['x@y.z'],
      uri: ['u:r'],
    });
  });

  it('tells of none where there is none', () => {
    const { commonName, organizations, alternativeNames } = read('-subj', '/C=CH');
    assert.deepEqual([commonName, organizations], ['', []]);
    assert.deepEqual(alternativeNames, { dns: [], ip: [], email: [], uri: [] });
  });

  it('leaves out names of other kinds', () => {
    const { alternativeNames } = read('-subj', '/CN=a', '-addext', 'subjectAltName=RID:1.2.3.4,DNS:a.b');
    assert.deepEqual(alternativeNames, { dns: ['a.b'], ip: [], email: [], uri: [] });
  });

  it('refuses what is not signed with its own key, and what is no request', () => {
    read('-subj', '/CN=alice');
    const pem = openssl.read('request').toString();
    const body = pem.split('\n').slice(1, -2).join('');
    const der = Buffer.from(body, 'base64');
    der[der.indexOf('alice')] = 'b'.charCodeAt(0);
    const forged = pem.replace(/\n[\s\S]*\n-----END/, `\n${der.toString('base64')}\n-----END`);
    assert.throws(() => readSigningRequest(forged), /verification failure/);
    assert.throws(() => readSigningRequest('x'), /PEM block type must be CERTIFICATE REQUEST/);
  });
});
