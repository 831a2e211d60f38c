import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { VerbScene } from './testing/scene.js';

/* The list of docs/adding.md for a built-in type, gone through: one file of declarations and one line among the resources. */

const GROUP = 'fixtures.example.com';
const FILE = `${GROUP}.v1.json`;
const TYPE_META = { name: 'typeMeta', type: 'meta/v1.TypeMeta', inline: true };
const DECLARATION = {
  [`${GROUP}/v1.Fixture`]: {
    kind: true,
    fields: [
      TYPE_META,
      { name: 'metadata', type: 'meta/v1.ObjectMeta', alwaysEmit: true, proto: 1 },
      { name: 'spec', type: `${GROUP}/v1.FixtureSpec`, alwaysEmit: true, proto: 2 },
    ],
  },
  [`${GROUP}/v1.FixtureSpec`]: {
    fields: [
      { name: 'size', type: 'int32', default: 3, proto: 1, check: { min: 1 } },
      { name: 'colors', type: 'string', list: true, listType: 'set', patchStrategy: 'merge', proto: 2 },
    ],
  },
  [`${GROUP}/v1.FixtureList`]: {
    kind: true,
    fields: [
      TYPE_META,
      { name: 'metadata', type: 'meta/v1.ListMeta', alwaysEmit: true, proto: 1 },
      { name: 'items', type: `${GROUP}/v1.Fixture`, list: true, required: true, alwaysEmit: true, proto: 2 },
    ],
  },
};
const LINE = {
  group: GROUP,
  version: 'v1',
  resource: 'fixtures',
  singular: 'fixture',
  kind: 'Fixture',
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  servedByDefault: true,
};

/** Shows the data files with the file and the line in them. */
function addFixture(): void {
  const { readFileSync, readdirSync } = fs;
  const read = (path: URL | string, encoding: 'utf8'): unknown => {
    const name = String(path);
    if (name.endsWith(`/data/types/${FILE}`)) return JSON.stringify(DECLARATION);
    const text: unknown = readFileSync(path, encoding);
    if (!name.endsWith('/data/resources.json')) return text;
    return JSON.stringify([...(JSON.parse(String(text)) as unknown[]), LINE]);
  };
  const list = (path: URL | string, ...rest: unknown[]): unknown => {
    const names = (readdirSync as (...args: unknown[]) => unknown[])(path, ...rest);
    return String(path).endsWith('/data/types') ? [...names, FILE] : names;
  };
  mock.method(fs, 'readFileSync', read as never);
  mock.method(fs, 'readdirSync', list as never);
  syncBuiltinESMExports();
}

describe('a built-in type', () => {
  const COLLECTION = `/apis/${GROUP}/v1/namespaces/default/fixtures`;
  let scene: VerbScene;
  before(async () => {
    addFixture();
    scene = await VerbScene.open();
  });
  after(async () => {
    mock.restoreAll();
    syncBuiltinESMExports();
    await scene.close();
  });

  it('is there by its declaration and its line: defaulted, validated, merged, owned and listed', async () => {
    const body = { metadata: { name: 'a' }, spec: { colors: ['red'] } };
    const made = await scene.request('POST', COLLECTION, body);
    assert.equal(made.code, 201, JSON.stringify(made.body));
    assert.deepEqual(made.body['spec'], { size: 3, colors: ['red'] });
    assert.equal((await scene.request('POST', COLLECTION, { ...body, spec: { size: -1 } })).code, 422);
    const type = 'application/strategic-merge-patch+json';
    const patched = await scene.request('PATCH', `${COLLECTION}/a`, { spec: { colors: ['blue'] } }, type);
    assert.deepEqual(patched.body['spec'], { size: 3, colors: ['blue', 'red'] });
    const { managedFields = [] } = patched.body['metadata'] as { managedFields?: { apiVersion: string }[] };
    assert.deepEqual([...new Set(managedFields.map(({ apiVersion }) => apiVersion))], [`${GROUP}/v1`]);
    const list = await scene.request('GET', COLLECTION);
    assert.deepEqual([list.code, list.body['kind'], (list.body['items'] as unknown[]).length], [200, 'FixtureList', 1]);
  });
});
