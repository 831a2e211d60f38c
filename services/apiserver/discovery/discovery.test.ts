import assert from 'node:assert/strict';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { serve } from '../registry/runtime-config.js';
import { startPathServer, type Answer, type PathServer } from './testing/path-server.js';

const words = vocabulary('platform');
const WIDGETS: ResourceDeclaration = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  namespaced: false,
  shortNames: [],
  categories: [],
  verbs: ['list', 'get'],
  subresources: [],
  virtual: false,
  type: 'example.com/v1.Widget',
  storage: { group: 'example.com', version: 'v1' },
  servedByDefault: true,
  selectableFields: [],
  nameRule: '',
  unconditionalUpdate: true,
  createOnUpdate: false,
};

interface Entry {
  readonly name: string;
  readonly [member: string]: unknown;
}
const entry = (answer: Answer, name: string): Entry | undefined =>
  (answer.json()['resources'] as Entry[]).find((r) => r.name === name);

describe('Discovery', () => {
  let server: PathServer;
  before(async () => (server = await startPathServer()));
  after(() => server.close());

  it('tells the versions of the core group, and where it was reached', async () => {
    const { code, headers, ...answer } = await server.get('/api');
    assert.equal(code, 200);
    assert.equal(headers['content-type'], 'application/json');
    assert.deepEqual(answer.json(), {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: `127.0.0.1:${server.port}` }],
    });
  });

  it('lists the named groups with the version that it prefers', async () => {
    const groups = (await server.get('/apis')).json()['groups'] as Entry[];
    assert.equal(
      groups.some((g) => g.name === ''),
      false,
    );
    assert.deepEqual(
      groups.find((g) => g.name === 'batch'),
      {
        name: 'batch',
        versions: [
          { groupVersion: 'batch/v1', version: 'v1' },
          { groupVersion: 'batch/v1beta1', version: 'v1beta1' },
        ],
        preferredVersion: { groupVersion: 'batch/v1', version: 'v1' },
      },
    );
  });

  it('has a document for each group', async () => {
    const group = (await server.get('/apis/apps')).json();
    assert.equal(group['kind'], 'APIGroup');
    assert.equal(group['name'], 'apps');
    assert.deepEqual(group['preferredVersion'], { groupVersion: 'apps/v1', version: 'v1' });
  });

  it('tells all about a resource', async () => {
    const answer = await server.get('/api/v1');
    assert.equal(answer.json()['groupVersion'], 'v1');
    assert.deepEqual(entry(answer, 'pods'), {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
      storageVersionHash: 'xPOwRZ+Yhw8=',
    });
    assert.equal(entry(answer, 'bindings')?.['storageVersionHash'], undefined);
  });

  it('tells the kind of a sub-resource, and its group version where that is another', async () => {
    const answer = await server.get('/api/v1');
    assert.deepEqual(entry(answer, 'pods/status'), {
      name: 'pods/status',
      singularName: '',
      namespaced: true,
      kind: 'Pod',
      verbs: ['get', 'patch', 'update'],
    });
    assert.deepEqual(entry(answer, 'pods/eviction'), {
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
    assert.equal(entry(answer, 'serviceaccounts/token')?.['group'], words.groups.authentication);
  });

  for (const path of ['/apis/nope', '/apis/apps/v9', '/api/v2', '/apis/nope/v1', '/API', '/apis/apps%2Fv1']) {
    it(`has nothing at ${path}`, async () => {
      const answer = await server.get(path);
      assert.equal(answer.code, 404);
      assert.equal(answer.json()['message'], 'the server could not find the requested resource');
    });
  }

  it('answers in YAML and indented to those who ask', async () => {
    const yaml = await server.get('/apis/apps', { accept: 'application/yaml' });
    assert.equal(yaml.headers['content-type'], 'application/yaml');
    assert.match(yaml.text, /^kind: APIGroup$/m);
    assert.match((await server.get('/apis/apps?pretty=true')).text, /^ {2}"kind": "APIGroup",$/m);
  });

  it('refuses what it cannot answer in', async () => {
    for (const path of ['/api', '/apis', '/apis/apps', '/api/v1', '/version']) {
      assert.equal((await server.get(path, { accept: 'text/html' })).code, 406, path);
    }
  });

  it('lacks what is switched off, /api too', async () => {
    const other = await startPathServer({ runtimeConfig: { 'api/v1': 'false', 'apps/v1': 'false' } });
    try {
      for (const path of ['/api', '/api/v1', '/apis/apps', '/apis/apps/v1']) {
        assert.equal((await other.get(path)).code, 404, path);
      }
    } finally {
      await other.close();
    }
  });

  describe('aggregated', () => {
    const accept = (version: string): string =>
      `application/json;g=${words.apiDiscoveryGroup};v=${version};as=APIGroupDiscoveryList`;

    for (const version of ['v2', 'v2beta1']) {
      it(`has everything about the named groups in one document of ${version}`, async () => {
        const answer = await server.get('/apis', { accept: `${accept(version)},application/json` });
        assert.equal(answer.headers['content-type'], accept(version));
        assert.match(answer.headers.vary ?? '', /\bAccept\b/);
        const { kind, apiVersion, items } = answer.json() as { kind: string; apiVersion: string; items: Aggregated[] };
        assert.equal(kind, 'APIGroupDiscoveryList');
        assert.equal(apiVersion, `${words.apiDiscoveryGroup}/${version}`);
        const apps = items.find((i) => i.metadata.name === 'apps')!;
        assert.equal(apps.versions[0]!.freshness, 'Current');
        assert.deepEqual(
          apps.versions[0]!.resources.find((r) => r['resource'] === 'deployments'),
          {
            resource: 'deployments',
            responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
            scope: 'Namespaced',
            singularResource: 'deployment',
            verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
            shortNames: ['deploy'],
            categories: ['all'],
            subresources: [
              {
                subresource: 'scale',
                responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                verbs: ['get', 'patch', 'update'],
              },
              {
                subresource: 'status',
                responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
                verbs: ['get', 'patch', 'update'],
              },
            ],
          },
        );
      });
    }

    it('has the core group alone at /api', async () => {
      const { items } = (await server.get('/api', { accept: accept('v2') })).json() as { items: Aggregated[] };
      assert.deepEqual(
        items.map((i) => [i.metadata.name, i.versions.map((v) => v.version)]),
        [[undefined, ['v1']]],
      );
    });

    it('answers 304 to a client that has the same', async () => {
      const { etag = '' } = (await server.get('/apis', { accept: accept('v2') })).headers;
      assert.match(etag, /^"[0-9A-F]{64}"$/);
      const again = await server.get('/apis', { accept: accept('v2'), 'if-none-match': etag });
      assert.deepEqual([again.code, again.bytes.length], [304, 0]);
      const other = await server.get('/apis', { accept: accept('v2beta1'), 'if-none-match': etag });
      assert.equal(other.code, 200);
    });

    for (const [name, header] of [
      ['of a version that is not known', accept('v3')],
      ['of another group', 'application/json;g=example.com;v=v2;as=APIGroupDiscoveryList'],
      ['of another kind', `application/json;g=${words.apiDiscoveryGroup};v=v2;as=Table`],
    ] as const) {
      it(`falls back from a form ${name}`, async () => {
        const answer = await server.get('/apis', { accept: `${header},application/json` });
        assert.equal(answer.headers['content-type'], 'application/json');
        assert.equal(answer.json()['kind'], 'APIGroupList');
        assert.equal((await server.get('/apis', { accept: header })).code, 406);
      });
    }
  });

  it('makes its documents anew when another generation is served', async () => {
    let current = serve([WIDGETS], 1);
    const other = await startPathServer({ api: () => current });
    try {
      assert.equal(entry(await other.get('/apis/example.com/v1'), 'widgets')?.['kind'], 'Widget');
      current = serve([{ ...WIDGETS, kind: 'Gadget' }], 2);
      assert.equal(entry(await other.get('/apis/example.com/v1'), 'widgets')?.['kind'], 'Gadget');
    } finally {
      await other.close();
    }
  });
});

interface Aggregated {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly freshness: string;
    readonly resources: readonly Record<string, unknown>[];
  }[];
}
