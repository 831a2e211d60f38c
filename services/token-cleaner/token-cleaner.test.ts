import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { tokenSecret } from './testing/token-secret.js';
import { openTokenCleaner } from './token-cleaner.js';

const words = vocabulary('platform');
const { secrets } = builtInTypes(words);
const KEY = `${words.namespaces.system}/bootstrap-token-abcdef`;
const never = new AbortController().signal;
const at = (inMs: number): string => new Date(Date.now() + inMs).toISOString();

describe('the controller that deletes bootstrap tokens', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openTokenCleaner({}, cluster.deps());
  });
  const put = (expiration: string | undefined, metadata: object = {}): unknown =>
    cluster.put(secrets, tokenSecret(words, { expiration }, metadata));
  const isThere = (): boolean => cluster.get(secrets, KEY) !== undefined;

  for (const [what, expiration] of [
    ['has expired', at(-1000)],
    ['has an expiration that cannot be read', 'tomorrow'],
    ['has an expiration of another form', '2099-01-01'],
  ] as const) {
    it(`deletes a token that ${what}`, async () => {
      put(expiration);
      await cluster.settle(controller);
      assert.equal(isThere(), false);
      assert.deepEqual(cluster.asked, [`delete secrets ${KEY}`]);
    });
  }

  it('comes back when a token expires, and in a day at the latest', async () => {
    put(at(60_000));
    const { againInMs = 0 } = (await controller.reconcile(KEY, never)) ?? {};
    assert.ok(againInMs > 30_000 && againInMs <= 60_000, String(againInMs));
    put(at(1e11));
    assert.deepEqual(await controller.reconcile(KEY, never), { againInMs: 24 * 3_600_000 });
    assert.equal(isThere(), true);
    assert.deepEqual(cluster.asked, []);
  });

  it('keeps one without an expiration', async () => {
    put(undefined);
    await cluster.settle(controller);
    put('');
    await cluster.settle(controller);
    assert.equal(isThere(), true);
  });

  it('looks again when the expiration changes', async () => {
    put(undefined);
    await cluster.settle(controller);
    put(at(-1));
    await cluster.settle(controller);
    assert.equal(isThere(), false);
  });

  it('deletes no other state than the one it judged, and nothing that was made anew', async () => {
    put(at(-1000));
    cluster.isLagging = true;
    put(at(60_000));
    assert.equal(await controller.reconcile(KEY, never), undefined);
    assert.equal(isThere(), true);
    cluster.remove(secrets, KEY);
    put(at(60_000));
    assert.equal(await controller.reconcile(KEY, never), undefined);
    assert.equal(isThere(), true);
  });

  it('leaves secrets alone of other types and other namespaces', async () => {
    cluster.put(secrets, { ...tokenSecret(words, { expiration: at(-1000) }), type: 'Opaque' });
    cluster.put(secrets, tokenSecret(words, { expiration: at(-1000) }, { namespace: 'default' }));
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, []);
  });

  it('leaves one alone that is being deleted or gone; failures come again', async () => {
    put(at(-1000), { deletionTimestamp: at(0) });
    assert.equal(await controller.reconcile(KEY, never), undefined);
    assert.equal(await controller.reconcile('gone/gone', never), undefined);
    assert.deepEqual(cluster.asked, []);
    cluster.remove(secrets, KEY);
    put(at(-1000));
    cluster.refuse(/^delete/, 'Forbidden');
    await assert.rejects(controller.reconcile(KEY, never), /Forbidden/);
  });
});
