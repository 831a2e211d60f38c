import assert from 'node:assert/strict';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import type { ResourceDeclaration, TypeDeclaration } from '../../services/machinery/types/declarations.js';
import { flattenedFields } from '../../services/machinery/types/flattened.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { leastBody, leastName } from './tools/least.js';
import { created, newNamespace, ok } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';

/*
 * Clients with strict types refuse an object, and a whole list with it, in which a member is missing that its type always
 * shows. So it is there as soon as what it stands in is.
 */

const catalog = loadCatalog(vocabulary('platform'));
const STORED = catalog.resources.filter((r) => !r.virtual && r.servedByDefault && r.verbs.includes('create'));

/** Paths of members that a value of a type should show and does not. */
function missing(typeKey: string, value: unknown, path: string): string[] {
  const type = catalog.types.get(typeKey);
  if (type === undefined || !hasMembers(type) || typeof value !== 'object' || value === null) return [];
  const object = value as Readonly<Record<string, unknown>>;
  return flattenedFields(catalog.types, type).flatMap((field) => {
    const at = `${path}.${field.name}`;
    const member = object[field.name];
    if (member === undefined) return field.alwaysEmit === true ? [at] : [];
    const inner = field.list === true || field.map === true ? Object.entries(member ?? {}) : [['', member] as const];
    return inner.flatMap(([key, item]) => missing(field.type, item, key === '' ? at : `${at}[${key}]`));
  });
}
const hasMembers = ({ scalar, listOf, jsonForm }: TypeDeclaration): boolean =>
  scalar === undefined && listOf === undefined && jsonForm === undefined;

const pathOf = (r: ResourceDeclaration, namespace: string): string =>
  `${r.group === '' ? '/api' : `/apis/${r.group}`}/${r.version}${r.namespaced ? `/namespaces/${namespace}` : ''}/${r.resource}`;

onServer('members that are always there', { store: 'embedded' }, (server: () => TestServer) => {
  for (const r of STORED) {
    it(`are in ${r.group === '' ? 'core' : r.group}/${r.version} ${r.kind} with the least that it needs`, async () => {
      const { client } = server();
      const name = leastName(r.resource);
      const namespace = await newNamespace(client);
      const collection = pathOf(r, namespace);
      const made = created(await client.post(collection, { ...leastBody(r, namespace), metadata: { name } }));
      assert.deepEqual(missing(r.type, made, ''), [], 'as it was made');
      for (const version of STORED.filter((it) => it.resource === r.resource && it.storage.group === r.storage.group)) {
        const path = `${pathOf(version, namespace)}/${name}`;
        assert.deepEqual(
          missing(version.type, ok(await client.get(path)), ''),
          [],
          `as ${version.group}/${version.version}`,
        );
        const changed = ok(await client.patch(path, { metadata: { labels: { a: version.version } } }));
        assert.deepEqual(
          missing(version.type, changed, ''),
          [],
          `after a patch of ${version.group}/${version.version}`,
        );
        if (!version.subresources.some((s) => s.name === 'status')) continue;
        const patched = ok(await client.patch(`${path}/status`, { status: null, metadata: { labels: { b: 'c' } } }));
        assert.deepEqual(
          missing(version.type, patched, ''),
          [],
          `after a patch of the status of ${version.group}/${version.version}`,
        );
      }
    });
  }
});
