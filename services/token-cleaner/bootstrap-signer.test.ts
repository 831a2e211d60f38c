import assert from 'node:assert/strict';
import { compactVerify } from 'jose';
import { parse } from 'yaml';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openBootstrapSigner } from './bootstrap-signer.js';
import { TOKEN_ID, TOKEN_SECRET, tokenSecret } from './testing/token-secret.js';

const words = vocabulary('platform');
const { secrets, configMaps } = builtInTypes(words);
const { system, public: namespace } = words.namespaces;
const KEY = `${namespace}/cluster-info`;
const TOKEN_KEY = `${system}/bootstrap-token-${TOKEN_ID}`;
const never = new AbortController().signal;
const at = (inMs: number): string => new Date(Date.now() + inMs).toISOString();

/** As a client does that holds a token: the text goes between the dots, and no algorithm but HS256 counts. */
async function isSigned(data: Readonly<Record<string, string>>, token: string): Promise<boolean> {
  const [id = ''] = token.split('.');
  const [header = '', middle, signature = ''] = (data[`jws-kubeconfig-${id}`] ?? '').split('.');
  assert.equal(middle, '');
  const payload = Buffer.from(data['kubeconfig'] ?? '').toString('base64url');
  try {
    const o = { algorithms: ['HS256'] };
    const { protectedHeader } = await compactVerify(`${header}.${payload}.${signature}`, Buffer.from(token), o);
    assert.deepEqual(protectedHeader, { alg: 'HS256', kid: id });
    return true;
  } catch {
    return false;
  }
}

describe('the controller that signs what new clients need', () => {
  let cluster: FakeCluster;
  let controller: Controller;
  const open = (o: { authorities?: string; clusterInfoServer?: string } = {}): void => {
    const { authorities, clusterInfoServer = '' } = { authorities: 'PEM', ...o };
    cluster = new FakeCluster();
    controller = openBootstrapSigner({ clusterInfoServer }, { ...cluster.deps(), authorities });
  };
  /** Brings it to rest; timers are left out. */
  const settle = async (): Promise<void> => {
    void controller.run?.(never);
    for (; cluster.queued.size > 0;) {
      const [key = ''] = cluster.queued;
      cluster.queued.delete(key);
      await controller.reconcile(key, never);
    }
  };
  const data = (): Readonly<Record<string, string>> => cluster.get(configMaps, KEY)?.data ?? assert.fail('none');
  const keys = (): readonly string[] => Object.keys(data()).sort();
  const put = (entries: Readonly<Record<string, string | undefined>> = {}, metadata: object = {}): unknown =>
    cluster.put(secrets, tokenSecret(words, entries, metadata));
  beforeEach(() => open());

  it('publishes where the server is and whom to trust, without any token', async () => {
    await settle();
    assert.deepEqual(keys(), ['kubeconfig']);
    const { clusters, users, contexts } = parse(data()['kubeconfig'] ?? '') as Record<string, unknown>;
    const server = 'https://server.example:6443';
    const authority = Buffer.from('PEM').toString('base64');
    assert.deepEqual(clusters, [{ name: '', cluster: { server, 'certificate-authority-data': authority } }]);
    assert.deepEqual([users, contexts], [[], []]);
    assert.deepEqual(cluster.asked, [`create configmaps ${KEY}`]);
  });

  it('names the server that its flag names', async () => {
    open({ clusterInfoServer: 'https://10.0.0.1:7' });
    await settle();
    assert.match(data()['kubeconfig'] ?? '', /server: "https:\/\/10\.0\.0\.1:7"/);
  });

  it('publishes nothing when it knows of no authority', async () => {
    cluster = new FakeCluster();
    controller = openBootstrapSigner({ clusterInfoServer: '' }, cluster.deps());
    await settle();
    assert.equal(cluster.get(configMaps, KEY), undefined);
  });

  it('signs with each token, so that its holder can verify it', async () => {
    put();
    put({ 'token-id': 'ghijkl', 'token-secret': 'fedcba9876543210', expiration: at(60_000) });
    await settle();
    assert.deepEqual(keys(), ['jws-kubeconfig-abcdef', 'jws-kubeconfig-ghijkl', 'kubeconfig']);
    assert.equal(await isSigned(data(), `${TOKEN_ID}.${TOKEN_SECRET}`), true);
    assert.equal(await isSigned(data(), 'ghijkl.fedcba9876543210'), true);
    assert.equal(await isSigned(data(), `${TOKEN_ID}.fedcba9876543210`), false);
    assert.equal(await isSigned({ ...data(), kubeconfig: 'other' }, `${TOKEN_ID}.${TOKEN_SECRET}`), false);
    cluster.asked.length = 0;
    await settle();
    assert.deepEqual(cluster.asked, []);
  });

  for (const [what, change] of [
    ['goes', (): unknown => cluster.remove(secrets, TOKEN_KEY)],
    ['expires', (): unknown => put({ expiration: at(-1) })],
    ['has an expiration that cannot be read', (): unknown => put({ expiration: 'never' })],
    ['is not meant for signing', (): unknown => put({ 'usage-bootstrap-signing': 'false' })],
    ['says nothing of signing', (): unknown => put({ 'usage-bootstrap-signing': undefined })],
    ['is being deleted', (): unknown => put({}, { deletionTimestamp: at(0) })],
    ['has no secret', (): unknown => put({ 'token-secret': undefined })],
    ['has a secret of another form', (): unknown => put({ 'token-secret': 'short' })],
    ['has another name', (): unknown => put({ 'token-id': 'zzzzzz' }, { name: 'bootstrap-token-abcdef' })],
  ] as const) {
    it(`takes a signature away when its token ${what}`, async () => {
      put();
      await settle();
      assert.deepEqual(keys(), ['jws-kubeconfig-abcdef', 'kubeconfig']);
      change();
      await settle();
      assert.deepEqual(keys(), ['kubeconfig']);
    });
  }

  it('signs anew what others have written, and leaves it and their keys as they are', async () => {
    put();
    const metadata = { name: 'cluster-info', namespace };
    const theirs = { kubeconfig: 'theirs', other: 'kept', 'jws-kubeconfig-gone00': 'x', 'jws-kubeconfig-abcdef': 'y' };
    cluster.put(configMaps, { metadata: { ...metadata, labels: { a: 'b' } }, data: theirs, binaryData: { c: 'eA==' } });
    await settle();
    assert.deepEqual(keys(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'other']);
    assert.equal(data()['kubeconfig'], 'theirs');
    assert.equal(await isSigned(data(), `${TOKEN_ID}.${TOKEN_SECRET}`), true);
    assert.deepEqual(cluster.get(configMaps, KEY)?.metadata.labels, { a: 'b' });
    assert.deepEqual(cluster.get(configMaps, KEY)?.binaryData, { c: 'eA==' });
    cluster.put(configMaps, { metadata, data: { kubeconfig: 'another' } });
    await settle();
    assert.equal(await isSigned(data(), `${TOKEN_ID}.${TOKEN_SECRET}`), true);
  });

  it('follows the address and the authorities of the server with what it has published itself', async () => {
    put();
    await settle();
    const { kubeconfig = '' } = data();
    for (const o of [{ clusterInfoServer: 'https://next.example' }, { authorities: 'OTHER' }]) {
      open(o);
      cluster.put(configMaps, { metadata: { name: 'cluster-info', namespace }, data: { kubeconfig, other: 'kept' } });
      put();
      await settle();
      assert.notEqual(data()['kubeconfig'], kubeconfig);
      assert.deepEqual(keys(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'other']);
      assert.equal(await isSigned(data(), `${TOKEN_ID}.${TOKEN_SECRET}`), true);
      for (const theirs of [
        `${kubeconfig}# and a word of theirs`,
        kubeconfig.replace('users: []', 'users: [{}]'),
        kubeconfig.replace('"https', "'https"),
      ]) {
        // prettier-ignore
        cluster.put(configMaps, { metadata: { name: 'cluster-info', namespace }, data: { kubeconfig: theirs } });
        await settle();
        assert.equal(data()['kubeconfig'], theirs);
      }
    }
    controller = openBootstrapSigner({ clusterInfoServer: '' }, cluster.deps());
    cluster.put(configMaps, { metadata: { name: 'cluster-info', namespace }, data: { kubeconfig } });
    await settle();
    assert.equal(data()['kubeconfig'], kubeconfig); // nothing says whom to trust
  });

  it('signs nothing where there is no configuration', async () => {
    put();
    cluster.put(configMaps, { metadata: { name: 'cluster-info', namespace }, data: { 'jws-kubeconfig-abcdef': 'x' } });
    await settle();
    assert.deepEqual(keys(), []);
  });

  it('publishes anew what was deleted', async () => {
    put();
    await settle();
    cluster.remove(configMaps, KEY);
    await settle();
    assert.deepEqual(keys(), ['jws-kubeconfig-abcdef', 'kubeconfig']);
  });

  it('comes back when the first token expires, and in a day at the latest', async () => {
    cluster.put(configMaps, { metadata: { name: 'cluster-info', namespace }, data: { kubeconfig: 'k' } });
    assert.equal(await controller.reconcile('cluster-info', never), undefined);
    put({ expiration: at(1e11) });
    assert.deepEqual(await controller.reconcile('cluster-info', never), { againInMs: 24 * 3_600_000 });
    put({ 'token-id': 'ghijkl', expiration: at(60_000) });
    const { againInMs = 0 } = (await controller.reconcile('cluster-info', never)) ?? {};
    assert.ok(againInMs > 30_000 && againInMs <= 60_000, String(againInMs));
  });

  it('leaves the config map to its change when it was changed meanwhile; failures come again', async () => {
    put();
    cluster.refuse(/^create configmaps/, 'AlreadyExists');
    assert.equal(await controller.reconcile('cluster-info', never), undefined);
    await settle();
    cluster.remove(secrets, TOKEN_KEY);
    for (const reason of ['Conflict', 'NotFound'] as const) {
      cluster.refuse(/^update configmaps/, reason);
      assert.equal(await controller.reconcile('cluster-info', never), undefined);
    }
    cluster.refuse(/^update configmaps/, 'Forbidden');
    await assert.rejects(controller.reconcile('cluster-info', never), /Forbidden/);
  });
});
