import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatIp, parseIp } from './ip.js';

describe('parseIp()', () => {
  it('reads addresses, and nothing else', () => {
    assert.deepEqual(parseIp('10.96.0.1'), { family: 'IPv4', value: 0x0a600001n });
    assert.deepEqual(parseIp('fd00::1:2'), { family: 'IPv6', value: (0xfd00n << 112n) + 0x10002n });
    assert.deepEqual(parseIp('::ffff:10.96.0.1'), { family: 'IPv6', value: 0xffff0a600001n });
    assert.deepEqual(parseIp('::'), { family: 'IPv6', value: 0n });
    for (const text of ['', 'None', '10.96.0', '010.1.1.1', 'fe80::1%eth0', '10.96.0.1/12', '1::2::3']) {
      assert.equal(parseIp(text), undefined, text);
    }
  });
});

describe('formatIp()', () => {
  it('writes an address in one way, however it was written', () => {
    const ways: readonly (readonly [string, string])[] = [
      ['FD00:0:0:0:0:0:0:1', 'fd00::1'],
      ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
      ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
      ['0:0:0:0:0:0:0:0', '::'],
      ['1:0:0:0:0:0:0:0', '1::'],
    ];
    for (const [way, text] of ways) assert.equal(formatIp(parseIp(way) ?? assert.fail(way)), text);
  });

  it('writes what parseIp() reads', () => {
    fc.assert(fc.property(fc.ipV4(), (text) => formatIp(parseIp(text) ?? assert.fail(text)) === text));
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const ip = parseIp(text) ?? assert.fail(text);
        assert.deepEqual(parseIp(formatIp(ip)), ip);
      }),
    );
  });
});
