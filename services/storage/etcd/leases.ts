import { StoreError, type LeaseId } from '../store.js';
import { leaseNumber } from './messages.js';
import type { Method } from './unary.js';
import { Reader, ReverseWriter } from './wire.js';

// Field numbers are those of proto/etcd/rpc.proto; the tests run against etcd. Each call may be sent again: a lease that was
// granted and not heard of ends by itself.

export const GRANT: Method = { path: '/etcdserverpb.Lease/LeaseGrant', name: 'LeaseGrant', repeatable: true };
export const REVOKE: Method = { path: '/etcdserverpb.Lease/LeaseRevoke', name: 'LeaseRevoke', repeatable: true };
/** A stream of renewals, of which one is sent and answered. */
export const RENEW: Method = { path: '/etcdserverpb.Lease/LeaseKeepAlive', name: 'LeaseKeepAlive', repeatable: true };

const writer = new ReverseWriter();

export function encodeGrant(ttlSeconds: number): Buffer {
  writer.begin();
  writer.uint(1, Math.ceil(ttlSeconds));
  return writer.finish();
}

/** A request to revoke or to renew a lease. @throws {StoreError} leaseNotFound, for what cannot be one */
export function encodeLease(lease: LeaseId): Buffer {
  const id = leaseNumber(lease);
  writer.begin();
  writer.big(1, id);
  return writer.finish();
}

export const decodeGranted = (answer: Buffer): LeaseId => numberAt(answer, 2).toString() as LeaseId;

/** @throws {StoreError} leaseNotFound, when the answer leaves the lease no time */
export function checkRenewed(answer: Buffer, lease: LeaseId): void {
  if (numberAt(answer, 3) <= 0n) throw new StoreError('leaseNotFound', `Lease ${lease} has ended`);
}

function numberAt(answer: Buffer, field: number): bigint {
  const r = new Reader(answer);
  let found = 0n;
  while (r.next()) {
    if (r.field === field) found = r.bigint();
    else r.skip();
  }
  return found;
}
