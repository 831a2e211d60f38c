import assert from 'node:assert/strict';
import {
  addressBytes,
  DerProblem,
  encodeDer,
  integerOf,
  objectId,
  oidOf,
  parseDer,
  primitive,
  sequence,
  TAG,
} from './der.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const problemOf = (bytes: Buffer): string => {
  try {
    parseDer(bytes);
    return 'none';
  } catch (err) {
    assert.ok(err instanceof DerProblem, String(err));
    return err.message;
  }
};
/** Sequences in one another. */
const nested = (levels: number): Buffer => {
  let element = sequence();
  for (let i = 1; i < levels; i++) element = sequence(element);
  return encodeDer(element);
};

describe('parseDer()', () => {
  const TRUNCATED = 'asn1: syntax error: sequence truncated';
  const DATA_TRUNCATED = 'asn1: syntax error: data truncated';
  const TRAILING = 'asn1: syntax error: trailing data';
  const LENGTH = 'asn1: structure error: length too large';
  const NOT_DER = 'asn1: structure error: not in DER';
  const DEEP = 'asn1: structure error: nested too deep';
  const SIZE = 'asn1: structure error: data too large';

  const hostile: readonly (readonly [what: string, bytes: Buffer, problem: string])[] = [
    ['nothing', hex(''), TRUNCATED],
    ['a tag alone', hex('30'), TRUNCATED],
    ['half a length', hex('30 82 03'), TRUNCATED],
    ['half a member', hex('30 01 02'), TRUNCATED],
    ['less than its length', hex('30 03 02'), DATA_TRUNCATED],
    ['a length of 2 GB', hex('30 84 7fffffff 02 01 00'), DATA_TRUNCATED],
    ['a length of 2 GB inside', hex('30 09 04 84 7fffffff 02 01 00'), DATA_TRUNCATED],
    ['a member that is longer than its sequence', hex('30 03 04 02 00 00'), DATA_TRUNCATED],
    ['a length of 4 GB', hex('30 84 ffffffff 02 01 00'), LENGTH],
    ['a length of 5 bytes', hex('30 85 0000000003 02 01 00'), LENGTH],
    ['a length of 5 bytes that are not there', hex('30 85 ffffffff'), LENGTH],
    ['a length of 126 bytes', Buffer.concat([hex('30 fe'), Buffer.alloc(200, 0xff)]), LENGTH],
    ['an indefinite length', hex('30 80 02 01 00 00 00'), NOT_DER],
    ['an indefinite length inside', hex('30 07 30 80 02 01 00 00 00'), NOT_DER],
    ['an indefinite length without an end', hex('30 80 02 01 00'), TRUNCATED],
    ['an indefinite length of bytes', hex('04 80 00 00'), LENGTH],
    ['a length in more bytes than it needs', hex('30 81 03 02 01 00'), NOT_DER],
    ['an integer in more bytes than it needs', hex('02 02 00 01'), NOT_DER],
    ['what comes after', hex('30 03 02 01 00 00'), TRAILING],
    ['a second element', hex('30 03 02 01 00 30 00'), TRAILING],
    ['33 levels', nested(33), DEEP],
    ['2,000 levels', nested(2_000), DEEP],
    ['30,000 levels of indefinite length', Buffer.from('3080'.repeat(30_000), 'hex'), DEEP],
    ['levels of which none ends', Buffer.from('307f'.repeat(30_000), 'hex'), DATA_TRUNCATED],
    ['more than 64 KB', encodeDer(primitive(TAG.octetString, Buffer.alloc(64 * 1024 - 3))), SIZE],
  ];
  for (const [what, bytes, problem] of hostile) {
    it(`refuses ${what}`, () => assert.equal(problemOf(bytes), problem));
  }

  it('takes what is within the bounds, and gives the same bytes back', () => {
    const many = Buffer.concat([hex('30 82 fff0'), Buffer.from('0500'.repeat(0x7ff8), 'hex')]);
    const [whole, integer] = [64 * 1024 - 4, 60_000].map((size) => Buffer.alloc(size, 1)) as [Buffer, Buffer];
    const taken = [
      nested(32),
      many,
      encodeDer(primitive(TAG.octetString, whole)),
      encodeDer(primitive(TAG.integer, integer)),
    ];
    for (const bytes of taken) assert.deepEqual(encodeDer(parseDer(bytes)), bytes);
  });
});

describe('integerOf()', () => {
  const of = (text: string): number => integerOf(parseDer(hex(text)));
  it('reads small ones', () => {
    assert.deepEqual([of('02 01 00'), of('02 02 00de'), of('02 04 7fffffff')], [0, 222, 0x7fffffff]);
  });
  for (const text of ['02 00', '02 05 0100000000', '04 01 00']) {
    it(`refuses ${text}`, () => assert.throws(() => of(text), DerProblem));
  }
});

describe('oidOf()', () => {
  const of = (text: string): string => oidOf(parseDer(hex(text)));
  it('reads what objectId() writes', () =>
    assert.equal(oidOf(objectId('1.2.840.113549.1.1.11')), '1.2.840.113549.1.1.11'));
  for (const [what, text] of [
    ['with another encoding', '06 04 55 04 80 03'],
    ['that does not end', '06 04 55 04 03 80'],
    ['without bytes', '06 00'],
    ['with an arc of 128 bits', '06 14 2b 83ffffffffffffffffffffffffffffffffff7f'],
  ] as const) {
    it(`takes none ${what} for another`, () => assert.equal(of(text), ''));
  }
});

describe('addressBytes()', () => {
  for (const [ip, bytes] of [
    ['10.0.0.255', '0a0000ff'],
    ['::', '00'.repeat(16)],
    ['::1', `${'00'.repeat(15)}01`],
    ['2001:db8::a:1', '20010db80000000000000000000a0001'],
    ['fe80::', `fe80${'00'.repeat(14)}`],
    ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['fe80::1%eth0', `fe80${'00'.repeat(13)}01`],
  ] as const) {
    it(`reads ${ip}`, () => assert.equal(addressBytes(ip).toString('hex'), bytes));
  }
});
