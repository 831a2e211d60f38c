import assert from 'node:assert/strict';
import { StoreError, type LeaseId } from '../../storage/store.js';
import { LeasePool } from './lease-pool.js';

describe('LeasePool', () => {
  const { signal } = new AbortController();
  let granted: number[];
  let now: number;
  let pool: LeasePool;
  beforeEach(() => {
    granted = [];
    now = 0;
    const store = { grantLease: (ttl: number) => Promise.resolve(`lease-${granted.push(ttl)}` as LeaseId) };
    pool = new LeasePool(store, signal, () => now);
  });

  it('gives one lease to all objects of a minute, a minute longer than they want', async () => {
    assert.equal(await pool.leaseFor(3600), 'lease-1');
    now = 59_999;
    assert.equal(await pool.leaseFor(3600), 'lease-1');
    now = 60_000;
    assert.equal(await pool.leaseFor(3600), 'lease-2');
    assert.deepEqual(granted, [3660, 3660]);
  });

  it('shares a lease for a twentieth of a short time, and with those of the same time only', async () => {
    assert.equal(await pool.leaseFor(100), 'lease-1');
    assert.equal(await pool.leaseFor(200), 'lease-2');
    now = 4_999;
    assert.equal(await pool.leaseFor(100), 'lease-1');
    now = 5_000;
    assert.equal(await pool.leaseFor(100), 'lease-3');
    assert.deepEqual(granted, [105, 210, 105]);
  });

  it('puts no more than a thousand objects on a lease', async () => {
    for (let i = 0; i < 1000; i++) assert.equal(await pool.leaseFor(3600), 'lease-1');
    assert.equal(await pool.leaseFor(3600), 'lease-2');
  });

  it('asks for a new one when one has ended, once for all who say so', async () => {
    const ended = await pool.leaseFor(3600);
    const again = await Promise.all([pool.leaseFor(3600, ended), pool.leaseFor(3600, ended)]);
    assert.deepEqual(again, ['lease-2', 'lease-2']);
    assert.equal(await pool.leaseFor(3600), 'lease-2');
  });

  it('asks again after a refusal', async () => {
    let fails = true;
    const store = {
      grantLease: () =>
        fails ? Promise.reject(new StoreError('unavailable', 'away')) : Promise.resolve('lease' as LeaseId),
    };
    pool = new LeasePool(store, signal, () => now);
    await assert.rejects(pool.leaseFor(3600), /away/);
    fails = false;
    assert.equal(await pool.leaseFor(3600), 'lease');
  });
});
