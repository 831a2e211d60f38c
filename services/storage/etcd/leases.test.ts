import assert from 'node:assert/strict';

import { isStoreError, type LeaseId } from '../store.js';
import { checkRenewed, decodeGranted, encodeGrant, encodeLease } from './leases.js';

const LEASE = '7587886533475129863' as LeaseId;
const bytes = (...parts: readonly number[]): Buffer => Buffer.from(parts);
/** A LeaseKeepAliveResponse and a LeaseGrantResponse alike: a header, the id, the seconds. */
const answer = (seconds: number): Buffer =>
  Buffer.concat([bytes(0x0a, 2, 0x18, 7, 0x10), encodeLease(LEASE).subarray(1), bytes(0x18, seconds)]);

describe('calls for leases', () => {
  it('ask for whole seconds', () => {
    assert.deepEqual(encodeGrant(1.2), bytes(0x08, 2));
  });

  it('keep all bits of an id', () => {
    assert.equal(decodeGranted(answer(60)), LEASE);
  });

  it('refuse what cannot be a lease', () => {
    assert.throws(
      () => encodeLease('0' as LeaseId),
      (err) => isStoreError(err, 'leaseNotFound'),
    );
  });

  it('take a renewal that leaves no time for the end of the lease', () => {
    assert.doesNotThrow(() => checkRenewed(answer(1), LEASE));
    for (const none of [answer(0), bytes(0x0a, 2, 0x18, 7)]) {
      assert.throws(
        () => checkRenewed(none, LEASE),
        (err) => isStoreError(err, 'leaseNotFound'),
      );
    }
  });
});
