import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { inParallel } from '../../services/machinery/loop/in-parallel.js';
import { ConvertedKind, shownOf } from './tools/converted-kind.js';
import type { VersionName } from './tools/converting-hook.js';
import { JSON_PATCH } from './tools/client.js';
import { namesIn, type Document } from './tools/document.js';
import { created, markedForDeletion, ok, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';

const APPLY = 'application/apply-patch+yaml';
const TABLE = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json' };
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

interface Owner {
  readonly manager: string;
  readonly apiVersion: string;
  readonly fieldsV1: Record<string, object>;
}

/** Who owns what of the spec, in which version. */
const ownersOf = ({ metadata }: Document): string[] =>
  (metadata['managedFields'] as Owner[]).map(
    ({ manager, apiVersion, fieldsV1 }) =>
      `${manager} ${apiVersion.replace(/.*\//, '')} ${Object.keys(fieldsV1['f:spec'] ?? {}).filter((it) => it !== '.').join(' ')}`, // prettier-ignore
  );

onServer('custom resources that a webhook converts', { store: 'embedded' }, (server) => {
  const authority = new TestAuthority('converters');
  let kind: ConvertedKind;

  before(async () => {
    kind = await ConvertedKind.withHook(server, authority);
  });
  after(async () => {
    await kind.hook.service.close();
    authority.remove();
  });
  beforeEach(() => kind.hook.reset());

  const shown = async (version: VersionName, name: string): Promise<unknown> => shownOf(await kind.get(version, name));

  it('are written and read in every version', async () => {
    const made = await kind.create('v2', 'a', { host: 'h', port: 1, count: 2 });
    assert.deepEqual(shownOf(made), ['v2', { count: 2, host: 'h', note: 'of v1', port: 1 }]);
    const v1 = await kind.get('v1', 'a');
    assert.deepEqual(shownOf(v1), ['v1', { hostPort: 'h:1', note: 'of v1', replicas: 2 }]);
    const v3 = await kind.get('v3', 'a');
    const whole = { count: 2, endpoint: { host: 'h', port: 1 }, note: 'of v1', tier: 'usual' };
    assert.deepEqual(shownOf(v3), ['v3', whole]);
    assert.deepEqual([v1, v3].map(({ metadata }) => metadata.labels), [{ shape: 'v1' }, { shape: 'v3' }]); // prettier-ignore
    const { labels: _, ...metadata } = made.metadata;
    const { labels: __, ...metadataOfV3 } = v3.metadata;
    assert.deepEqual(metadataOfV3, metadata);
    assert.equal(metadata.generation, 1);
  });

  it('are sent as they are stored, in one question, with what the reviewer has to know', async () => {
    const { uid, resourceVersion } = (await kind.create('v1', 'sent', { hostPort: 'h:1' })).metadata;
    assert.equal(kind.hook.reviews.length, 0);
    await kind.get('v2', 'sent');
    const [review = assert.fail(), ...others] = kind.hook.reviews;
    assert.deepEqual([others.length, review.apiVersion, review.kind], [0, 'apiextensions.platform.io/v1', 'ConversionReview']); // prettier-ignore
    assert.equal(review.request.desiredAPIVersion, `${kind.group}/v2`);
    const [object = assert.fail()] = review.request.objects;
    assert.deepEqual([object.metadata['uid'], object.metadata['resourceVersion']], [uid, resourceVersion]);
    assert.deepEqual(object.spec, { hostPort: 'h:1', note: 'of v1' });
    const [{ path, headers } = assert.fail()] = kind.hook.service.received;
    assert.deepEqual([path, headers['user-agent']], ['/convert?timeout=30s', 'platform-apiserver-admission']);
    await kind.get('v2', 'sent');
    assert.equal(kind.hook.reviews.length, 1);
  });

  it('are changed in every version, by every means but the strategic one', async () => {
    const { client } = server();
    await kind.create('v3', 'b', { endpoint: { host: 'h', port: 1 } });
    const patched = ok(await client.patch(kind.at('v2', 'b'), { spec: { port: 2 } }));
    assert.deepEqual(shownOf(patched), ['v2', { host: 'h', note: 'of v1', port: 2 }]);
    const json = [{ op: 'replace', path: '/spec/endpoint/host', value: 'i' }];
    const replaced = ok(await client.patch(kind.at('v3', 'b'), json, JSON_PATCH));
    assert.equal(replaced.metadata.generation, 3);
    assert.deepEqual(await shown('v1', 'b'), ['v1', { hostPort: 'i:2', note: 'of v1' }]);
    refused(await client.patch(kind.at('v2', 'b'), {}, 'application/strategic-merge-patch+json'), 415, 'UnsupportedMediaType'); // prettier-ignore
    const old = await kind.get('v2', 'b');
    const next = ok(await client.put(kind.at('v2', 'b'), { ...old, spec: { host: 'j', port: 3, count: 1 } }));
    assert.deepEqual(shownOf(next), ['v2', { count: 1, host: 'j', note: 'of v1', port: 3 }]);
    refused(await client.put(kind.at('v2', 'b'), old), 409, 'Conflict');
    const same = ok(await client.put(kind.at('v2', 'b'), next));
    assert.deepEqual(same, next);
    assert.equal(same.metadata.resourceVersion, next.metadata.resourceVersion);
    assert.deepEqual(await shown('v1', 'b'), ['v1', { hostPort: 'j:3', note: 'of v1', replicas: 1 }]);
  });

  it('follow the rules of the version that they are written in', async () => {
    const { client } = server();
    const wrong = await client.post(kind.at('v2'), kind.body('v2', 'wrong', { count: -1 }));
    const { details } = refused(wrong, 422, 'Invalid');
    assert.deepEqual(details.causes?.map(({ field }) => field), ['spec.count', 'spec.count']); // prettier-ignore
    const strict = await client.post(`${kind.at('v2')}?fieldValidation=Strict`, kind.body('v2', 'wrong', { hostPort: 'a' })); // prettier-ignore
    refused(strict, 400, 'BadRequest', /unknown field "spec.hostPort"/);
    refused(await client.post(kind.at('v2'), kind.body('v1', 'wrong', {})), 400, 'BadRequest');
  });

  it('are owned in the version that each writer knows', async () => {
    const { client } = server();
    const apply = (who: string, version: VersionName, spec: object, force = false): Promise<Document> =>
      client
        .patch(
          `${kind.at(version, 'owned')}?fieldManager=${who}&force=${force}`,
          kind.body(version, 'owned', spec),
          APPLY,
        ) // prettier-ignore
        .then((reply) => reply.body);
    const first = await apply('one', 'v1', { hostPort: 'h:1', replicas: 1 });
    assert.deepEqual(ownersOf(first), ['one v1 f:hostPort f:replicas']);
    const { message } = await apply('two', 'v2', { count: 2 });
    assert.match(message, /conflict with "one": \.spec\.replicas$/);
    const second = await apply('two', 'v2', { count: 2 }, true);
    assert.deepEqual(ownersOf(second).sort(), ['one v1 f:hostPort', 'two v2 f:count']);
    assert.deepEqual(shownOf(second), ['v2', { count: 2, host: 'h', note: 'of v1', port: 1 }]);
    const third = await apply('two', 'v2', { note: 'mine' });
    assert.deepEqual(shownOf(third), ['v2', { host: 'h', note: 'mine', port: 1 }]);
    const updated = ok(await client.patch(`${kind.at('v3', 'owned')}?fieldManager=three`, { spec: { endpoint: { host: 'i' } } })); // prettier-ignore
    assert.deepEqual(ownersOf(updated).sort(), ['three v3 f:endpoint', 'two v2 f:note']);
  });

  it('have a status and a scale in every version', async () => {
    const { client } = server();
    const made = await kind.create('v1', 'parts', { hostPort: 'h:1', replicas: 1 }, { status: { ready: 9 } });
    assert.equal(made['status'], undefined);
    const status = { ...(await kind.get('v2', 'parts')), status: { readyCount: 1, phase: 'Up' } };
    assert.deepEqual(ok(await client.put(`${kind.at('v2', 'parts')}/status`, status))['status'], { phase: 'Up', readyCount: 1 }); // prettier-ignore
    assert.deepEqual((await kind.get('v1', 'parts'))['status'], { phase: 'Up', ready: 1 });
    const scale = ok(await client.get(`${kind.at('v2', 'parts')}/scale`));
    assert.deepEqual([scale['spec'], scale['status']], [{ replicas: 1 }, { replicas: 1 }]);
    const scaled = ok(await client.put(`${kind.at('v2', 'parts')}/scale`, { ...scale, spec: { replicas: 3 } }));
    assert.deepEqual(scaled['spec'], { replicas: 3 });
    assert.deepEqual(await shown('v1', 'parts'), ['v1', { hostPort: 'h:1', note: 'of v1', replicas: 3 }]);
    const patched = await client.patch(`${kind.at('v3', 'parts')}/scale?fieldManager=s`, { spec: { replicas: 4 } });
    assert.deepEqual(ok(patched)['spec'], { replicas: 4 });
    assert.deepEqual(await shown('v2', 'parts'), ['v2', { count: 4, host: 'h', note: 'of v1', port: 1 }]);
  });

  it('are rehearsed and deleted in every version', async () => {
    const { client } = server();
    const tried = await client.post(`${kind.at('v2')}?dryRun=All`, kind.body('v2', 'tried', { host: 'h' }));
    assert.deepEqual(shownOf(created(tried)), ['v2', { host: 'h', note: 'of v1', port: 0 }]);
    refused(await client.get(kind.at('v2', 'tried')), 404, 'NotFound');
    const more = { metadata: { name: 'held', finalizers: ['example.com/held'] } };
    await kind.create('v2', 'held', { host: 'h', port: 1 }, more);
    const marked = markedForDeletion(await client.delete(kind.at('v3', 'held')));
    assert.deepEqual(shownOf(marked)[0], 'v3');
    const released = ok(await client.patch(kind.at('v2', 'held'), { metadata: { finalizers: null } }));
    assert.deepEqual(shownOf(released), ['v2', { host: 'h', note: 'of v1', port: 1 }]);
    refused(await client.get(kind.at('v1', 'held')), 404, 'NotFound');
    await kind.create('v1', 'gone', { hostPort: 'gone:1' });
    const gone = ok(await client.delete(`${kind.at('v2')}?fieldSelector=spec.host%3Dgone`));
    const [{ spec } = assert.fail(), ...others] = gone.items;
    assert.deepEqual([spec, others], [{ host: 'gone', note: 'of v1', port: 1 }, []]);
  });

  it('are tables with the columns of each version', async () => {
    const { client } = server();
    await kind.create('v1', 'table', { hostPort: 't:7' });
    const cells = async (version: VersionName): Promise<unknown> => {
      const reply = ok(await client.get(`${kind.at(version)}?fieldSelector=metadata.name%3Dtable`, TABLE));
      return (reply['rows'] as { cells: unknown[] }[]).map((row) => row.cells);
    };
    assert.deepEqual(await cells('v1'), [['table', 't:7']]);
    assert.deepEqual(await cells('v2'), [['table', 't', 7]]);
    assert.deepEqual(await cells('v3'), [['table', 'usual']]);
  });

  it('are selected by what each version shows, in pages that are full', async () => {
    const { client } = server();
    const names = Array.from({ length: 12 }, (_, i) => `page-${String(i).padStart(2, '0')}`);
    await inParallel(names, 4, async (name) => {
      await kind.create('v1', name, { hostPort: `${Number(name.slice(5)) % 2 === 0 ? 'even' : 'odd'}:1` });
    });
    const pages: string[][] = [];
    let next = '';
    do {
      const path = `${kind.at('v2')}?limit=4&fieldSelector=spec.host%3Dodd&continue=${encodeURIComponent(next)}`;
      const page = ok(await client.get(path));
      pages.push(namesIn(page));
      next = page.metadata.continue ?? '';
    } while (next !== '');
    assert.deepEqual(pages.filter((page) => page.length > 0), [['page-01', 'page-03', 'page-05', 'page-07'], ['page-09', 'page-11']]); // prettier-ignore
    const hosts = ok(await client.get(`${kind.at('v1')}?fieldSelector=spec.hostPort%3Dodd:1`));
    assert.equal(hosts.items.length, 6);
    refused(await client.get(`${kind.at('v1')}?fieldSelector=spec.host%3Dodd`), 400, 'BadRequest');
    const labelled = ok(await client.get(`${kind.at('v3')}?labelSelector=shape%3Dv3`));
    assert.ok(labelled.items.length >= 12);
    assert.equal(ok(await client.get(`${kind.at('v3')}?labelSelector=shape%3Dv2`)).items.length, 0);
  });

  it('are converted by the hundred for a list, and once', async () => {
    const { client } = server();
    const many = await ConvertedKind.make(server, kind.hook);
    const names = Array.from({ length: 1_000 }, (_, i) => `many-${i}`);
    await inParallel(names, 32, async (name) => {
      await many.create('v1', name, { hostPort: `${name}:1` });
    });
    kind.hook.reset();
    const { items } = ok(await client.get(many.at('v2')));
    assert.equal(items.length, 1_000);
    assert.ok(items.every(({ metadata, spec }) => spec['host'] === metadata.name));
    assert.ok(items.every(({ apiVersion }) => apiVersion.endsWith('/v2')));
    assert.equal(kind.hook.reviews.length, 4);
    assert.equal(ok(await client.get(many.at('v2'))).items.length, 1_000);
    const page = ok(await client.get(`${many.at('v2')}?limit=100`));
    assert.deepEqual([page.items.length, page.metadata.remainingItemCount], [100, 900]);
    assert.equal(kind.hook.reviews.length, 4);
  });

  it('are told of by their metadata alone without a question', async () => {
    const { client } = server();
    await kind.create('v1', 'known', {});
    const list = ok(await client.get(kind.at('v3'), { accept: METADATA }));
    assert.ok(namesIn(list).includes('known'));
    const gone = await client.request('DELETE', kind.at('v1', 'known'));
    ok(gone);
    assert.equal(kind.hook.reviews.length, 0);
  });
});
