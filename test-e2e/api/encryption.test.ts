import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyService } from '../support/key-service.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import type { Client, Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { configMap, createConfigMap, created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { STORES, TestServer, type StoreName } from './tools/server.js';

const key = (name: string): object => ({ name, secret: randomBytes(32).toString('base64') });
const [ONE, TWO] = [key('one'), key('two')];
const aescbc = (...keys: object[]): object => ({ aescbc: { keys } });
const IDENTITY = { identity: {} };
/** Nothing of it may be found in the store. */
const MARK = 'a-value-that-nobody-may-find';

const secret = (name: string, value = MARK): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { value },
});
const versionOf = ({ metadata }: Document): number => Number(metadata.resourceVersion);
const valueOf = (reply: Reply): string =>
  Buffer.from((ok(reply) as unknown as { data: { value: string } }).data.value, 'base64').toString();

/** Waits until a path is answered with 200. */
const served = (client: Client, path: string): Promise<true> =>
  eventually(async () => {
    const reply = await client.get(path).catch(() => undefined);
    return reply?.code === 200 ? true : undefined;
  }, 60_000);

/** Providers by the names of resources, with spaces between these. */
type Rules = Readonly<Record<string, readonly object[]>>;

/** A server with a configuration of encryption that tests change. */
class Scene {
  readonly directory = scratchDirectory();
  readonly #file = join(this.directory, 'encryption.json');
  #server: TestServer | undefined;

  async start(store: StoreName, rules: Rules): Promise<void> {
    this.configure(rules);
    const flags = [`--encryption-provider-config=${this.#file}`, '--encryption-provider-config-automatic-reload'];
    this.#server = await TestServer.start({ store, flags });
  }

  get server(): TestServer {
    assert.ok(this.#server !== undefined);
    return this.#server;
  }

  get client(): Client {
    return this.server.client;
  }

  /** By resources. */
  configure(rules: Rules): void {
    const resources = Object.entries(rules).map(([names, providers]) => ({ resources: names.split(' '), providers }));
    const head = { apiVersion: 'apiserver.config.platform.io/v1', kind: 'EncryptionConfiguration' };
    writeFileSync(this.#file, JSON.stringify({ ...head, resources }));
  }

  async reloads(status: 'success' | 'failure'): Promise<number> {
    const { text } = await this.client.get('/metrics');
    const name = `apiserver_encryption_config_controller_automatic_reloads_total{status="${status}"}`;
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.slice(name.length) ?? 0,
    );
  }

  /** Changes the configuration, and waits until the server has taken it or refused it. */
  async reconfigure(rules: Rules, status: 'success' | 'failure' = 'success'): Promise<void> {
    const before = await this.reloads(status);
    this.configure(rules);
    await eventually(async () => ((await this.reloads(status)) > before ? true : undefined), 60_000);
  }

  /** Whether the store has these bytes anywhere: those of etcd now, those of an embedded store with its history. */
  async stored(text: string): Promise<boolean> {
    const { etcd, directory } = this.server;
    if (etcd === undefined) {
      const store = join(directory, 'store');
      const files = readdirSync(store).filter((name) => !name.includes('lock'));
      return files.some((name) => readFileSync(join(store, name)).includes(text));
    }
    const body = JSON.stringify({
      key: Buffer.from('/').toString('base64'),
      range_end: Buffer.from('0').toString('base64'),
    });
    const answer = await fetch(`${etcd.url}/v3/kv/range`, { method: 'POST', body });
    const { kvs = [] } = (await answer.json()) as { kvs?: { value?: string }[] };
    return kvs.some(({ value = '' }) => Buffer.from(value, 'base64').includes(text));
  }

  async close(): Promise<void> {
    await this.#server?.close();
    removeDirectory(this.directory);
  }
}

for (const store of STORES) {
  describe(`encryption at rest on ${store}`, function () {
    this.timeout(180_000);
    let scene: Scene;
    beforeEach(() => (scene = new Scene()));
    afterEach(() => scene.close());

    const secrets = async (): Promise<string> => `/api/v1/namespaces/${await newNamespace(scene.client)}/secrets`;

    it('keeps no value in clear, and serves it as ever: lists, pages, past states, watches, after a restart, too', async () => {
      await scene.start(store, { 'secrets *.apps': [{ aesgcm: { keys: [ONE] } }, IDENTITY] });
      const path = await secrets();
      const first = created(await scene.client.post(path, secret('s0')));
      for (let i = 1; i < 6; i++) created(await scene.client.post(path, secret(`s${i}`)));
      const changed = ok(await scene.client.put(`${path}/s0`, secret('s0', `${MARK}-changed`)));
      await createConfigMap(scene.client, path.split('/')[4] ?? '', 'plain', { data: { a: 'this-may-be-found' } });
      assert.ok(await scene.stored('this-may-be-found'));
      assert.ok(await scene.stored('platform:enc:aesgcm:v1:one:'));
      for (const form of [MARK, Buffer.from(MARK).toString('base64')]) assert.ok(!(await scene.stored(form)), form);
      for (let round = 0; round < 2; round++) {
        const { client } = scene;
        assert.equal(valueOf(await client.get(`${path}/s0`)), `${MARK}-changed`);
        assert.equal(valueOf(await client.get(`${path}/s1?resourceVersion=0`)), MARK);
        const before = `resourceVersion=${versionOf(changed) - 1}&resourceVersionMatch=Exact`;
        const page = ok(await client.get(`${path}?${before}&limit=4`));
        const rest = ok(await client.get(`${path}?limit=4&continue=${page.metadata['continue'] as string}`));
        const names = [...page.items, ...rest.items].map(({ metadata }) => metadata.name);
        assert.deepEqual(names, ['s0', 's1', 's2', 's3', 's4', 's5']);
        assert.deepEqual((page.items[0] as unknown as { data: object }).data, {
          value: Buffer.from(MARK).toString('base64'),
        });
        const watch = await client.watch(`${path}?watch=1&resourceVersion=${versionOf(first) - 1}`);
        const told = (await watch.take(7)).map(({ type, object }) => `${type} ${object.metadata.name}`);
        assert.deepEqual(told, ['ADDED s0', 'ADDED s1', 'ADDED s2', 'ADDED s3', 'ADDED s4', 'ADDED s5', 'MODIFIED s0']);
        watch.close();
        if (round === 0) await scene.server.restart();
      }
    });

    it('writes anew with another key what an update changes nothing of, and once only', async () => {
      await scene.start(store, { secrets: [IDENTITY] });
      const path = await secrets();
      created(await scene.client.post(path, secret('s')));
      const rewrite = async (): Promise<string | undefined> =>
        ok(await scene.client.put(`${path}/s`, ok(await scene.client.get(`${path}/s`)))).metadata.resourceVersion;
      let version = await rewrite(); // which may change who owns what
      assert.equal(await rewrite(), version);
      for (const [providers, prefix] of [
        [[aescbc(ONE), IDENTITY], 'aescbc:v1:one:'],
        [[aescbc(TWO, ONE)], 'aescbc:v1:two:'],
        [[{ secretbox: { keys: [ONE] } }, aescbc(TWO)], 'secretbox:v1:one:'],
      ] as const) {
        await scene.reconfigure({ secrets: providers });
        assert.ok(!(await scene.stored(`platform:enc:${prefix}`)));
        const next = await rewrite();
        assert.notEqual(next, version);
        assert.ok(await scene.stored(`platform:enc:${prefix}`));
        assert.equal(await rewrite(), next);
        version = next;
      }
      await scene.reconfigure({ secrets: [{ secretbox: { keys: [ONE] } }] });
      assert.equal(valueOf(await scene.client.get(`${path}/s`)), MARK);
    });

    it('goes on with the configuration that it has when a new one cannot be used', async () => {
      await scene.start(store, { secrets: [aescbc(ONE)] });
      const path = await secrets();
      await scene.reconfigure({ secrets: [aescbc({ name: 'one', secret: 'c2hvcnQ=' })] }, 'failure');
      created(await scene.client.post(path, secret('s')));
      assert.equal(valueOf(await scene.client.get(`${path}/s`)), MARK);
      assert.match(
        scene.server.log,
        /encryption\.json: line 1: resources\[0\]\.providers\[0\]\.aescbc\.keys\[0\]\.secret: must be/,
      );
      assert.ok(!scene.server.log.includes('c2hvcnQ'));
    });

    it('fails for what it has no key for, leaves nothing out, and recovers when the key comes back', async () => {
      await scene.start(store, { 'secrets configmaps': [aescbc(ONE)] });
      const path = await secrets();
      const other = await secrets();
      created(await scene.client.post(path, secret('s')));
      scene.configure({ secrets: [aescbc(TWO)], configmaps: [aescbc(ONE)] });
      await scene.server.restart();
      const { client } = scene;
      const why =
        /^Internal error occurred: unable to transform key "\/registry\/core\/secrets\/\S+\/s": no matching prefix found$/;
      for (const query of [
        '',
        '?resourceVersion=0',
        '?limit=1',
        '?labelSelector=a%3Db',
        '?fieldSelector=metadata.name%3Ds',
      ]) {
        refused(await client.get(`${path}${query}`), 500, 'InternalError', why);
      }
      refused(await client.get('/api/v1/secrets'), 500, 'InternalError', why);
      refused(await client.get(`${path}/s`), 500, 'InternalError', why);
      refused(await client.put(`${path}/s`, secret('s')), 500, 'InternalError', why);
      refused(await client.patch(`${path}/s`, { metadata: { labels: { a: 'b' } } }), 500, 'InternalError', why);
      refused(await client.delete(`${path}/s`), 500, 'InternalError', why);
      refused(await client.delete(path), 500, 'InternalError', why);
      assert.deepEqual(ok(await client.get(other)).items, []);
      created(await client.post(other, secret('t')));
      const watch = await client.watch(`${other}?watch=1&resourceVersion=0`);
      assert.equal((await watch.take(1))[0]?.object.metadata.name, 't');
      watch.close();
      const namespace = other.split('/')[4] ?? '';
      created(await client.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap('c')));
      await scene.reconfigure({ secrets: [aescbc(TWO, ONE)], configmaps: [aescbc(ONE)] });
      await served(client, `${path}/s`);
      assert.equal(valueOf(await client.get(`${path}/s`)), MARK);
      assert.equal(ok(await client.get('/api/v1/secrets')).items.length, 2);
      ok(await client.delete(`${path}/s`));
    });

    describe('with a key management service', () => {
      let service: KeyService;
      const kms = (): object => ({
        kms: { apiVersion: 'v2', name: 'vault', endpoint: service.endpoint, timeout: '500ms' },
      });
      beforeEach(() => (service = new KeyService(store === 'embedded' ? scene.directory : undefined)));
      afterEach(() => service.stop());

      it('asks it for keys and not for values, reads after a restart, and follows its rotation', async () => {
        await service.start();
        await scene.start(store, { secrets: [kms()] });
        const path = await secrets();
        for (let i = 0; i < 20; i++) created(await scene.client.post(path, secret(`s${i}`)));
        assert.deepEqual(
          service.asked.filter((what) => what !== 'Status'),
          ['Encrypt'],
        );
        assert.ok(await scene.stored('platform:enc:kms:v2:vault:'));
        assert.ok(!(await scene.stored(Buffer.from(MARK).toString('base64'))));
        await scene.server.restart();
        assert.equal(ok(await scene.client.get(path)).items.length, 20);
        assert.deepEqual(
          service.asked.filter((what) => what !== 'Status'),
          ['Encrypt', 'Encrypt', 'Decrypt'],
        );
        const same = async (): Promise<string | undefined> =>
          ok(await scene.client.put(`${path}/s0`, ok(await scene.client.get(`${path}/s0`)))).metadata.resourceVersion;
        const version = await same();
        service.rotate('key-after');
        await scene.reconfigure({ secrets: [kms()], configmaps: [IDENTITY] });
        assert.ok(!(await scene.stored('key-after')));
        assert.notEqual(await same(), version);
        assert.ok(await scene.stored('key-after'));
        assert.equal(valueOf(await scene.client.get(`${path}/s0`)), MARK);
        const { text } = await scene.client.get('/metrics');
        for (const part of [
          /^apiserver_envelope_encryption_kms_operations_latency_seconds_count\{.*provider_name="vault",method_name="Encrypt",grpc_status_code="OK"\} 2$/m,
          /^apiserver_envelope_encryption_key_id_hash_total\{.*key_id_hash="sha256:[0-9a-f]{64}"\} \d+$/m,
          /^apiserver_storage_transformation_operations_total\{.*transformer_prefix="platform:enc:kms:v2:vault:",status="OK"\} \d+$/m,
        ]) {
          assert.match(text, part);
        }
      });

      it('serves all else without it, says what fails, and recovers with it', async () => {
        await service.start();
        await scene.start(store, { secrets: [kms()] });
        const path = await secrets();
        created(await scene.client.post(path, secret('s')));
        await scene.server.end();
        if (store === 'etcd') service.silent = true;
        else service.stop();
        const starting = scene.server.run();
        const { client } = scene;
        const code = async (of: string): Promise<number> => (await client.get(of)).code;
        await served(client, '/api/v1/configmaps');
        const namespace = path.split('/')[4] ?? '';
        created(await client.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap('c')));
        const why = /: the key management service vault did not decrypt its key: (Unavailable|DeadlineExceeded)$/;
        refused(await client.get(`${path}/s`), 500, 'InternalError', why);
        refused(await client.get(path), 500, 'InternalError', why);
        refused(await client.post(path, secret('t')), 500, 'InternalError', /vault has given no key to encrypt with$/);
        for (const of of ['/readyz/kms-providers', '/livez', '/readyz']) assert.equal(await code(of), 500, of);
        if (store === 'etcd') service.silent = false;
        else await service.start();
        await starting;
        await served(client, `${path}/s`);
        assert.equal(valueOf(await client.get(`${path}/s`)), MARK);
        created(await client.post(path, secret('t')));
        assert.equal(ok(await client.get(path)).items.length, 2);
      });
    });
  });
}
