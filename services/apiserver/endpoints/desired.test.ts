import assert from 'node:assert/strict';
import { groups, isOwnSlice, slicesOf, subsetsOf } from './desired.js';

const ports = (port: number): object[] => [{ name: 'https', port, protocol: 'TCP' }];
const ready = (...addresses: string[]): object[] =>
  addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }));

describe('groups()', () => {
  const members = [
    { address: '10.0.0.10', port: 6443 },
    { address: 'fd00::1', port: 6443 },
    { address: '10.0.0.9', port: 6443 },
    { address: '10.0.0.9', port: 443 },
  ];

  it('does not depend on the order of the members', () => {
    assert.deepEqual(groups([...members].reverse()), groups(members));
  });

  it('becomes a subset for each port and family', () => {
    assert.deepEqual(subsetsOf(groups(members)), [
      { addresses: [{ ip: '10.0.0.9' }], ports: ports(443) },
      { addresses: [{ ip: '10.0.0.9' }, { ip: '10.0.0.10' }], ports: ports(6443) },
      { addresses: [{ ip: 'fd00::1' }], ports: ports(6443) },
    ]);
  });

  it('becomes a slice for each, of which the first has the name of the service', () => {
    assert.deepEqual(slicesOf('platform', groups(members)), [
      { name: 'platform', addressType: 'IPv4', endpoints: ready('10.0.0.9'), ports: ports(443) },
      {
        name: 'platform-ipv4-6443',
        addressType: 'IPv4',
        endpoints: ready('10.0.0.9', '10.0.0.10'),
        ports: ports(6443),
      },
      { name: 'platform-ipv6-6443', addressType: 'IPv6', endpoints: ready('fd00::1'), ports: ports(6443) },
    ]);
  });

  it('leaves out what is no address', () => {
    assert.deepEqual(groups([{ address: 'example.com', port: 1 }]), []);
  });
});

describe('isOwnSlice()', () => {
  it('knows the names that slicesOf() gives', () => {
    for (const { name } of slicesOf(
      'platform',
      groups([
        { address: '::2', port: 1 },
        { address: '1.1.1.1', port: 2 },
      ]),
    )) {
      // prettier-ignore
      assert.ok(isOwnSlice('platform', name), name);
    }
    for (const name of ['platform-abc12', 'other', 'platform-ipv4', 'platform-ipv4-1-x', 'platforms']) {
      assert.ok(!isOwnSlice('platform', name), name);
    }
  });
});
