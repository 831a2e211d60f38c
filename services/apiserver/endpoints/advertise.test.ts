import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { advertisedAddress } from './advertise.js';

const info = (address: string, internal = false): NetworkInterfaceInfo =>
  ({ address, internal, family: address.includes(':') ? 'IPv6' : 'IPv4' }) as NetworkInterfaceInfo;
const own = (advertiseAddress: string, bindAddress: string, ...infos: NetworkInterfaceInfo[]): string =>
  advertisedAddress({ advertiseAddress, bindAddress }, { lo: [info('127.0.0.1', true)], eth0: infos });

describe('advertisedAddress()', () => {
  it('is what the operator says, else what is listened on', () => {
    assert.equal(own('10.0.0.9', '10.0.0.1', info('10.0.0.2')), '10.0.0.9');
    assert.equal(own('', '10.0.0.1', info('10.0.0.2')), '10.0.0.1');
    assert.equal(own('', '127.0.0.1', info('10.0.0.2')), '127.0.0.1');
    assert.equal(own('', 'localhost', info('10.0.0.2')), '127.0.0.1');
  });

  it("is the machine's first one that others can reach when all are listened on", () => {
    for (const all of ['0.0.0.0', '::', '']) {
      assert.equal(own('', all, info('169.254.1.1'), info('fe80::1'), info('fd00::2'), info('10.0.0.2')), '10.0.0.2');
    }
    assert.equal(own('', '0.0.0.0', info('fe80::1'), info('fd00::2')), 'fd00::2');
  });

  it('is that of the loopback when there is no other', () => {
    assert.equal(own('', '0.0.0.0'), '127.0.0.1');
  });
});
