import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { TestAuthority } from '../testing/authority.js';
import { parseBundle } from './authorities.js';
import { subjectOf } from './subject.js';
import { CertificateRefused, verifyPath } from './verify.js';

const DAY_MS = 24 * 3_600_000;
const certificate = (pem: string): X509Certificate => new X509Certificate(pem);

describe('verifyPath()', () => {
  const root = TestAuthority.root('/CN=root');
  /** Another key under the same name. */
  const twin = TestAuthority.root('/CN=root');
  const middle = root.intermediate('/CN=middle');
  const notAnAuthority = root.issue('/CN=notca');
  const anchors = parseBundle(root.cert);
  const now = Date.now() + DAY_MS; // certificates are made after this line has run, for two days
  after(() => [root, twin, middle].forEach((authority) => authority.remove()));

  const refusals: readonly (readonly [what: string, run: () => unknown])[] = [
    ['another authority of the same name', () => verifyPath([certificate(twin.issue('/CN=a').cert)], anchors, now)],
    ['no authorities at all', () => verifyPath([certificate(root.issue('/CN=a').cert)], [], now)],
    ['a missing link', () => verifyPath([certificate(middle.issue('/CN=a').cert)], anchors, now)],
    [
      'an expired one',
      () => verifyPath([certificate(root.issue('/CN=a', { from: '20200101000000Z', to: '20200201000000Z' }).cert)], anchors, now), // prettier-ignore
    ],
    [
      'one that is not valid yet',
      () => verifyPath([certificate(root.issue('/CN=a', { from: '20480101000000Z', to: '20480201000000Z' }).cert)], anchors, now), // prettier-ignore
    ],
    ['an expired authority', () => verifyPath([certificate(root.issue('/CN=a', { to: '20480201000000Z' }).cert)], anchors, now + 10 * DAY_MS)], // prettier-ignore
    [
      'one for servers',
      () => verifyPath([certificate(root.issue('/CN=a', { extensions: 'extendedKeyUsage=serverAuth\n' }).cert)], anchors, now), // prettier-ignore
    ],
    [
      'one for any usage, which does not name clients',
      () => verifyPath([certificate(root.issue('/CN=a', { extensions: 'extendedKeyUsage=anyExtendedKeyUsage\n' }).cert)], anchors, now), // prettier-ignore
    ],
    [
      'one that somebody signed who is no authority',
      () => {
        const forged = TestAuthority.root('/CN=notca').issue('/CN=a');
        return verifyPath([certificate(forged.cert), certificate(notAnAuthority.cert)], anchors, now);
      },
    ],
  ];
  for (const [what, run] of refusals) {
    it(`refuses ${what}`, () => assert.throws(run, CertificateRefused));
  }

  it('follows what the client sent along to the authority', () => {
    const leaf = certificate(middle.issue('/CN=a').cert);
    assert.ok(verifyPath([leaf, certificate(twin.cert), certificate(middle.cert)], anchors, now).untilMs > now);
  });

  it('does not try authorities that sign themselves in every order', () => {
    const leaf = certificate(twin.issue('/CN=a').cert);
    const copies = Array.from({ length: 15 }, () => certificate(twin.cert));
    assert.throws(() => verifyPath([leaf, ...copies], anchors, now), CertificateRefused);
    const below = certificate(middle.issue('/CN=a').cert);
    assert.ok(verifyPath([below, ...copies.slice(8), certificate(middle.cert)], anchors, now).untilMs > now);
  });

  it('takes a path of eight certificates and no longer one', () => {
    const chain = [root];
    for (let i = 1; i < 8; i++) chain.push((chain.at(-1) ?? root).intermediate(`/CN=below-${i}`));
    const path = (depth: number): void => {
      const leaf = certificate((chain[depth] ?? root).issue('/CN=a').cert);
      verifyPath([leaf, ...chain.slice(1, depth + 1).map(({ cert }) => certificate(cert))], anchors, now);
    };
    try {
      path(6);
      assert.throws(() => path(7), CertificateRefused);
    } finally {
      chain.slice(1).forEach((authority) => authority.remove());
    }
  });

  it('takes an authority below others as one, when the bundle has just that', () => {
    assert.ok(verifyPath([certificate(middle.issue('/CN=a').cert)], parseBundle(middle.cert), now).untilMs > now);
  });

  it('finds the right one among authorities of one name', () => {
    const leaf = certificate(twin.issue('/CN=a').cert);
    assert.ok(verifyPath([leaf], parseBundle(`${root.cert}text between\n${twin.cert}`), now).untilMs > now);
  });

  it('tells when the first certificate of the path ends', () => {
    const leaf = certificate(root.issue('/CN=a', { to: '20480201000000Z' }).cert);
    assert.equal(verifyPath([leaf], anchors, now).untilMs, Date.parse(anchors[0]?.validTo ?? ''));
  });

  it('takes one that does not say what it is for', () => {
    const leaf = certificate(root.issue('/CN=a', { extensions: 'basicConstraints=CA:FALSE\n' }).cert);
    assert.ok(verifyPath([leaf], anchors, now).untilMs > now);
  });
});

describe('subjectOf()', () => {
  const root = TestAuthority.root('/CN=root');
  after(() => root.remove());
  const of = (subject: string): unknown => subjectOf(certificate(root.issue(subject).cert));

  for (const subject of ['/O=nobody', '/CN=alice/CN=admin']) {
    it(`refuses ${subject}`, () => assert.throws(() => of(subject), CertificateRefused));
  }

  it('reads names that look like parts of a subject', () => {
    assert.deepEqual(of('/O=a, b/O=CN\\=x\\/y/CN=system:node:n1\\/O\\=z'), {
      commonName: 'system:node:n1/O=z',
      organizations: ['a, b', 'CN=x/y'],
    });
  });
});

describe('parseBundle()', () => {
  for (const text of ['', 'nothing', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => assert.throws(() => parseBundle(text)));
  }
});
