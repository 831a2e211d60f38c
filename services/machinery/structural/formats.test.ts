import assert from 'node:assert/strict';
import { isKnownFormat, isOfFormat } from './formats.js';

/** By format: texts that are of it, and texts that are not. */
const TEXTS: Readonly<Record<string, readonly [right: readonly string[], wrong: readonly string[]]>> = {
  'k8s-short-name': [
    ['a', 'a-1', '1a'],
    ['', 'A', 'a.b', '-a', 'a'.repeat(64)],
  ],
  'k8s-long-name': [
    ['a', 'a.b-c.1'],
    ['', 'A.b', 'a..b', 'a'.repeat(254)],
  ],
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'x']],
  uri: [
    ['https://a.b/c?d=e', '/a/b', 'urn:a:b', '*'],
    ['', 'a b', 'relative', '/a%zz'],
  ],
  email: [
    ['a@b.c', 'A B <a.b@c.d>', '"a b"@c.d'],
    ['a', '@b', 'a@', 'a..b@c', 'a b@c'],
  ],
  hostname: [
    ['a', 'a-b.example.com', '1.example.com', 'é.com'],
    ['', '-a.com', 'a.c', 'a..com', `${'a'.repeat(64)}.com`],
  ],
  ipv4: [
    ['10.0.0.1', '010.0.0.1'],
    ['10.0.0', '::1', '256.0.0.1'],
  ],
  ipv6: [
    ['::1', '2001:db8::1'],
    ['10.0.0.1', 'fe80::1%eth0'],
  ],
  cidr: [
    ['10.0.0.0/8', '2001:db8::/32'],
    ['10.0.0.0', '10.0.0.0/33', '::/129', 'x/1'],
  ],
  mac: [
    ['00:00:5e:00:53:01', '02-00-5e-10-00-00-00-01', '0000.5e00.5301'],
    ['00:00:5e:00:53', '00:00:5e:00:53:0g'],
  ],
  uuid: [
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6BA7B8109DAD11D180B400C04FD430C8'],
    ['6ba7b810', ''],
  ],
  uuid3: [['6ba7b810-9dad-31d1-80b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-80b4-00c04fd430c8']],
  uuid4: [['6ba7b810-9dad-41d1-80b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-70b4-00c04fd430c8']],
  uuid5: [['6ba7b810-9dad-51d1-80b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-80b4-00c04fd430c8']],
  isbn: [
    ['0321751043', '978-0321751041'],
    ['0321751044', '9780321751042'],
  ],
  isbn10: [['0321751043', '0-8044-2957-X'], ['978-0321751041']],
  isbn13: [['978-0321751041'], ['0321751043']],
  creditcard: [['4111 1111 1111 1111'], ['4111 1111 1111 1112', '1']],
  ssn: [
    ['111-22-3333', '111 22 3333'],
    ['111223333', '11-22-3333'],
  ],
  hexcolor: [
    ['#fff', 'A0B1C2'],
    ['#ffff', 'x'],
  ],
  rgbcolor: [['rgb(0, 12,255)'], ['rgb(0,0,256)', 'rgb(0,0)', 'rgb(00,0,0)']],
  byte: [
    ['YQ==', 'YWI='],
    ['', 'YQ', 'Y-_='],
  ],
  password: [['anything', ''], []],
  date: [['2024-02-29'], ['2023-02-29', '2024-2-9', '2024-01-01T00:00:00Z']],
  duration: [
    ['1h30m', '-1.5s', '0', '22 ns', '3 weeks'],
    ['', 'x', '1', '1 lightyear'],
  ],
  'date-time': [
    ['2024-01-01T00:00:00Z', '2024-01-01t23:59:60.5+01:00'],
    ['2024-01-01', '2024-01-01T24:00:00Z', '2024-13-01T00:00:00Z'],
  ],
};

describe('formats of texts', () => {
  for (const [format, [right, wrong]] of Object.entries(TEXTS)) {
    it(format, () => {
      assert.ok(isKnownFormat(format, 'string'));
      assert.ok(isKnownFormat(format, ''));
      assert.ok(!isKnownFormat(format, 'integer'));
      for (const text of right) assert.ok(isOfFormat(format, text), `${text} is one`);
      for (const text of wrong) assert.ok(!isOfFormat(format, text), `${text} is none`);
    });
  }

  it('take long texts in time that is linear in them', () => {
    const long = `${'a'.repeat(200_000)}!`;
    for (const format of Object.keys(TEXTS)) isOfFormat(format, long);
    for (const format of Object.keys(TEXTS)) isOfFormat(format, `rgb(${'1,'.repeat(50_000)}`);
  });

  it('of numbers are those of their type', () => {
    assert.deepEqual(
      [isKnownFormat('int32', 'integer'), isKnownFormat('double', 'number'), isKnownFormat('int32', 'number')],
      [true, true, false],
    );
  });
});
