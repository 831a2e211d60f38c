import { unionAll } from './fields-tree.js';
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
  const joint = new Map(updaters.filter(isAncient).map((entry) => [entry.apiVersion, [entry]]));
  for (const entry of updaters) {
    if (excess === 0) break;
    const parts = joint.get(entry.apiVersion);
    if (parts === undefined) joint.set(entry.apiVersion, [entry]);
    else if (!parts.includes(entry)) {
      parts.push(entry);
      excess--;
    }
  }
  const joined = [...joint.values()].filter((parts) => parts.length > 1);
  const gone = new Set(joined.flat());
  return [...entries.filter((entry) => !gone.has(entry)), ...joined.map(ancient)];
}

/** With the time of the youngest. */
function ancient(parts: readonly ManagedFieldsEntry[]): ManagedFieldsEntry {
  return entryOf({
    manager: ANCIENT,
    operation: 'Update',
    apiVersion: parts[0]?.apiVersion ?? '',
    time: parts.reduce((latest, { time = '' }) => (time > latest ? time : latest), ''),
    fields: unionAll(parts.map((entry) => entry.fieldsV1)),
    subresource: '',
  });
}
