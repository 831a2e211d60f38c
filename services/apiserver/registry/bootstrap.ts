import type { ApiObject } from '../../machinery/meta/object.js';
import { hasReason } from '../../machinery/meta/status.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { NO_REVISION, type KeyValueStore } from '../../storage/store.js';
import type { RegistryKeys } from './keys.js';
import { prepareForCreate } from './prepare.js';
import type { StoredResource } from './resource.js';
import type { Writer } from './writer.js';

/**
 * A store speaks the words it was first started with: names and labels in it would not fit the others.
 *
 * @throws {Error} When the store speaks another vocabulary.
 */
export async function settleVocabulary(
  store: KeyValueStore,
  keys: RegistryKeys,
  { name }: Vocabulary,
  signal: AbortSignal,
): Promise<void> {
  const key = keys.internal('vocabulary');
  const wrote = await store.transact(
    {
      conditions: [{ key, modRevision: NO_REVISION }],
      operations: [{ type: 'put', key, value: Buffer.from(name) }],
      otherwiseGet: [key],
    },
    signal,
  );
  const stored = wrote.succeeded ? name : wrote.found[0]?.value.toString();
  if (stored === name) return;
  throw new Error(`The store was first started with --vocabulary=${stored ?? ''} and cannot be used with ${name}`);
}

/** Makes the namespaces that every installation has. Another replica may be making them, too. */
export async function bootstrapNamespaces(
  namespaces: StoredResource,
  writer: Writer,
  vocabulary: Vocabulary,
): Promise<void> {
  const { system, public: publicOne, nodeLease } = vocabulary.namespaces;
  for (const name of ['default', system, publicOne, nodeLease]) {
    if (namespaces.cache.get(`${namespaces.cache.keys.prefix}${name}`) !== undefined) continue;
    const object: ApiObject = { kind: namespaces.hub.kind, apiVersion: namespaces.hub.version, metadata: { name } };
    prepareForCreate(namespaces, object);
    try {
      await writer.create(namespaces, object);
    } catch (err) {
      if (!hasReason(err, 'AlreadyExists')) throw err;
    }
  }
}
