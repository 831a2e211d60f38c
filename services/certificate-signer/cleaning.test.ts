import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { issueLeaf, newKey } from '../machinery/pki/issue.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { endOf, openCleaning } from './cleaning.js';
import { condition, newAuthority, signingRequest } from './testing/signing-requests.js';

const { certificateSigningRequests: type } = builtInTypes(vocabulary('platform'));
const HOUR_MS = 3_600_000;
const MADE = '2026-01-01T00:00:00Z';
const DECIDED = '2026-01-01T05:00:00Z';
const LATER = '2026-01-01T06:00:00Z';
const never = new AbortController().signal;

/** One whose certificate ended in 2026, or at another time. */
async function certificate(made = new Date('2025-06-01T00:00:00Z')): Promise<{ base64: string; ends: number }> {
  const leaf = { key: await newKey(), commonName: 'leaf', hosts: [], usage: 'clientAuth' } as const;
  const pem = issueLeaf(leaf, await newAuthority('ca', made), made);
  return { base64: Buffer.from(pem).toString('base64'), ends: Date.parse(new X509Certificate(pem).validTo) };
}

describe('the end of a signing request', () => {
  const end = (conditions: readonly object[], more: object = {}): string =>
    new Date(
      endOf(signingRequest('r', '', { metadata: { creationTimestamp: MADE }, conditions, ...more })),
    ).toISOString();

  it('is a day after it was made, while it is pending', () => assert.equal(end([]), '2026-01-02T00:00:00.000Z'));
  for (const kind of ['Approved', 'Denied', 'Failed']) {
    it(`is an hour after it was ${kind}`, () =>
      assert.equal(end([condition(kind, DECIDED)]), '2026-01-01T06:00:00.000Z'));
  }
  it('is an hour after the last of several decisions', () => {
    const [approved, failed] = [condition('Approved', DECIDED), condition('Failed', LATER)];
    assert.equal(end([approved, failed]), '2026-01-01T07:00:00.000Z');
    assert.equal(end([failed, approved]), '2026-01-01T07:00:00.000Z');
  });
  it('counts a decision without a time from when the request was made', () =>
    assert.equal(end([condition('Approved')]), '2026-01-01T01:00:00.000Z'));
  it('heeds no condition that does not hold, and none of another type', () => {
    const past = { type: 'Approved', status: 'False', lastUpdateTime: DECIDED };
    assert.equal(end([past, condition('Other', DECIDED)]), '2026-01-02T00:00:00.000Z');
  });
  it('is when its certificate ends, where that is sooner', async () => {
    const { base64, ends } = await certificate(new Date(Date.parse(DECIDED) - 364.99 * 24 * HOUR_MS));
    assert.ok(ends < Date.parse(LATER));
    assert.equal(Date.parse(end([condition('Approved', DECIDED)], { certificate: base64 })), ends);
    assert.equal(Date.parse(end([], { certificate: base64 })), ends);
    const long = await certificate(new Date(MADE));
    assert.equal(end([condition('Approved', DECIDED)], { certificate: long.base64 }), '2026-01-01T06:00:00.000Z');
  });
  it('heeds no certificate that cannot be read', () =>
    assert.equal(end([condition('Approved', DECIDED)], { certificate: 'eA==' }), '2026-01-01T06:00:00.000Z'));
});

describe('the controller that deletes signing requests', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openCleaning({}, cluster.deps());
  });
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
  const make = (agoMs: number, more: object = {}, conditions: readonly object[] = []): void => {
    const metadata = { creationTimestamp: ago(agoMs), ...more };
    cluster.put(type, signingRequest('r', '', { metadata, conditions }));
  };

  it('deletes one whose time is over, and no other state of it', async () => {
    make(24 * HOUR_MS + 60_000);
    cluster.isLagging = true;
    cluster.put(type, { ...cluster.get(type, 'r'), status: {} });
    assert.equal(await controller.reconcile('r', never), undefined);
    assert.notEqual(cluster.get(type, 'r'), undefined);
    cluster.catchUp();
    await cluster.settle(controller);
    assert.equal(cluster.get(type, 'r'), undefined);
    assert.deepEqual(cluster.asked, ['delete certificatesigningrequests r', 'delete certificatesigningrequests r']);
  });

  it('deletes nothing that was made anew under the name', async () => {
    make(25 * HOUR_MS);
    cluster.isLagging = true;
    cluster.remove(type, 'r');
    make(0);
    await cluster.settle(controller);
    assert.notEqual(cluster.get(type, 'r'), undefined);
  });

  it('comes back when the time is over, and in an hour at the latest', async () => {
    make(24 * HOUR_MS - 60_000);
    const { againInMs = 0 } = (await controller.reconcile('r', never)) ?? {};
    assert.ok(againInMs > 30_000 && againInMs <= 60_000, String(againInMs));
    make(0);
    assert.deepEqual(await controller.reconcile('r', never), { againInMs: HOUR_MS });
    assert.deepEqual(cluster.asked, []);
  });

  it('keeps one that was decided since', async () => {
    make(30 * HOUR_MS, {}, [condition('Denied', ago(HOUR_MS / 2))]);
    assert.notEqual(await controller.reconcile('r', never), undefined);
    make(30 * HOUR_MS, {}, [condition('Denied', ago(HOUR_MS + 60_000))]);
    assert.equal(await controller.reconcile('r', never), undefined);
    assert.equal(cluster.get(type, 'r'), undefined);
  });

  it('leaves one alone that is being deleted or gone; failures come again', async () => {
    make(30 * HOUR_MS, { deletionTimestamp: MADE });
    assert.equal(await controller.reconcile('r', never), undefined);
    assert.equal(await controller.reconcile('gone', never), undefined);
    assert.deepEqual(cluster.asked, []);
    cluster.remove(type, 'r');
    make(30 * HOUR_MS);
    cluster.refuse(/^delete/, 'InternalError');
    await assert.rejects(controller.reconcile('r', never), /InternalError/);
  });
});
