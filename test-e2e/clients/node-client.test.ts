import assert from 'node:assert/strict';
import {
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1ObjectMeta,
} from '@kubernetes/client-node';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { startPlatform, type Running } from '../support/platform.js';

const NAMESPACE = 'default';
const WAIT_MS = 20_000;

/** Events by name, with a way to wait for one. */
class Seen {
  readonly #all: string[] = [];
  readonly #checks = new Set<() => void>();

  note(event: string): void {
    this.#all.push(event);
    for (const check of this.#checks) check();
  }

  until(event: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`No ${event} in ${this.#all.join(', ')}`)), WAIT_MS);
      const check = (): void => {
        if (!this.#all.includes(event)) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      this.#checks.add(check);
      check();
    });
  }
}

for (const store of ['embedded', 'etcd'] as const) {
  describe(`the Node client on --vocabulary=kubernetes --store=${store}`, function () {
    this.timeout(90_000);
    let etcd: EtcdServer | undefined;
    let server: Running;
    let config: KubeConfig;
    let core: CoreV1Api;
    const configMap = (name: string, labels: Record<string, string> = {}): V1ConfigMap =>
      Object.assign(new V1ConfigMap(), { metadata: { name, labels }, data: { a: '1' } });

    before(async () => {
      etcd = store === 'etcd' ? await startEtcd() : undefined;
      server = await startPlatform({
        vocabulary: 'kubernetes',
        store,
        ...(etcd === undefined ? {} : { etcdServers: [etcd.url] }),
      });
      config = new KubeConfig();
      config.loadFromFile(server.kubeconfig);
      core = config.makeApiClient(CoreV1Api);
    });
    after(async () => {
      await server.stop();
      await etcd?.stop();
    });

    it('creates, reads, patches and deletes', async () => {
      const created = await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('one') });
      assert.ok(created.metadata?.uid);
      const patched = await core.patchNamespacedConfigMap(
        { namespace: NAMESPACE, name: 'one', body: { data: { b: '2' } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      assert.deepEqual(patched.data, { a: '1', b: '2' });
      const read = await core.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'one' });
      assert.equal(read.metadata?.resourceVersion, patched.metadata?.resourceVersion);
      await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'one' });
      await assert.rejects(core.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'one' }), { code: 404 });
    });

    it('lists in chunks of one snapshot', async () => {
      const labelSelector = 'set=paged';
      for (let i = 0; i < 7; i++) {
        await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap(`paged-${i}`, { set: 'paged' }) });
      }
      const names: string[] = [];
      const versions = new Set<string | undefined>();
      let token: string | undefined;
      do {
        const page = await core.listNamespacedConfigMap({
          namespace: NAMESPACE,
          labelSelector,
          limit: 3,
          ...(token === undefined ? {} : { _continue: token }),
        });
        names.push(...page.items.map((item) => item.metadata?.name ?? ''));
        versions.add(page.metadata?.resourceVersion);
        token = page.metadata?._continue;
        if (names.length === 3) await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'paged-6' });
      } while (token !== undefined && token !== '');
      assert.deepEqual(
        names,
        Array.from({ length: 7 }, (_, i) => `paged-${i}`),
      );
      assert.equal(versions.size, 1);
    });

    it('watches', async () => {
      const { metadata } = await core.listNamespacedConfigMap({ namespace: NAMESPACE });
      const seen = new Seen();
      const controller = await new Watch(config).watch(
        `/api/v1/namespaces/${NAMESPACE}/configmaps`,
        { resourceVersion: metadata?.resourceVersion },
        (type: string, object: V1ConfigMap) => seen.note(`${type} ${object.metadata?.name ?? ''}`),
        () => undefined,
      );
      try {
        await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('watched') });
        await seen.until('ADDED watched');
        await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'watched' });
        await seen.until('DELETED watched');
      } finally {
        controller.abort();
      }
    });

    it('keeps an informer in step', async () => {
      await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('informed-before') });
      const informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/configmaps`, () =>
        core.listNamespacedConfigMap({ namespace: NAMESPACE }),
      );
      const seen = new Seen();
      for (const event of ['add', 'update', 'delete'] as const) {
        informer.on(event, (object) => seen.note(`${event} ${object.metadata?.name ?? ''}`));
      }
      await informer.start();
      try {
        await seen.until('add informed-before');
        await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('informed') });
        await seen.until('add informed');
        await core.patchNamespacedConfigMap(
          { namespace: NAMESPACE, name: 'informed', body: { data: { b: '2' } } },
          setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
        );
        await seen.until('update informed');
        assert.deepEqual(informer.get('informed', NAMESPACE)?.data, { a: '1', b: '2' });
        await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'informed' });
        await seen.until('delete informed');
      } finally {
        await informer.stop();
      }
    });

    it('keeps an informer of a custom type in step, also when its definition changes', async () => {
      const extensions = config.makeApiClient(ApiextensionsV1Api);
      const custom = config.makeApiClient(CustomObjectsApi);
      const at = { group: 'example.com', version: 'v1', namespace: NAMESPACE, plural: 'books' };
      const book = (name: string): KubernetesObject => ({
        ...BOOK,
        metadata: Object.assign(new V1ObjectMeta(), { name }),
      });
      const list = async (): Promise<KubernetesListObject<KubernetesObject>> =>
        (await custom.listNamespacedCustomObject(at)) as KubernetesListObject<KubernetesObject>;
      await extensions.createCustomResourceDefinition({
        body: Object.assign(new V1CustomResourceDefinition(), DEFINITION),
      });
      await untilServed(list);
      await custom.createNamespacedCustomObject({ ...at, body: book('before') });
      const informer = makeInformer(config, `/apis/example.com/v1/namespaces/${NAMESPACE}/books`, list);
      const seen = new Seen();
      for (const event of ['add', 'update', 'delete'] as const) {
        informer.on(event, (object) => seen.note(`${event} ${object.metadata?.name ?? ''}`));
      }
      await informer.start();
      try {
        await seen.until('add before');
        await custom.createNamespacedCustomObject({ ...at, body: book('after') });
        await seen.until('add after');
        await extensions.patchCustomResourceDefinition(
          { name: 'books.example.com', body: { spec: { names: { shortNames: ['bk'] } } } },
          setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
        );
        await custom.createNamespacedCustomObject({ ...at, body: book('later') });
        await seen.until('add later');
        await custom.deleteNamespacedCustomObject({ ...at, name: 'before' });
        await seen.until('delete before');
      } finally {
        await informer.stop();
      }
    });
  });
}

const BOOK = { apiVersion: 'example.com/v1', kind: 'Book' };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'books.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'books', kind: 'Book' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

/** A definition is served once its names are accepted. */
async function untilServed(list: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  const isServed = (): Promise<boolean> =>
    list().then(
      () => true,
      (err: unknown) => {
        if ((err as { code?: number }).code !== 404) throw err;
        return false;
      },
    );
  while (!(await isServed())) {
    assert.ok(Date.now() < deadline, 'it is not served');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
