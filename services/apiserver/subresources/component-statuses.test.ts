import assert from 'node:assert/strict';
import { decodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { hasReason } from '../../machinery/meta/status.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { componentStatuses } from './component-statuses.js';
import type { OperationDeps } from './operation.js';

describe('componentStatuses()', () => {
  const catalog = loadCatalog(vocabulary('platform'));
  const declaration = catalog.resources.find(({ resource }) => resource === 'componentstatuses');

  interface Asked {
    readonly name?: string;
    readonly query?: string;
    readonly healthy?: boolean;
    readonly accept?: string;
  }
  const answer = async (verb: 'get' | 'list', o: Asked = {}): Promise<Buffer> => {
    const d = { catalog, storeIsHealthy: () => Promise.resolve(o.healthy ?? true) } as unknown as OperationDeps;
    let body: Buffer = Buffer.of();
    const res = { writeHead: () => undefined, end: (bytes: Buffer) => (body = bytes) };
    const ctx = {
      res,
      req: { headers: {} },
      get: (header: string) => (header === 'Accept' ? (o.accept ?? '') : ''),
      state: { query: new URLSearchParams(o.query) },
    } as unknown as Context;
    await componentStatuses(d)[verb]?.(ctx, { declaration, name: o.name ?? '' } as ResourceRequest);
    return body;
  };
  const ask = async (...asked: Parameters<typeof answer>): Promise<unknown> =>
    JSON.parse((await answer(...asked)).toString());
  const item = (status: string, message: string): object => ({
    metadata: { name: 'etcd-0' },
    conditions: [{ type: 'Healthy', status, message }],
  });
  const list = (...items: object[]): object => ({ kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items });

  it('lists the store', async () => assert.deepEqual(await ask('list'), list(item('True', 'ok'))));

  it('says of a store that does not answer that it is not healthy', async () =>
    assert.deepEqual(await ask('list', { healthy: false }), list(item('False', 'the store does not answer'))));

  for (const [query, selected] of [
    ['fieldSelector=metadata.name%3Detcd-0', true],
    ['fieldSelector=metadata.name%3Dscheduler', false],
    ['labelSelector=a%3Db', false],
    ['labelSelector=!a', true],
  ] as const)
    it(`lists ${selected ? 'it' : 'nothing'} for ${query}`, async () =>
      assert.deepEqual(await ask('list', { query }), selected ? list(item('True', 'ok')) : list()));

  describe('as a table', () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    interface Table {
      readonly kind: string;
      readonly metadata: object;
      readonly columnDefinitions: readonly { readonly name: string }[];
      readonly rows: readonly {
        readonly cells: readonly unknown[];
        readonly object: { readonly kind: string } | null;
      }[];
    }
    const table = async (...[verb, o]: Parameters<typeof ask>): Promise<Table> =>
      (await ask(verb, { ...o, accept })) as Table;

    it('shows the health of the store and what is said of it', async () => {
      const { kind, metadata, columnDefinitions, rows } = await table('list');
      assert.deepEqual([kind, metadata], ['Table', {}]);
      assert.deepEqual(
        columnDefinitions.map(({ name }) => name),
        ['Name', 'Status', 'Message', 'Error'],
      );
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        [['etcd-0', 'Healthy', 'ok', '']],
      );
      const [sick] = (await table('list', { healthy: false })).rows;
      assert.deepEqual(sick?.cells, ['etcd-0', 'Unhealthy', 'the store does not answer', '']);
    });

    it('has the same row for one, and none for what is not selected', async () => {
      assert.deepEqual((await table('get', { name: 'etcd-0' })).rows, (await table('list')).rows);
      assert.deepEqual((await table('list', { query: 'labelSelector=a%3Db' })).rows, []);
    });

    it('carries as much of the object as is asked for', async () => {
      const kindOf = async (include: string): Promise<string | undefined> =>
        (await table('list', { query: `includeObject=${include}` })).rows[0]?.object?.kind;
      assert.deepEqual(
        [await kindOf('Object'), await kindOf('Metadata'), await kindOf('None')],
        ['ComponentStatus', 'PartialObjectMetadata', undefined],
      );
      await assert.rejects(table('list', { query: 'includeObject=x' }), (err) => hasReason(err, 'BadRequest'));
    });
  });

  describe('as metadata alone', () => {
    const accept = (kind: string, version = 'v1', type = 'application/json'): string =>
      `${type};as=${kind};v=${version};g=meta.k8s.io`;
    const LIST = 'PartialObjectMetadataList';

    it('lists the names of what is selected', async () => {
      const listed = (query?: string): Promise<unknown> =>
        ask('list', { accept: accept(LIST), ...(query === undefined ? {} : { query }) });
      const metadata = { name: 'etcd-0' };
      const apiVersion = 'meta.k8s.io/v1';
      assert.deepEqual(await listed(), {
        kind: LIST,
        apiVersion,
        metadata: {},
        items: [{ kind: 'PartialObjectMetadata', apiVersion, metadata }],
      });
      assert.deepEqual(await listed('labelSelector=a%3Db'), { kind: LIST, apiVersion, metadata: {}, items: [] });
    });

    it('is the same in Protobuf', async () => {
      const metadata = '0a060a0012001a00';
      const item = '1a0a180a06657463642d3012001a0022002a003200380042007a00'; // what has a length in ObjectMeta, and the name
      const messages = { v1: `${metadata}12${item}`, v1beta1: `0a${item}12${metadata.slice(2)}` };
      for (const [version, message] of Object.entries(messages)) {
        const type = 'application/vnd.kubernetes.protobuf';
        const body = await answer('list', { accept: accept(LIST, version, type) });
        const envelope = decodeEnvelope(body);
        assert.deepEqual([envelope.kind, envelope.apiVersion], [LIST, `meta.k8s.io/${version}`]);
        assert.equal(Buffer.from(envelope.raw).toString('hex'), message);
      }
    });

    it('shows one, and has no list of one', async () => {
      assert.deepEqual(await ask('get', { name: 'etcd-0', accept: accept('PartialObjectMetadata') }), {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'etcd-0' },
      });
      for (const [verb, kind] of [
        ['get', LIST],
        ['list', 'PartialObjectMetadata'],
      ] as const)
        // prettier-ignore
        await assert.rejects(ask(verb, { name: 'etcd-0', accept: accept(kind) }), (e) => hasReason(e, 'NotAcceptable'));
    });
  });

  it('gets the store by its name, and nothing else', async () => {
    assert.deepEqual(await ask('get', { name: 'etcd-0' }), {
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      ...item('True', 'ok'),
    });
    await assert.rejects(ask('get', { name: 'scheduler' }), (err) => hasReason(err, 'NotFound'));
  });
});
