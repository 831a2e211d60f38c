import assert from 'node:assert/strict';
import { auditIdOf } from './audit-id.js';
import { formatMicroTime, microClock } from './micro-time.js';
import { shownUri } from './request-uri.js';
import { sourceAddresses } from './source-addresses.js';

describe('auditIdOf()', () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  for (const [what, header] of [
    ['no header', undefined],
    ['an empty one', ''],
    ['one that is too long', 'x'.repeat(65)],
    ['one with a space', 'a b'],
    ['one with a line break', 'a\nb'],
    ['one that is no ASCII', 'ä'],
    ['several', ['a', 'b']],
  ] as const) {
    it(`makes an id for ${what}`, () => assert.match(auditIdOf(header), UUID));
  }

  it('takes what a client has chosen', () => {
    assert.equal(auditIdOf('9f8b"<x>'), '9f8b"<x>');
    assert.equal(auditIdOf('x'.repeat(64)), 'x'.repeat(64));
  });
});

describe('shownUri()', () => {
  for (const [uri, shown] of [
    ['/api/v1/pods?access_token=abc', '/api/v1/pods?access_token=REDACTED'],
    ['/x?a=1&token=abc&b=2', '/x?a=1&token=REDACTED&b=2'],
    ['/x?Access_Token=abc', '/x?Access_Token=REDACTED'],
    ['/x?access%5Ftoken=abc', '/x?access%5Ftoken=REDACTED'],
    ['/x?+token=abc', '/x?+token=REDACTED'],
    ['/x?token=a=b', '/x?token=REDACTED'],
    ['/x?token=a&token=b', '/x?token=REDACTED&token=REDACTED'],
    ['/x?a=?&password=p', '/x?a=?&password=REDACTED'],
    ['/x?%E0%A4%A=1&token=a', '/x?%E0%A4%A=1&token=REDACTED'],
  ] as const) {
    it(`masks the credential in ${uri}`, () => assert.equal(shownUri(uri), shown));
  }

  for (const uri of ['/', '/token=abc', '/x?', '/x?token', '/x?continue=abc&limit=500', '/x?tokens=a', '//x?a=b?c']) {
    it(`leaves ${uri} as it is`, () => assert.equal(shownUri(uri), uri));
  }
});

describe('sourceAddresses()', () => {
  const CASES: readonly (readonly [
    what: string,
    headers: Record<string, string>,
    peer: string | undefined,
    found: string[],
  ])[] = [
    ['nobody', {}, undefined, []],
    ['who holds the connection', {}, '10.0.0.1', ['10.0.0.1']],
    ['an address of IPv4 as such', {}, '::ffff:10.0.0.1', ['10.0.0.1']],
    [
      'all proxies, the connection last',
      { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' },
      '10.0.0.1',
      ['1.1.1.1', '2.2.2.2', '10.0.0.1'],
    ],
    [
      'no text that is no address',
      { 'x-forwarded-for': 'unknown, 1.1.1.1:80,, ::1 ,<x>' },
      '10.0.0.1',
      ['::1', '10.0.0.1'],
    ],
    [
      'the real one behind the chain',
      { 'x-forwarded-for': '1.1.1.1', 'x-real-ip': '3.3.3.3' },
      '10.0.0.1',
      ['1.1.1.1', '3.3.3.3', '10.0.0.1'],
    ],
    [
      'the real one once',
      { 'x-forwarded-for': '1.1.1.1', 'x-real-ip': '1.1.1.1' },
      '10.0.0.1',
      ['1.1.1.1', '10.0.0.1'],
    ],
    [
      'the connection once, when the chain ends with it',
      { 'x-forwarded-for': '1.1.1.1,10.0.0.1' },
      '::ffff:10.0.0.1',
      ['1.1.1.1', '10.0.0.1'],
    ],
    [
      'the connection again, when it is inside the chain',
      { 'x-forwarded-for': '10.0.0.1,1.1.1.1' },
      '10.0.0.1',
      ['10.0.0.1', '1.1.1.1', '10.0.0.1'],
    ],
  ];
  for (const [what, headers, peer, found] of CASES) {
    it(`tells ${what}`, () => assert.deepEqual(sourceAddresses(headers, peer), found));
  }

  it('takes a bounded part of a chain', () => {
    const chain = Array.from({ length: 5_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(',');
    assert.equal(sourceAddresses({ 'x-forwarded-for': chain }, '1.1.1.1').length, 33);
  });
});

describe('microClock()', () => {
  it('is as fine as the fine clock, and follows the wall clock when that is set', () => {
    const at = { wall: 1_000, fine: 5 };
    const clock = microClock(
      () => at.wall,
      () => at.fine,
    );
    assert.equal(clock(), 1_000_000);
    at.fine = 5.25;
    assert.equal(clock(), 1_000_250);
    at.wall = 90_000;
    assert.equal(clock(), 90_000_000);
    at.wall = 500;
    assert.equal(clock(), 500_000);
  });
});

describe('formatMicroTime()', () => {
  it('writes six digits', () => {
    assert.equal(formatMicroTime(1_653_386_400_000_042), '2022-05-24T10:00:00.000042Z');
    assert.equal(formatMicroTime(1_653_386_400_999_999), '2022-05-24T10:00:00.999999Z');
    assert.equal(formatMicroTime(1_653_386_401_000_000), '2022-05-24T10:00:01.000000Z');
  });
});
