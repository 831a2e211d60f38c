import assert from 'node:assert/strict';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import type { ResourceDeclaration } from '../../services/machinery/types/declarations.js';
import type { Type } from '../../services/machinery/types/graph.js';
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
function missing({ form, fields }: Type, value: unknown, path: string): string[] {
  if (form !== 'struct' || typeof value !== 'object' || value === null) return [];
  const object = value as Readonly<Record<string, unknown>>;
  return fields.flatMap(({ name, type, holds, declaration }) => {
    const at = `${path}.${name}`;
    const member = object[name];
    if (member === undefined) return declaration.alwaysEmit === true ? [at] : [];
    const inner = holds === 'one' ? [['', member] as const] : Object.entries(member ?? {});
    return inner.flatMap(([key, item]) => missing(type, item, key === '' ? at : `${at}[${key}]`));
  });
}

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
      assert.deepEqual(missing(catalog.types.of(r.type), made, ''), [], 'as it was made');
      for (const version of STORED.filter((it) => it.resource === r.resource && it.storage.group === r.storage.group)) {
        const path = `${pathOf(version, namespace)}/${name}`;
        assert.deepEqual(
          missing(catalog.types.of(version.type), ok(await client.get(path)), ''),
          [],
          `as ${version.group}/${version.version}`,
        );
        const changed = ok(await client.patch(path, { metadata: { labels: { a: version.version } } }));
        assert.deepEqual(
          missing(catalog.types.of(version.type), changed, ''),
          [],
          `after a patch of ${version.group}/${version.version}`,
        );
        if (!version.subresources.some((s) => s.name === 'status')) continue;
        const patched = ok(await client.patch(`${path}/status`, { status: null, metadata: { labels: { b: 'c' } } }));
        assert.deepEqual(
          missing(catalog.types.of(version.type), patched, ''),
          [],
          `after a patch of the status of ${version.group}/${version.version}`,
        );
      }
    });
  }
});
