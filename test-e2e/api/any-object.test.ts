import assert from 'node:assert/strict';
import fc from 'fast-check';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import type { ResourceDeclaration } from '../../services/machinery/types/declarations.js';
import { arbitraryOf } from '../../services/machinery/types/testing/arbitrary.js';
import { ODD_VALUES, placesOf, withValueAt, type Place } from '../../services/machinery/types/testing/places.js';
import { apiVersionOf } from '../../services/machinery/meta/object.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client, Reply } from './tools/client.js';
import { newNamespace } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';

/*
 * Objects of every kind whose members have the right types and otherwise any value. Most of them are refused, with every
 * cause; what is stored must be shown in every view and version, and be changed in every way. Whatever happens, nothing
 * may be the server's own fault.
 */

const words = vocabulary('platform');
const catalog = loadCatalog(words);
const OBJECTS_OF_A_KIND = 12;

const STORED = catalog.resources.filter((r) => !r.virtual && r.servedByDefault && r.verbs.includes('create'));
const VIEWS = [
  `application/json;as=Table;g=${words.metaGroup};v=v1`,
  `application/json;as=PartialObjectMetadata;g=${words.metaGroup};v=v1`,
  words.protobufMediaType,
  'application/yaml',
];

const pathOf = (r: ResourceDeclaration, namespace: string): string =>
  `${r.group === '' ? '/api' : `/apis/${r.group}`}/${r.version}${r.namespaced ? `/namespaces/${namespace}` : ''}/${r.resource}`;

/** Refusals are as good as anything here; what is not is an answer that says that the server is at fault. */
function assertAnswered(reply: Reply, what: string, object: unknown): void {
  assert.ok(reply.code < 500, `${what}: ${reply.code} ${reply.text.slice(0, 500)} for ${JSON.stringify(object)}`);
}

/** The same of what no patch is the reason of: an object that is invalid is so for reasons. */
function assertNoFault(reply: Reply, what: string, object: unknown): void {
  assertAnswered(reply, what, object);
  if (reply.code !== 422) return;
  const { causes } = (reply.body as unknown as { details: { causes: { field: string; message: string }[] } }).details;
  assert.ok(causes.length > 0, `${what}: no causes: ${reply.text}`);
}

async function tryOut(client: Client, r: ResourceDeclaration, namespace: string, given: object): Promise<boolean> {
  const name = `any-${Math.random().toString(36).slice(2)}`;
  const object = { ...given, metadata: { name } };
  const collection = pathOf(r, namespace);
  const path = `${collection}/${name}`;
  const posted = await client.post(collection, object);
  assertNoFault(posted, `POST ${r.resource}`, object);
  const applied = await client.patch(`${path}?fieldManager=any&force=true`, object, 'application/apply-patch+yaml');
  assertNoFault(applied, `apply ${r.resource}`, object);
  if (posted.code !== 201) return false;
  for (const accept of VIEWS) {
    for (const at of [path, collection])
      assertNoFault(await client.get(at, { accept }), `GET ${at} as ${accept}`, object);
  }
  const strategic = { metadata: { labels: { a: 'b' } } };
  for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
    assertNoFault(await client.patch(path, strategic, type), `patch ${r.resource}`, object);
  }
  assertNoFault(await client.put(path, { ...object, status: {} }), `PUT ${r.resource}`, object);
  if (r.subresources.some((s) => s.name === 'status')) {
    assertNoFault(await client.patch(`${path}/status`, { status: (object as { status?: object }).status ?? {} }), `status of ${r.resource}`, object); // prettier-ignore
  }
  assertNoFault(await client.delete(path, { gracePeriodSeconds: 0 }), `DELETE ${r.resource}`, object);
  return true;
}

function anyObjects(server: () => TestServer): void {
  for (const r of STORED) {
    it(`of ${r.group === '' ? 'core' : r.group}/${r.version} ${r.kind} never bring the server into trouble`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const objects = arbitraryOf(catalog, r.type, { maxDepth: 4 });
      await fc.assert(
        fc.asyncProperty(objects, async (object) => {
          await tryOut(client, r, namespace, object);
        }),
        { numRuns: OBJECTS_OF_A_KIND, endOnFailure: true },
      );
      assert.equal((await client.get('/readyz')).code, 200);
    });
  }
}

/** A member of an object that is there already, or is to be, with a value that it is hardly declared to have. */
async function tryMember(client: Client, r: ResourceDeclaration, collection: string, change: OddMember): Promise<void> {
  const { object, place, value } = change;
  const name = `odd-${Math.random().toString(36).slice(2)}`;
  const path = `${collection}/${name}`;
  const usual = { ...object, metadata: { name } };
  const odd = withValueAt(usual, place, value);
  const what = `${r.resource} ${place.join('.')} ${JSON.stringify(value)}`;
  const applied = { apiVersion: apiVersionOf(r), kind: r.kind, ...(odd as object) };
  const pointer = place.map((step) => `/${step}`).join('');
  assertNoFault(await client.post(collection, odd), `POST ${what}`, odd);
  assertNoFault(await client.post(collection, usual), `POST usual ${what}`, usual);
  assertNoFault(await client.put(path, odd), `PUT ${what}`, odd);
  for (const [type, body] of [
    ['application/merge-patch+json', withValueAt({}, place, value)],
    ['application/strategic-merge-patch+json', withValueAt({}, place, value)],
    ['application/json-patch+json', [{ op: 'add', path: pointer, value }]],
  ] as const) {
    assertAnswered(await client.patch(path, body, type), `${type} ${what}`, body);
  }
  assertNoFault(await client.patch(`${path}?fieldManager=odd&force=true`, applied, 'application/apply-patch+yaml'), `apply ${what}`, applied); // prettier-ignore
  for (const accept of VIEWS) assertNoFault(await client.get(path, { accept }), `GET ${what} as ${accept}`, odd);
  assertNoFault(await client.delete(path), `DELETE ${what}`, odd);
}

interface OddMember {
  readonly object: object;
  readonly place: Place;
  readonly value: unknown;
}

const MEMBERS_OF_A_KIND = 8;

function oddMembers(server: () => TestServer): void {
  for (const r of STORED) {
    it(`of ${r.group === '' ? 'core' : r.group}/${r.version} ${r.kind} never bring the server into trouble`, async () => {
      const { client } = server();
      const collection = pathOf(r, await newNamespace(client));
      const places = placesOf(catalog, r.type).filter(([first]) => first !== 'apiVersion' && first !== 'kind');
      const changes = fc.record({
        object: arbitraryOf(catalog, r.type, { maxDepth: 3 }),
        place: fc.constantFrom(...places),
        value: fc.constantFrom(...ODD_VALUES),
      });
      await fc.assert(
        fc.asyncProperty(changes, (change) => tryMember(client, r, collection, change)),
        { numRuns: MEMBERS_OF_A_KIND, endOnFailure: true },
      );
    });
  }

  it('of bytes that are null are no bytes', async () => {
    const { client } = server();
    const collection = pathOf(secrets, await newNamespace(client));
    const data = { a: null };
    const written = [
      await client.post(collection, { metadata: { name: 'odd' }, data }),
      await client.put(`${collection}/odd`, { metadata: { name: 'odd' }, data }),
      await client.patch(
        `${collection}/odd`,
        [{ op: 'add', path: '/data', value: data }],
        'application/json-patch+json',
      ),
      await client.patch(`${collection}/applied?fieldManager=odd`, { apiVersion: 'v1', kind: 'Secret', data }, 'application/apply-patch+yaml'), // prettier-ignore
    ];
    for (const reply of written) {
      assert.ok(reply.code < 300, reply.text);
      assert.deepEqual(reply.body['data'], { a: '' });
    }
    const removed = await client.patch(`${collection}/odd`, { data }, 'application/merge-patch+json');
    assert.equal(removed.code, 200, removed.text);
    assert.equal(removed.body['data'], undefined);
  });
}

const secrets = catalog.resources.find((r) => r.kind === 'Secret')!; // one of the built-in kinds

onServer('any objects', { store: 'embedded' }, anyObjects);
onServer('odd members', { store: 'embedded' }, oddMembers);
