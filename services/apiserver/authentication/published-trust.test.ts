import assert from 'node:assert/strict';
import { withPresent } from './published-trust.js';
import { TestAuthority } from './testing/authority.js';

const DAY_MS = 24 * 3_600_000;

describe('withPresent()', () => {
  const authorities = [TestAuthority.root('/CN=a'), TestAuthority.root('/CN=b')] as const;
  const [a, b] = authorities.map(({ cert }) => cert.trim()) as [string, string];
  after(() => authorities.forEach((authority) => authority.remove()));

  it('adds to what other servers have published, each certificate once', () => {
    const present = { 'client-ca-file': `${a}\n`, 'requestheader-allowed-names': '["old"]', other: 'x' };
    const own = { 'client-ca-file': `a note\n${b}\n\n${a}`, 'requestheader-allowed-names': '["front"]' };
    assert.deepEqual(withPresent(present, own), {
      'client-ca-file': `${a}\n${b}\n`,
      'requestheader-allowed-names': '["front"]',
      other: 'x',
    });
  });

  it('finds nothing to do in what it has written itself', () => {
    const once = withPresent({}, { 'client-ca-file': a });
    assert.deepEqual(withPresent(once, { 'client-ca-file': a }), once);
  });

  it('leaves out what has expired, and what is no certificate', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----';
    assert.deepEqual(withPresent({ 'client-ca-file': broken }, { 'client-ca-file': a }), {
      'client-ca-file': `${a}\n`,
    });
    const later = Date.now() + 30 * DAY_MS;
    assert.deepEqual(withPresent({ 'client-ca-file': a }, { 'client-ca-file': b }, later), { 'client-ca-file': '\n' });
  });
});
