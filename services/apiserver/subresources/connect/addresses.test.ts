import assert from 'node:assert/strict';
import { isAllowed } from './addresses.js';

const ALLOWED = ['10.0.0.1', '192.168.1.1', '8.8.8.8', '100.64.0.1', 'fd00::1', '2001:db8::1', '::ffff:10.0.0.1'];
const REFUSED = [
  '',
  'localhost',
  '0.0.0.0',
  '0.1.2.3',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'febf::1',
  'fe80::1%eth0',
  'fd00::1%1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:169.254.169.254',
];

describe('isAllowed()', () => {
  for (const address of ALLOWED) it(`allows ${address}`, () => assert.ok(isAllowed(address)));
  for (const address of REFUSED) it(`refuses ${JSON.stringify(address)}`, () => assert.ok(!isAllowed(address)));
});
