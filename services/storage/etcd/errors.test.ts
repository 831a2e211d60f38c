import assert from 'node:assert/strict';

import { errorOf, messageOf, ruleOf } from './errors.js';

describe('errorOf()', () => {
  for (const [code, message, expected] of [
    [11, 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
    [11, 'etcdserver: mvcc: required revision is a future revision', 'future'],
    [3, 'etcdserver: request is too large', 'tooLarge'],
    [3, 'etcdserver: too many operations in txn request', 'tooLarge'],
    [8, 'grpc: received message larger than max (5242912 vs. 2097152)', 'tooLarge'],
    [8, 'etcdserver: mvcc: database space exceeded', 'noSpace'],
    [8, 'etcdserver: too many requests', 'unavailable'],
    [5, 'etcdserver: requested lease not found', 'leaseNotFound'],
    [7, 'etcdserver: permission denied', 'denied'],
    [16, 'etcdserver: invalid auth token', 'denied'],
    [3, 'etcdserver: user name is empty', 'denied'],
    [15, 'etcdserver: corrupt cluster', 'corrupt'],
    [14, 'etcdserver: no leader', 'unavailable'],
    [2, 'something new', 'unavailable'],
  ] as const) {
    it(`makes ${expected} of ${code} "${message}"`, () => {
      assert.equal(errorOf('Txn', { code, message }).code, expected);
    });
  }
});

describe('ruleOf()', () => {
  it('lets a write go elsewhere only when the member did not look at it', () => {
    assert.equal(ruleOf({ code: 14, message: 'etcdserver: no leader' }).untouched, true);
    assert.equal(ruleOf({ code: 14, message: 'etcdserver: request timed out' }).untouched, undefined);
    assert.equal(ruleOf({ code: 14, message: 'etcdserver: leader changed' }).untouched, undefined);
  });
});

describe('messageOf()', () => {
  it('names the code where there is no message', () => {
    assert.equal(messageOf(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })), 'ECONNREFUSED');
  });
});
