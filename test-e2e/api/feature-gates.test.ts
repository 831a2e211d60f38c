import assert from 'node:assert/strict';
import { startProgram } from '../support/program.js';
import { configMapsIn, createConfigMap, newNamespace, ok } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';

interface ResourceEntry {
  readonly name: string;
  readonly storageVersionHash?: string;
}

const resourcesOf = async (server: TestServer): Promise<readonly ResourceEntry[]> =>
  ok(await server.client.get('/api/v1'))['resources'] as readonly ResourceEntry[];

onServer('feature gates that are on', { store: 'embedded' }, (server) => {
  it('give chunks, counts of what remains, storage hashes, schemas of version 3 and ephemeral containers', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b', 'c']) await createConfigMap(client, namespace, name);
    const page = ok(await client.get(`${configMapsIn(namespace)}?limit=1`));
    assert.deepEqual([page.items.length, page.metadata.remainingItemCount], [1, 2]);
    const resources = await resourcesOf(server());
    assert.ok(resources.some((r) => r.storageVersionHash !== undefined));
    assert.ok(resources.some((r) => r.name === 'pods/ephemeralcontainers'));
    ok(await client.get('/openapi/v3'));
  });
});

const OFF = 'APIListChunking=false,StorageVersionHash=false,OpenAPIV3=false,EphemeralContainers=false';

onServer('feature gates that are off', { store: 'embedded', flags: [`--feature-gates=${OFF}`] }, (server) => {
  it('take all of that away', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b', 'c']) await createConfigMap(client, namespace, name);
    const page = ok(await client.get(`${configMapsIn(namespace)}?limit=1`));
    assert.deepEqual([page.items.length, page.metadata.continue], [3, undefined]);
    const resources = await resourcesOf(server());
    assert.ok(resources.every((r) => r.storageVersionHash === undefined));
    assert.ok(!resources.some((r) => r.name === 'pods/ephemeralcontainers'));
    assert.equal((await client.get('/openapi/v3')).code, 404);
  });
});

onServer('a single gate', { store: 'embedded', flags: ['--feature-gates=RemainingItemCount=false'] }, (server) => {
  it('leaves the others as they are', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b']) await createConfigMap(client, namespace, name);
    const page = ok(await client.get(`${configMapsIn(namespace)}?limit=1`));
    assert.equal(page.items.length, 1);
    assert.notEqual(page.metadata.continue, undefined);
    assert.equal(page.metadata.remainingItemCount, undefined);
  });
});

onServer(
  'gates and flags of the past',
  { store: 'embedded', flags: ['--feature-gates=ServerSideApply=true', '--target-ram-mb=100'] },
  (server) => {
    it('warn, and do nothing', () => {
      assert.match(server().log, /ServerSideApply is deprecated and non-operational/);
      assert.match(server().log, /--target-ram-mb is deprecated since 1\.19/);
    });
  },
);

describe('a start with gates that cannot be', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['--feature-gates=ServerSideApply=false', /ServerSideApply: the feature is generally available since 1\.22/],
    ['--feature-gates=TokenRequest=true', /TokenRequest: the gate was removed in 1\.21/],
    ['--feature-gates=Nonsense=true', /Nonsense: there is no such feature gate/],
    ['--show-hidden-metrics-for-version=1.20', /the one release that can be named is 1\.23/],
  ];
  for (const [flag, message] of cases) {
    it(`ends with one line for ${flag}`, async () => {
      const program = startProgram(['up', '--secure-port=0', flag]);
      const { code } = await program.exited;
      assert.notEqual(code, 0);
      assert.match(program.stderr(), message);
      assert.equal(program.stderr().trim().split('\n').length, 1, program.stderr());
    }).timeout(20_000);
  }
});
