import assert from 'node:assert/strict';
import { decodeEnvelope } from '../../services/machinery/codec/protobuf/envelope.js';
import { jsonFormOf, messageName, publishedReader } from '../../services/machinery/codec/protobuf/testing/published.js';
import { decodeObject } from '../../services/machinery/schema/decode.js';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { askBytes, takeFrames, type BytesReply } from './tools/bytes.js';
import type { Document } from './tools/document.js';
import { configMap, configMapsIn, createConfigMap, deployment, deploymentsIn, newNamespace, ok, pod } from './tools/objects.js'; // prettier-ignore
import { onServer, type TestServer } from './tools/server.js';

const { types } = loadCatalog(vocabulary('platform'));
const read = publishedReader();

interface Read {
  readonly kind: string;
  readonly apiVersion: string;
  /** As JSON would say it. */
  readonly object: Document;
}

/** Reads a body as any other program can: with the published files. */
function readBody(bytes: Buffer, typeKey: string): Read {
  const { kind, apiVersion, raw } = decodeEnvelope(bytes);
  const json = { kind, apiVersion, ...(jsonFormOf(types.of(typeKey), read(messageName(typeKey), raw)) as object) };
  return { kind, apiVersion, object: decodeObject(types.of(typeKey), json).value as Document };
}

/** An event of a watch: its type and the body in it. */
function readFrame(frame: Buffer | undefined, typeKey: string): readonly [type: string, Read] {
  const { type, object } = read('io.platform.meta.v1.WatchEvent', frame ?? Buffer.alloc(0)) as {
    type: string;
    object: { raw: string };
  };
  return [type, readBody(Buffer.from(object.raw, 'base64'), typeKey)];
}

const WORDS = [
  ['platform', 'application/vnd.platform.protobuf', 'meta.platform.io'],
  ['kubernetes', 'application/vnd.kubernetes.protobuf', 'meta.k8s.io'],
] as const;

for (const [words, media, group] of WORDS) {
  const flags = [`--vocabulary=${words}`];
  onServer(`Protobuf in the words of ${words}`, { store: 'embedded', flags }, (server) => {
    objects(server, media);
    partialObjects(server, media, group);
    watches(server, media, group);
  });
}

/** What JSON said, in the same form. */
const normal = (json: Document, typeKey: string): Document => decodeObject(types.of(typeKey), json).value as Document;

const get = (server: TestServer, path: string, accept: string): Promise<BytesReply> =>
  askBytes(server.client, 'GET', path, { accept });

function objects(server: () => TestServer, media: string): void {
  let namespace: string;
  before(async () => {
    namespace = await newNamespace(server().client);
  });

  it('says what JSON says of an object', async () => {
    const at = `${deploymentsIn(namespace)}/web`;
    const json = (await server().client.post(deploymentsIn(namespace), deployment('web'))).body;
    const { code, type, bytes } = await get(server(), at, media);
    assert.deepEqual([code, type], [200, media]);
    const { kind, apiVersion, object } = readBody(bytes, 'apps/v1.Deployment');
    assert.deepEqual([kind, apiVersion, object], ['Deployment', 'apps/v1', json]);
  });

  it('says what JSON says of a list', async () => {
    for (const name of ['a', 'b', 'c']) await createConfigMap(server().client, namespace, name, { data: { name } });
    const path = configMapsIn(namespace);
    for (const query of ['?', '?limit=2', '?fieldSelector=metadata.name%3Db', '?fieldSelector=metadata.name%3Dnone']) {
      const { bytes } = await get(server(), path + query, media);
      const { kind, apiVersion, object } = readBody(bytes, 'core/v1.ConfigMapList');
      const { resourceVersion } = object.metadata; // others write at any time
      const at = `${path}${query}&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
      const json = ok(await server().client.get(at));
      assert.deepEqual([kind, apiVersion, object], ['ConfigMapList', 'v1', normal(json, 'core/v1.ConfigMapList')]);
    }
  });

  it('says it in the version that is asked for', async () => {
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 4, targetCPUUtilizationPercentage: 70 }; // prettier-ignore
    const at = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`;
    const json = (await server().client.post(at, { metadata: { name: 'h' }, spec })).body;
    const type = 'autoscaling/v1.HorizontalPodAutoscaler';
    const { object } = readBody((await get(server(), `${at}/h`, media)).bytes, type);
    assert.deepEqual(object, normal(json, type));
  });

  it('answers writes, and its own answer can be written back', async () => {
    const path = configMapsIn(namespace);
    const made = await askBytes(server().client, 'POST', path, { accept: media, body: configMap('round', { data: { a: '1' } }) }); // prettier-ignore
    assert.deepEqual([made.code, readBody(made.bytes, 'core/v1.ConfigMap').object.data], [201, { a: '1' }]);
    const again = await askBytes(server().client, 'PUT', `${path}/round`, { accept: 'application/json', body: made.bytes, type: media }); // prettier-ignore
    assert.deepEqual([again.code, again.type], [200, 'application/json']);
    const dry = await askBytes(server().client, 'POST', `${path}?dryRun=All`, {
      accept: media,
      body: configMap('dry'),
    });
    assert.deepEqual([dry.code, readBody(dry.bytes, 'core/v1.ConfigMap').object.metadata.name], [201, 'dry']);
    const gone = readBody((await askBytes(server().client, 'DELETE', `${path}/round`, { accept: media })).bytes, 'meta/v1.Status'); // prettier-ignore
    assert.deepEqual([gone.kind, gone.object.status, gone.object.details.name], ['Status', 'Success', 'round']);
  });

  it('tells failures', async () => {
    const { code, type, bytes } = await get(server(), `${configMapsIn(namespace)}/none`, `${media}, application/json`);
    const { kind, apiVersion, object } = readBody(bytes, 'meta/v1.Status');
    assert.deepEqual([code, type, kind, apiVersion], [404, media, 'Status', 'v1']);
    const { reason, details, status } = object;
    assert.deepEqual([object.code, status, reason, details], [404, 'Failure', 'NotFound', { name: 'none', kind: 'configmaps' }]); // prettier-ignore
  });

  it('is answered to kubectl in its own word', async () => {
    const { type } = await get(server(), configMapsIn(namespace), 'application/vnd.kubernetes.protobuf');
    assert.equal(type, 'application/vnd.kubernetes.protobuf');
  });
}

function partialObjects(server: () => TestServer, media: string, group: string): void {
  it('has partial objects, one and many', async () => {
    const namespace = await newNamespace(server().client);
    const path = configMapsIn(namespace);
    await createConfigMap(server().client, namespace, 'a', { data: { k: 'v' }, labels: { l: 'v' } });
    const whole = ok(await server().client.get(path));
    const one = await get(server(), `${path}/a`, `${media};as=PartialObjectMetadata;g=${group};v=v1`);
    const { kind, apiVersion, object } = readBody(one.bytes, 'meta/v1.PartialObjectMetadata');
    assert.deepEqual([kind, apiVersion, object.metadata], ['PartialObjectMetadata', `${group}/v1`, whole.items[0]?.metadata]); // prettier-ignore
    for (const version of ['v1', 'v1beta1']) {
      const { bytes } = await get(server(), path, `${media};as=PartialObjectMetadataList;g=${group};v=${version}`);
      const envelope = decodeEnvelope(bytes);
      assert.deepEqual([envelope.kind, envelope.apiVersion], ['PartialObjectMetadataList', `${group}/${version}`]);
      const list = read(`io.platform.meta.${version}.PartialObjectMetadataList`, envelope.raw) as {
        metadata: { resourceVersion: string };
        items: readonly { metadata: { name: string } }[];
      };
      const names = list.items.map(({ metadata }) => metadata.name);
      assert.deepEqual([names, list.metadata.resourceVersion], [['a'], whole.metadata.resourceVersion]);
    }
  });

  it('has no tables: the next form is answered', async () => {
    const { type } = await get(server(), '/api/v1/namespaces', `${media};as=Table;g=${group};v=v1, application/json`);
    assert.equal(type, 'application/json');
  });
}

function watches(server: () => TestServer, media: string, group: string): void {
  it('tells the events of a watch, each behind its length', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const first = (await client.post(pods, pod('first'))).body;
    const taking = takeFrames(client, `${pods}?watch=1&resourceVersion=${first.metadata.resourceVersion}`, media, 2);
    const second = (await client.post(pods, pod('second'))).body;
    const changed = ok(await client.patch(`${pods}/second`, { metadata: { labels: { a: 'b' } } }));
    const { type, frames } = await taking;
    assert.equal(type, `${media};stream=watch`);
    const events = frames.map((frame) => readFrame(frame, 'core/v1.Pod'));
    assert.deepEqual(
      events.map(([name, { object }]) => [name, object]),
      [
        ['ADDED', second],
        ['MODIFIED', changed],
      ],
    );
  });

  it('tells the state, bookmarks, and metadata alone', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a', { data: { k: 'v' } });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da'; // prettier-ignore
    const at = `${configMapsIn(namespace)}?${query}`;
    const whole = await takeFrames(client, at, media, 2);
    const [added, mark] = whole.frames.map((frame) => readFrame(frame, 'core/v1.ConfigMap'));
    assert.deepEqual([added?.[0], added?.[1].object.data, mark?.[0]], ['ADDED', { k: 'v' }, 'BOOKMARK']);
    assert.ok(Number(mark?.[1].object.metadata.resourceVersion) > 0);
    const partial = await takeFrames(client, at, `${media};as=PartialObjectMetadata;g=${group};v=v1`, 2);
    const [only, partialMark] = partial.frames.map((frame) => readFrame(frame, 'meta/v1.PartialObjectMetadata'));
    assert.deepEqual([only?.[1].kind, only?.[1].object.metadata.name, partialMark?.[0]], ['PartialObjectMetadata', 'a', 'BOOKMARK']); // prettier-ignore
  });
}
