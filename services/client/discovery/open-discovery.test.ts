import assert from 'node:assert/strict';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Handler, Informer, Informers } from '../informer/informer.js';
import type { AnyObject, Live } from '../rest/resource-type.js';
import { openDiscovery, type RunningDiscovery } from './open-discovery.js';

const V2 = 'application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList';
const never = new AbortController().signal;

const aggregated = (...items: object[]): object => ({ kind: 'APIGroupDiscoveryList', items });
const resource = (name: string, kind: string, more: object = {}): object => ({
  resource: name,
  responseKind: { kind },
  scope: 'Namespaced',
  verbs: ['get', 'list'],
  ...more,
});
const CORE = aggregated({
  metadata: {},
  versions: [{ version: 'v1', resources: [resource('pods', 'Pod', { subresources: [{ subresource: 'status' }], shortNames: ['po'], categories: ['all'] }), resource('nodes', 'Node', { scope: 'Cluster' })] }], // prettier-ignore
});

/** A server that answers with documents, and says what it was asked. */
class Documents {
  readonly asked: string[] = [];
  readonly documents = new Map<string, object | number>([
    ['/api', CORE],
    ['/apis', aggregated()],
  ]);
  hold: Promise<void> = Promise.resolve();

  readonly client = {
    raw: async ({ path, headers }: { path: string; headers?: Readonly<Record<string, string>> }) => {
      this.asked.push(path);
      assert.ok(headers?.['accept']?.startsWith(`${V2}, `));
      const document = this.documents.get(path) ?? 404;
      await this.hold;
      const status = typeof document === 'number' ? document : 200;
      return { status, headers: {}, body: Buffer.from(JSON.stringify(document)) };
    },
  };
}

describe('openDiscovery()', () => {
  let server: Documents;
  let discovery: RunningDiscovery;
  let warnings: string[];
  let time: number;
  const log = { debug: () => undefined, info: () => undefined, warn: (message: string) => void warnings.push(message), error: () => undefined }; // prettier-ignore
  const open = (informers?: Informers): RunningDiscovery =>
    openDiscovery(server.client, { vocabulary: vocabulary('platform'), log, now: () => time, ...(informers === undefined ? {} : { informers }) }); // prettier-ignore
  beforeEach(() => {
    time = 0;
    server = new Documents();
    warnings = [];
    discovery = open();
  });

  const shown = async (): Promise<string[]> =>
    (await discovery.served({ fresh: true }, never)).resources.map(
      ({ group, version, resource, isPreferred }) => `${group}/${version}/${resource}${isPreferred ? '' : ' (old)'}`,
    );

  it('reads the form that holds everything', async () => {
    const { resources, failed } = await discovery.served({}, never);
    assert.deepEqual(failed, []);
    assert.deepEqual(resources, [
      { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true, verbs: new Set(['get', 'list']), shortNames: ['po'], categories: ['all'], subresources: ['status'], isPreferred: true }, // prettier-ignore
      { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false, verbs: new Set(['get', 'list']), shortNames: [], categories: [], subresources: [], isPreferred: true }, // prettier-ignore
    ]);
    await discovery.served({}, never);
    assert.deepEqual(server.asked, ['/api', '/apis']);
  });

  it('reads the form of old, the preferred version of a group first, each resource in its best version', async () => {
    const entry = (name: string, kind: string): object => ({ name, kind, namespaced: true, verbs: ['get'] });
    server.documents.set('/api', { kind: 'APIVersions', versions: ['v1'] });
    server.documents.set('/api/v1', { resources: [{ ...entry('pods', 'Pod'), shortNames: ['po'] }, entry('pods/status', 'Pod')] }); // prettier-ignore
    server.documents.set('/apis', {
      kind: 'APIGroupList',
      groups: [
        { name: 'policy', versions: [{ version: 'v1beta1' }, { version: 'v1' }], preferredVersion: { version: 'v1' } },
        { name: 'gone', versions: [{ version: 'v1' }] },
      ],
    });
    server.documents.set('/apis/policy/v1', { resources: [entry('budgets', 'Budget')] });
    server.documents.set('/apis/policy/v1beta1', {
      resources: [entry('budgets', 'Budget'), entry('policies', 'Policy')],
    });
    server.documents.set('/apis/gone/v1', 503);
    assert.deepEqual(await shown(), ['/v1/pods', 'policy/v1/budgets', 'policy/v1beta1/budgets (old)', 'policy/v1beta1/policies']); // prettier-ignore
    const { resources, failed } = await discovery.served({}, never);
    assert.deepEqual([failed, resources[0]?.subresources, resources[0]?.shortNames], [['gone/v1'], ['status'], ['po']]);
    assert.equal(warnings.length, 1);
  });

  it('tells which versions could not be asked', async () => {
    server.documents.set('/apis', aggregated({ metadata: { name: 'far' }, versions: [{ version: 'v1', freshness: 'Stale' }] })); // prettier-ignore
    assert.deepEqual((await discovery.served({}, never)).failed, ['far/v1']);
    await assert.rejects(discovery.resourceOf({ apiVersion: 'far/v1', kind: 'Thing' }, never), /far\/v1/);
    server.documents.set('/apis', 500);
    await assert.rejects(discovery.served({ fresh: true }, never), { code: 500 });
  });

  it('finds the resource of a kind, and asks once more for one that is not known, but not each time', async () => {
    const thing = { apiVersion: 'x.io/v1', kind: 'Thing' };
    const find = async (): Promise<string | undefined> => (await discovery.resourceOf(thing, never))?.resource;
    assert.equal((await discovery.resourceOf({ apiVersion: 'v1', kind: 'Node' }, never))?.resource, 'nodes');
    assert.equal(await discovery.resourceOf({ apiVersion: 'v2', kind: 'Node' }, never), undefined);
    assert.equal(await find(), undefined);
    const before = server.asked.length;
    server.documents.set('/apis', aggregated({ metadata: { name: 'x.io' }, versions: [{ version: 'v1', resources: [resource('things', 'Thing')] }] })); // prettier-ignore
    assert.equal(await find(), undefined);
    assert.equal(server.asked.length, before);
    time += 10_000;
    assert.equal(await find(), 'things');
    assert.equal(await find(), 'things');
    assert.equal(server.asked.length, before + 2);
  });

  it('asks once for all who want to know at the same time, and anew for who comes later and wants it fresh', async () => {
    let release = (): void => undefined;
    server.hold = new Promise((resolve) => (release = resolve));
    const first = [discovery.served({}, never), discovery.served({ fresh: true }, never), discovery.served({}, never)];
    const second = [discovery.served({ fresh: true }, never), discovery.served({ fresh: true }, never)];
    server.documents.set('/apis', aggregated({ metadata: { name: 'x.io' }, versions: [{ version: 'v1', resources: [resource('things', 'Thing')] }] })); // prettier-ignore
    const gone = new AbortController();
    const left = assert.rejects(discovery.served({ fresh: true }, gone.signal), /enough/);
    gone.abort(new Error('enough'));
    await left;
    release();
    const counts = (await Promise.all([...first, ...second])).map(({ resources }) => resources.length);
    assert.deepEqual(counts, [2, 3, 2, 3, 3]);
    assert.equal(server.asked.length, 4);
  });

  it('asks again when definitions change, and tells of what has changed', async () => {
    const handlers: Handler<Live<AnyObject>>[] = [];
    const followed: string[] = [];
    const metadataOf = ({ resource }: { readonly resource: string }): Informer<AnyObject> => {
      followed.push(resource);
      return {
        handle: (handler: Handler<Live<AnyObject>>) => handlers.push(handler),
      } as unknown as Informer<AnyObject>;
    };
    discovery = open({ metadataOf } as unknown as Informers);
    assert.deepEqual(followed, ['customresourcedefinitions', 'apiservices']);
    let told = 0;
    let seen = (): void => undefined;
    const stop = new AbortController();
    const changed = (): Promise<void> => new Promise((resolve) => (seen = resolve));
    const forget = discovery.listen(() => {
      told++;
      seen();
    });
    const first = changed();
    const running = discovery.run(stop.signal);
    await first;
    server.documents.set('/apis', aggregated({ metadata: { name: 'x.io' }, versions: [{ version: 'v1', resources: [resource('things', 'Thing')] }] })); // prettier-ignore
    const next = changed();
    for (const handler of handlers) handler.updated?.({} as Live<AnyObject>, {} as Live<AnyObject>);
    await next;
    assert.equal(told, 2);
    assert.deepEqual(server.asked.length, 4);
    forget();
    handlers[0]?.deleted?.({} as Live<AnyObject>);
    server.documents.set('/apis', aggregated());
    assert.equal((await discovery.served({}, never)).resources.length, 2); // known is not what was before
    assert.equal(told, 2);
    stop.abort();
    await running;
  });
});
