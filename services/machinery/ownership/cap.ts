import { union } from './fields-tree.js';
import { byPlace, entryOf, type ManagedFieldsEntry } from './managed-fields.js';

/** Most entries of updates that an object keeps; appliers are not counted. */
const MAX_UPDATERS = 10;
const ANCIENT = 'ancient-changes';

const isUpdate = (entry: ManagedFieldsEntry): boolean => entry.operation === 'Update';
const isAncient = (entry: ManagedFieldsEntry): boolean =>
  isUpdate(entry) && entry.manager === ANCIENT && entry.subresource === undefined;

/** Joins the oldest entries of updates, those of one version with each other, until there are few enough. */
export function capUpdaters(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  const updaters = entries.filter(isUpdate).sort(byPlace);
  let excess = updaters.length - MAX_UPDATERS;
  if (excess <= 0) return entries;
  const kept = new Set(entries);
  const oldest = new Map(updaters.filter(isAncient).map((entry) => [entry.apiVersion, entry]));
  for (const entry of updaters) {
    if (excess === 0) break;
    const before = oldest.get(entry.apiVersion);
    if (before === entry) continue;
    const joint = before === undefined ? entry : joined(before, entry);
    oldest.set(entry.apiVersion, joint);
    if (before === undefined) continue;
    kept.delete(before);
    kept.delete(entry);
    kept.add(joint);
    excess--;
  }
  return [...kept];
}

function joined(a: ManagedFieldsEntry, b: ManagedFieldsEntry): ManagedFieldsEntry {
  const [earlier = '', later = ''] = [a.time ?? '', b.time ?? ''].sort();
  return entryOf({
    manager: ANCIENT,
    operation: 'Update',
    apiVersion: b.apiVersion,
    time: later === '' ? earlier : later,
    fields: union(a.fieldsV1, b.fieldsV1),
    subresource: '',
  });
}
