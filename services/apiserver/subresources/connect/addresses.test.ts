import assert from 'node:assert/strict';
import { isAllowed, isAllowedOrLoopback } from './addresses.js';

const ALLOWED = [
  '10.0.0.1',
  '192.168.1.1',
  '8.8.8.8',
  '100.64.0.1',
  '100.100.100.201',
  'fd00::1',
  'fd00:ec2::253',
  '2001:db8::1',
  '2001:db8::5efd:7f00:1',
  '::ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::1:7f00:1', // a neighbour of NAT64's network
  '2002:a00:1::',
  '2003:7f00:1::',
  '2001:0:a00:1::f5ff:fffe', // Teredo: server and client 10.0.0.1
];
const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
const REFUSED = [
  '',
  'localhost',
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  '::',
  'fe80::1',
  'febf::1',
  'fe80::1%eth0',
  'fd00::1%1',
  '::1%lo',
  'ff02::1',
  '::ffff:169.254.169.254',
  '::127.0.0.1', // IPv4-compatible
  '::169.254.169.254',
  '::ffff:0:127.0.0.1', // IPv4-translated
  '64:ff9b::127.0.0.1', // NAT64
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '64:ff9b:1:ffff::1',
  '2002:7f00:1::', // 6to4
  '2002:7f00:1::5',
  '2002:a9fe:a9fe:1::1',
  '2001:0:7f00:1::f5ff:fffe', // Teredo: server 127.0.0.1
  '2001:0:a00:1::80ff:fffe', // Teredo: client 127.0.0.1
  'fd00::5efe:7f00:1', // ISATAP
  'fd00::200:5efe:169.254.169.254',
  '100.100.100.200', // metadata of clouds
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::ffff:100.100.100.200',
  '64:ff9b::100.100.100.200',
];

describe('isAllowed()', () => {
  for (const address of ALLOWED) it(`allows ${address}`, () => assert.ok(isAllowed(address)));
  for (const address of [...LOOPBACK, ...REFUSED]) {
    it(`refuses ${JSON.stringify(address)}`, () => assert.ok(!isAllowed(address)));
  }
});

describe('isAllowedOrLoopback()', () => {
  for (const address of [...ALLOWED, ...LOOPBACK])
    it(`allows ${address}`, () => assert.ok(isAllowedOrLoopback(address)));
  for (const address of REFUSED) {
    it(`refuses ${JSON.stringify(address)}`, () => assert.ok(!isAllowedOrLoopback(address)));
  }
});
