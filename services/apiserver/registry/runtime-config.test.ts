import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import type { Catalog, ResourceDeclaration } from '../../machinery/types/declarations.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { compareVersions, serve, servedApi } from './runtime-config.js';
import type { ServedApi } from './served.js';

const words = vocabulary('platform');
const catalog = loadCatalog(words);
const configured = (config: Record<string, string>, from: Catalog = catalog): { api: ServedApi; warnings: string[] } =>
  servedApi(from, new Map(Object.entries(config)));
const versionsOf = (api: ServedApi, group: string): string[] | undefined =>
  api.groups.find((g) => g.name === group)?.versions.map((v) => v.version);

/** The catalog with a version of batch that is off by default. */
function withAlpha(): Catalog {
  const cronJobs = catalog.resources.find((d) => d.resource === 'cronjobs' && d.version === 'v1')!;
  const alpha: ResourceDeclaration = { ...cronJobs, version: 'v2alpha1', servedByDefault: false };
  return { ...catalog, resources: [...catalog.resources, alpha] };
}

describe('servedApi()', () => {
  it('serves what the release serves, core first', () => {
    const { api, warnings } = configured({});
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      api.groups.map((g) => g.name),
      [
        '',
        words.groups.apiregistration,
        'apps',
        words.groups.events,
        words.groups.authentication,
        words.groups.authorization,
        'autoscaling',
        'batch',
        words.groups.certificates,
        words.groups.networking,
        'policy',
        words.groups.rbac,
        words.groups.storage,
        words.groups.admissionregistration,
        words.groups.apiextensions,
        words.groups.scheduling,
        words.groups.coordination,
        words.groups.node,
        words.groups.discovery,
        words.groups.flowcontrol,
      ],
    );
    assert.deepEqual(versionsOf(api, 'autoscaling'), ['v2', 'v1', 'v2beta2', 'v2beta1']);
  });

  it('answers in a removed version of a review where it is asked for by name, and nowhere else', () => {
    const { authentication, authorization } = words.groups;
    assert.deepEqual(versionsOf(configured({ 'api/all': 'true', 'api/beta': 'true' }).api, authentication), ['v1']);
    const key = `${authorization}/v1beta1`;
    const { api, warnings } = configured({ [key]: 'true', [`${authentication}/v1beta1/tokenreviews`]: 'true' });
    assert.deepEqual([versionsOf(api, authorization), versionsOf(api, authentication)], [['v1', 'v1beta1'], ['v1', 'v1beta1']]); // prettier-ignore
    assert.deepEqual(warnings, []);
    assert.equal(api.find(authentication, 'v1beta1', 'selfsubjectreviews'), undefined);
  });

  it('finds a resource by where it is served', () => {
    const { api } = configured({});
    assert.equal(api.find('apps', 'v1', 'deployments')?.kind, 'Deployment');
    assert.equal(api.find('', 'v1', 'pods')?.kind, 'Pod');
    assert.equal(api.find('', 'v1', 'bindings')?.virtual, true);
    assert.equal(api.find('apps', 'v1beta1', 'deployments'), undefined);
    assert.equal(api.find('__proto__', 'v1', 'constructor'), undefined);
  });

  it('leaves out a group version, and its group with the last one', () => {
    const { api } = configured({ 'batch/v1beta1': 'false', 'apps/v1': 'false' });
    assert.deepEqual(versionsOf(api, 'batch'), ['v1']);
    assert.equal(versionsOf(api, 'apps'), undefined);
    assert.equal(api.find('apps', 'v1', 'deployments'), undefined);
  });

  it('serves a version that is off by default when it is named', () => {
    assert.deepEqual(versionsOf(configured({}, withAlpha()).api, 'batch'), ['v1', 'v1beta1']);
    assert.deepEqual(versionsOf(configured({ 'batch/v2alpha1': '' }, withAlpha()).api, 'batch'), [
      'v1',
      'v1beta1',
      'v2alpha1',
    ]);
    assert.deepEqual(versionsOf(configured({ 'api/alpha': 'true' }, withAlpha()).api, 'batch'), [
      'v1',
      'v1beta1',
      'v2alpha1',
    ]);
  });

  it('lets the more specific key win', () => {
    const { api } = configured({
      'api/all': 'false',
      'api/ga': 'true',
      'apps/v1': 'false',
      'apps/v1/deployments': 'true',
    });
    assert.deepEqual(versionsOf(api, 'batch'), ['v1']);
    assert.deepEqual(
      api.groups.find((g) => g.name === 'apps')?.versions[0]?.resources.map((d) => d.resource),
      ['deployments'],
    );
  });

  for (const key of ['v1', 'api/v1']) {
    it(`knows the core group as ${key}`, () => {
      assert.equal(configured({ [key]: 'false' }).api.find('', 'v1', 'pods'), undefined);
      assert.equal(configured({ [`${key}/pods`]: 'false' }).api.find('', 'v1', 'pods'), undefined);
      assert.equal(configured({ [`${key}/pods`]: 'false' }).api.find('', 'v1', 'nodes')?.kind, 'Node');
    });
  }

  it('warns of a version or resource that its group lacks', () => {
    const { api, warnings } = configured({ 'apps/v1beta1': 'true', 'apps/v1/sets': 'false' });
    assert.deepEqual(warnings, [
      '--runtime-config: "apps/v1beta1" is not known and changes nothing',
      '--runtime-config: "apps/v1/sets" is not known and changes nothing',
    ]);
    assert.deepEqual(versionsOf(api, 'apps'), ['v1']);
  });

  const wanted = 'wanted <group>/<version>, <group>/<version>/<resource>, or api/all, api/ga, api/beta, api/alpha';
  for (const [key, value, message] of [
    ['nope/v1', 'true', 'Cannot use --runtime-config "nope/v1": there is no API group "nope"'],
    ['apps/v1', 'maybe', 'Cannot use --runtime-config "apps/v1": "maybe" is neither true nor false'],
    ['apps', 'true', `Cannot use --runtime-config "apps": ${wanted}`],
    ['api/gamma', 'true', `Cannot use --runtime-config "api/gamma": ${wanted}`],
    ['apps/v1/deployments/scale', 'true', `Cannot use --runtime-config "apps/v1/deployments/scale": ${wanted}`],
    ['apps/', 'true', `Cannot use --runtime-config "apps/": ${wanted}`],
    ['api/all', 'false', 'Cannot use --runtime-config: it leaves nothing to serve'],
  ] as const) {
    it(`refuses ${key}=${value}`, () => {
      assert.throws(() => configured({ [key]: value }), { message });
    });
  }
});

describe('serve()', () => {
  it('puts groups that it does not know last, by name', () => {
    const own = (group: string): ResourceDeclaration => ({ ...catalog.resources[0]!, group });
    const api = serve([own('b.example.com'), own('a.example.com'), own('apps'), own('')], 7);
    assert.deepEqual(
      api.groups.map((g) => g.name),
      ['', 'apps', 'a.example.com', 'b.example.com'],
    );
    assert.equal(api.generation, 7);
  });
});

describe('compareVersions()', () => {
  it('puts the more stable first, then the higher', () => {
    const sorted = [
      'v1alpha1',
      'v2',
      'foo',
      'v1',
      'v10',
      'v1beta2',
      'v11beta2',
      'v3beta1',
      'v12alpha1',
      'v10beta3',
      'bar',
    ];
    assert.deepEqual(sorted.sort(compareVersions), [
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v3beta1',
      'v1beta2',
      'v12alpha1',
      'v1alpha1',
      'bar',
      'foo',
    ]);
  });
});
