import assert from 'node:assert/strict';
import { VerbScene } from '../verbs/testing/scene.js';
import { addition } from './testing/additions.js';

const THINGS = '/apis/example.com/v1/namespaces/default/things';
const NAME = { group: 'example.com', resource: 'things' };
const thing = (name: string, more: object = {}): object => ({ metadata: { name }, ...more });

describe('LiveCatalog', () => {
  let s: VerbScene;
  const things = addition('example.com', 'things', { kind: 'Thing' });
  beforeEach(async () => {
    s = await VerbScene.open();
  });
  afterEach(() => s.close());

  it('serves a resource from the moment that it is added until it is removed', async () => {
    assert.equal((await s.request('GET', THINGS)).code, 404);
    s.core.live.change({ add: [things] });
    assert.equal((await s.request('POST', THINGS, thing('a', { spec: { size: 1 } }))).code, 201);
    assert.equal((await s.request('GET', THINGS)).body.items.length, 1);
    assert.equal((await s.request('GET', `${THINGS}/a`)).body.apiVersion, 'example.com/v1');
    s.core.live.change({ remove: [NAME] });
    for (const path of [THINGS, `${THINGS}/a`]) assert.equal((await s.request('GET', path)).code, 404);
    assert.equal((await s.request('POST', THINGS, thing('b'))).code, 404);
  });

  it('says in lists what objects are, in the version that is asked for', async () => {
    s.core.live.change({ add: [addition('example.com', 'things', { kind: 'Thing', versions: ['v1', 'v2'] })] });
    for (const name of ['a', 'b', 'c']) await s.request('POST', THINGS, thing(name, { metadata: { name, labels: { name } } })); // prettier-ignore
    for (const version of ['v1', 'v2']) {
      const path = THINGS.replace('v1', version);
      for (const [query, names] of [
        ['', 'abc'],
        ['?limit=2', 'ab'],
        ['?labelSelector=name%3Db', 'b'],
      ] as const) {
        const { items } = (await s.request('GET', path + query)).body;
        const is = { apiVersion: `example.com/${version}`, kind: 'Thing' };
        assert.deepEqual(items.map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, name: metadata.name })), Array.from(names, (name) => ({ ...is, name }))); // prettier-ignore
      }
    }
    const { items } = (await s.request('DELETE', THINGS)).body;
    assert.deepEqual(
      items.map(({ kind }) => kind),
      Array(3).fill('Thing'),
    );
    const [secret] = (await s.request('GET', '/api/v1/namespaces')).body.items;
    assert.deepEqual([secret?.kind, secret?.apiVersion], [undefined, undefined], 'others are what their list says');
  });

  it('makes each version of the catalog anew and leaves those before as they were', () => {
    const { live } = s.core;
    const before = live.current;
    const after = live.change({ add: [things, addition('other.example.com', 'things', { kind: 'Thing' })] });
    assert.equal(before.api.find('example.com', 'v1', 'things'), undefined);
    assert.notEqual(after.api.find('example.com', 'v1', 'things'), undefined);
    assert.equal(after.catalog.types.get('example.com/v1.Thing')?.form, 'struct');
    assert.deepEqual([before.api.generation, after.api.generation], [0, 1]);
    const shared = after.api.groups.filter((group) => before.api.groups.includes(group));
    assert.equal(shared.length, before.api.groups.length, 'groups in which nothing has changed');
    const last = live.change({ remove: [NAME] });
    assert.notEqual(after.api.find('example.com', 'v1', 'things'), undefined);
    assert.deepEqual(
      last.api.groups.filter(({ name }) => name.endsWith('example.com')).map(({ name }) => name),
      ['other.example.com'],
    );
  });

  it('has objects follow the rules of metadata, and the status be a part of its own where it is declared', async () => {
    s.core.live.change({ add: [things, addition('example.com', 'plains', { kind: 'Plain', withStatus: false })] });
    const invalid = await s.request('POST', THINGS, thing('Not-A-Name'));
    assert.deepEqual([invalid.code, invalid.body.reason], [422, 'Invalid']);
    const status = { status: { phase: 'Done' } };
    const generations = async (path: string): Promise<readonly unknown[]> => {
      const made = await s.request('POST', path, thing('a', { spec: { size: 1 }, ...status }));
      assert.equal(made.code, 201);
      const seen: unknown[] = [made.body['status'], made.body.metadata.generation];
      for (const patch of [{ spec: { size: 2 } }, { metadata: { labels: { a: 'b' } } }, { status: { phase: 'X' } }]) {
        const patched = await s.request('PATCH', `${path}/a`, patch, 'application/merge-patch+json');
        seen.push(patched.body.metadata.generation);
      }
      return seen;
    };
    assert.deepEqual(await generations(THINGS), [undefined, 1, 2, 2, 2]);
    const plains = THINGS.replace('things', 'plains');
    assert.deepEqual(await generations(plains), [{ phase: 'Done' }, 1, 2, 2, 3]);
    const written = await s.request('PATCH', `${THINGS}/a/status`, status, 'application/merge-patch+json');
    assert.deepEqual([written.code, written.body['status'], written.body.metadata.generation], [200, status.status, 2]);
    assert.equal((await s.request('PATCH', `${plains}/a/status`, status, 'application/merge-patch+json')).code, 404);
  });

  it('decodes, merges and owns the fields of its types', async () => {
    s.core.live.change({ add: [things] });
    const path = `${THINGS}/a?fieldManager=`;
    const applied = { apiVersion: 'example.com/v1', kind: 'Thing', ...thing('a', { spec: { colors: ['red'] } }) };
    const made = await s.request('PATCH', `${path}me`, applied, 'application/apply-patch+yaml');
    assert.equal(made.code, 201, made.body.message);
    assert.deepEqual(
      made.body.metadata.managedFields?.map((entry) => (entry as { fieldsV1: object }).fieldsV1),
      [{ 'f:spec': { 'f:colors': { 'v:"red"': {} } } }],
    );
    const other = { ...applied, spec: { colors: ['blue'] } };
    const both = await s.request('PATCH', `${path}other`, other, 'application/apply-patch+yaml');
    assert.deepEqual(both.body['spec'], { colors: ['red', 'blue'] }, 'a set, by its declaration');
    const wrong = await s.request('POST', THINGS, thing('b', { spec: { size: 'large' } }));
    assert.equal(wrong.code, 400);
  });

  it('serves each version of a resource, and stores one', async () => {
    s.core.live.change({ add: [addition('example.com', 'things', { kind: 'Thing', versions: ['v2', 'v1'] })] });
    await s.request('POST', THINGS, thing('a', { spec: { size: 3 } }));
    const other = await s.request('GET', `${THINGS.replace('v1', 'v2')}/a`);
    assert.deepEqual([other.body.apiVersion, other.body['spec']], ['example.com/v2', { size: 3 }]);
  });

  it('starts anew with a resource that comes again under its name, also as another kind', async () => {
    s.core.live.change({ add: [things] });
    await s.request('POST', THINGS, thing('a', { spec: { size: 1 } }));
    const before = s.core.resources.stored('example.com', 'things');
    s.core.live.change({ remove: [NAME], add: [addition('example.com', 'things', { kind: 'Object' })] });
    const made = await s.request('POST', THINGS, thing('b'));
    assert.deepEqual([made.code, made.body.kind], [201, 'Object']);
    const after = s.core.resources.stored('example.com', 'things');
    assert.notEqual(after?.cache, before?.cache);
    assert.equal(after?.cache.size, 1, 'what was stored of the other kind is left out');
  });

  it('has requests that wait for a resource told when it goes', async () => {
    const { feed, live, resources } = s.core;
    const register = feed.register.bind(feed);
    feed.register = (): void => undefined; // it is never loaded
    live.change({ add: [things] });
    feed.register = register;
    const cache = resources.stored('example.com', 'things')?.cache ?? assert.fail();
    const whenLoaded = cache.whenLoaded.bind(cache);
    const arrived = new Promise<void>((resolve) => {
      cache.whenLoaded = (...given) => {
        resolve();
        return whenLoaded(...given);
      };
    });
    const waiting = s.request('GET', THINGS);
    await arrived;
    live.change({ remove: [NAME] });
    cache.close(); // as the feed would
    assert.equal((await waiting).code, 404);
  });

  const refusals: readonly (readonly [string, () => Parameters<typeof s.core.live.change>[0], RegExp])[] = [
    ['what is built in', () => ({ add: [addition('', 'configmaps')] }), /built in/],
    ['what is there already', () => ({ add: [things, things] }), /there already/],
    ['to remove what is built in', () => ({ remove: [{ group: '', resource: 'pods' }] }), /was not added/],
    ['to remove what is not there', () => ({ remove: [NAME] }), /was not added/],
    ['a type that is built in', () => ({ add: [typed('core/v1.Pod')] }), /built in/],
    ['one without its type', () => ({ add: [{ ...things, types: new Map() }] }), /not declared/],
  ];
  const typed = (key: string): typeof things => ({ ...things, types: new Map([...things.types, [key, {}]]) });
  for (const [what, change, why] of refusals) {
    it(`refuses ${what}, and then does nothing`, () => {
      const before = s.core.live.current;
      assert.throws(() => s.core.live.change(change()), why);
      assert.equal(s.core.live.current, before);
      assert.equal(s.core.resources.stored('example.com', 'things'), undefined);
    });
  }
});
