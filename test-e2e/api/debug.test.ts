import assert from 'node:assert/strict';
import { Access, tokenFile } from './tools/access.js';
import { configMapsIn, createConfigMap, created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';

interface Status {
  readonly verbosity: number;
  readonly feed: { readonly revision: number; readonly ready: boolean };
  readonly cache: {
    readonly watchers: number;
    readonly resources: readonly { readonly resource: string; readonly objects: number; readonly watchers: number }[];
  };
  readonly priorityLevels: readonly { readonly name: string; readonly seats: number; readonly executing: number }[];
  readonly loop: { readonly lagMs: number };
  readonly memory: { readonly rss: number };
}

const FLAGS = [`--token-auth-file=${tokenFile('a-token-for-tests')}`];

onServer('/debug', { store: 'embedded', flags: FLAGS }, (server) => {
  const access = new Access(server, 'platform');
  const status = async (): Promise<Status> => ok(await server().client.get('/debug/status')) as unknown as Status;

  it('shows the flags that count', async () => {
    const { code, text, headers } = await server().client.get('/debug/flags');
    assert.equal(code, 200);
    assert.match(headers['content-type'] ?? '', /^text\/plain/);
    for (const line of ['--v=0', '--log-level=warn', '--request-timeout=60000ms', '--store=embedded']) {
      assert.ok(text.split('\n').includes(line), text);
    }
  });

  it('shows what the server has in memory and under way', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a');
    const before = await status();
    const watch = await client.watch(`${configMapsIn(namespace)}?watch=1`);
    const { cache, feed, priorityLevels, loop, memory } = await status();
    assert.ok(feed.ready && feed.revision > 0 && memory.rss > 0 && loop.lagMs >= 0);
    assert.equal(cache.watchers, before.cache.watchers + 1);
    const configMaps = cache.resources.find(({ resource }) => resource === 'configmaps');
    assert.ok(configMaps !== undefined && configMaps.objects >= 1 && configMaps.watchers >= 1);
    const level = priorityLevels.find(({ name }) => name === 'global-default');
    assert.ok(level !== undefined && level.seats > 0 && level.executing === 0);
    watch.close();
  });

  for (const [name, seconds, extension] of [
    ['profile', 1, 'cpuprofile'],
    ['heap', 1, 'heapprofile'],
  ] as const) {
    it(`takes a ${name} while the server serves on, one at a time`, async () => {
      const { client } = server();
      const path = `/debug/pprof/${name}?seconds=${seconds}`;
      const both = Promise.all([client.get(path), client.get(path)]);
      ok(await client.get('/api/v1/configmaps'));
      const [taken, other] = (await both).sort((a, b) => a.code - b.code);
      assert.deepEqual([taken.code, other.code], [200, 429]);
      assert.match(String(taken.headers['content-disposition']), new RegExp(`filename="${name}.${extension}"`));
      const profile = JSON.parse(taken.text) as { nodes?: object[]; head?: object };
      assert.ok(Array.isArray(profile.nodes) || profile.head !== undefined);
      assert.match(String(other.headers['retry-after']), /^\d+$/);
    });
  }

  it('gives up a profile whose client leaves, and refuses times out of bounds', async () => {
    const { client } = server();
    const leave = new AbortController();
    const left = client.request('GET', '/debug/pprof/profile?seconds=50', { signal: leave.signal });
    await eventually(async () =>
      (await client.get('/debug/pprof/profile?seconds=1')).code === 429 ? true : undefined,
    );
    leave.abort();
    await assert.rejects(left);
    await eventually(async () =>
      (await client.get('/debug/pprof/profile?seconds=1')).code === 200 ? true : undefined,
    );
    for (const seconds of ['0', '61', '-1', '1.5', 'x']) {
      refused(await client.get(`/debug/pprof/heap?seconds=${seconds}`), 400, 'BadRequest', /from 1 to 59/);
    }
  });

  it('changes how much is logged', async () => {
    const { client } = server();
    assert.equal((await client.get('/debug/flags/v')).text, '0\n');
    await client.get('/api/v1/nodes?limit=1');
    assert.equal((await client.request('PUT', '/debug/flags/v', { body: '3', type: 'text/plain' })).code, 200);
    assert.equal((await status()).verbosity, 3);
    await client.get('/api/v1/nodes?limit=2');
    await eventually(() => Promise.resolve(/nodes\?limit=2.*"msg":"HTTP"/.test(server().log) ? true : undefined));
    assert.equal((await client.request('PUT', '/debug/flags/v', { body: '0', type: 'text/plain' })).code, 200);
    await client.get('/api/v1/nodes?limit=3');
    assert.doesNotMatch(server().log, /nodes\?limit=[13]/);
    for (const body of ['x', '11', '-1', '', '1'.repeat(100)]) {
      const { code } = await client.request('PUT', '/debug/flags/v', { body, type: 'text/plain' });
      assert.ok(code === 400 || code === 413, body);
    }
    refused(await client.post('/debug/flags/v', {}), 405, 'MethodNotAllowed');
    refused(await client.get('/debug/nonsense'), 404, 'NotFound');
  });

  it('answers those who may', async () => {
    const { client, name } = await access.newUser();
    const asked = async (): Promise<number[]> => [
      (await client.get('/debug/flags')).code,
      (await client.request('PUT', '/debug/flags/v', { body: '0', type: 'text/plain' })).code,
    ];
    assert.deepEqual(await asked(), [403, 403]);
    const role = { rules: [{ nonResourceURLs: ['/debug/*'], verbs: ['get'] }] };
    created(await access.admin.post(access.path('clusterroles'), access.object('ClusterRole', 'debugger', role)));
    const binding = access.binding('ClusterRoleBinding', 'debugger', ['ClusterRole', 'debugger'], name);
    created(await access.admin.post(access.path('clusterrolebindings'), binding));
    await eventually(async () => ((await asked())[0] === 200 ? true : undefined));
    assert.deepEqual(await asked(), [200, 403]);
    client.close();
  });

  it('is among the paths of the server', async () => {
    assert.ok((ok(await server().client.get('/'))['paths'] as string[]).includes('/debug/flags'));
  });
});

onServer('a server without profiling', { store: 'embedded', flags: ['--profiling=false'] }, (server) => {
  it('has nothing below /debug', async () => {
    for (const path of ['/debug/flags', '/debug/status', '/debug/pprof/heap']) {
      refused(await server().client.get(path), 404, 'NotFound');
    }
    assert.ok(!JSON.stringify(ok(await server().client.get('/'))).includes('/debug'));
  });
});
