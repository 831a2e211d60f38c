import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { done } from '../../machinery/work/work.js';
import { NO_REVISION, type KeyValueStore } from '../../storage/store.js';
import { THE_SERVER } from '../request/users.js';
import { record, type FieldOwnership } from './field-ownership.js';
import type { RegistryKeys } from './keys.js';
import { prepareForCreate, stateSent, validateForCreate } from './prepare.js';
import { keyOf, type ResourceTable } from './resources.js';
import { SYSTEM_PRIORITY_CLASSES } from './system-priority-classes.js';
import type { Writer } from './writer.js';

/**
 * A store speaks the words it was first started with: names and labels in it would not fit the others.
 *
 * @throws {Error} When the store speaks another vocabulary, or is half restored.
 */
export async function settleVocabulary(
  store: KeyValueStore,
  keys: RegistryKeys,
  { name }: Vocabulary,
  signal: AbortSignal,
): Promise<void> {
  const records = [keys.record('vocabulary'), keys.record('restore')] as const;
  const read = async (key: string): Promise<Buffer | undefined> => (await store.get(key, {}, signal)).kv?.value;
  // A store without room refuses every transaction that might write, also one that would not.
  let [spoken, restore] = await Promise.all(records.map(read));
  if (spoken === undefined) {
    const conditions = records.map((key) => ({ key, modRevision: NO_REVISION }));
    const operations = [{ type: 'put', key: records[0], value: Buffer.from(name) }] as const;
    const wrote = await store.transact({ conditions, operations, otherwiseGet: records }, signal);
    if (wrote.succeeded) return;
    [spoken, restore] = wrote.found.map((kv) => kv?.value);
  }
  if (restore !== undefined) {
    throw new Error('The store is half restored: run the restore again, which goes on where it ended');
  }
  const stored = spoken?.toString() ?? '';
  if (stored === name) return;
  throw new Error(`The store was first started with --vocabulary=${stored} and cannot be used with ${name}`);
}

export interface BootstrapDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  readonly vocabulary: Vocabulary;
}

/** Makes what every installation has. Another replica may be making it, too. */
export async function bootstrapObjects(d: BootstrapDeps): Promise<void> {
  const { system, public: publicOne, nodeLease } = d.vocabulary.namespaces;
  for (const name of ['default', system, publicOne, nodeLease]) await makeMissing(d, '', 'namespaces', name, {});
  const { scheduling } = d.vocabulary.groups;
  for (const [name, members] of SYSTEM_PRIORITY_CLASSES)
    await makeMissing(d, scheduling, 'priorityclasses', name, members);
}

/**
 * Creates an object of a built-in resource, unless there is one of its name.
 *
 * @param namespace '' for a cluster-scoped object. @throws {StatusError} for a name that cannot be
 */
export async function makeMissing(
  { resources, writer, ownership, vocabulary }: BootstrapDeps,
  group: string,
  resource: string,
  name: string,
  members: object,
  namespace = '',
): Promise<void> {
  const stored = resources.stored(group, resource);
  const served = stored === undefined ? undefined : resources.served(stored.hub);
  if (stored === undefined || served === undefined) return;
  if (stored.cache.get(keyOf(stored, namespace, name)) !== undefined) return;
  const object = stateSent(
    served,
    served.decode({ ...members, metadata: { name, ...(namespace === '' ? {} : { namespace }) } }),
  );
  const owners = done(ownership.created(served, object, { name: vocabulary.serverName, subresource: '' }));
  prepareForCreate(stored, object, THE_SERVER);
  await validateForCreate(served, object);
  record(object, owners);
  await writer.write({ stored, namespace, name }, (current) =>
    current === undefined ? { do: 'put', object } : { do: 'nothing' },
  );
}
