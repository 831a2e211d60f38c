import { isJsonObject } from '../meta/own.js';
import {
  type FieldsTree,
  type TreeDraft,
  inOrder,
  isLeaf,
  joinNodes,
  LEAF,
  NO_FIELDS,
  SELF,
  canonicalElement,
  UNKNOWN_ELEMENT,
  unionAll,
} from './fields-tree.js';

/** The owner of a set of fields, and the version through which it set them. Spec 1, 2.2. */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: FieldsTree;
  subresource?: string;
}

/** As deep as bodies nest. */
const MAX_DEPTH = 1000;
/** Nodes of all entries together: more than fit in an object of the largest size. */
const MAX_NODES = 200_000;
/** The cost of a node that is not canonical, as only clients send them: it is sorted, parsed and written anew. */
const REWRITE_COST = 10;
const MAX_ENTRIES = 256;

interface Budget {
  nodes: number;
}

/**
 * Reads `metadata.managedFields`. What is canonical already is not copied.
 *
 * @returns Entries in the order they are kept in, one for each identity (of several the last counts); undefined when
 * one is malformed or there is more than an object can need.
 */
export function decodeManagedFields(raw: unknown): readonly ManagedFieldsEntry[] | undefined {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw) || raw.length > MAX_ENTRIES) return undefined;
  const budget = { nodes: MAX_NODES };
  const entries = new Map<string, ManagedFieldsEntry>();
  for (const item of raw) {
    const entry = decodeEntry(item, budget);
    if (entry === undefined) return undefined;
    entries.set(identityOf(entry), entry);
  }
  return [...entries.values()].sort(byPlace);
}

/** Whether the list holds one empty entry and nothing else: the wish to strip all records. */
export function isReset(raw: unknown): boolean {
  if (!Array.isArray(raw) || raw.length !== 1) return false;
  const [entry] = raw as readonly unknown[];
  return (
    isJsonObject(entry) && Object.values(entry).every((value) => value === undefined || value === null || value === '')
  );
}

/** Whether two entries stand for one writer: appliers are the same from version to version. */
export const isSameWriter = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion) &&
  a.subresource === b.subresource;

/** The same as a text. */
const identityOf = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource ?? '']);

/** The order of entries: appliers first, then by time and name. */
export function byPlace(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  );
}

export const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function decodeEntry(raw: unknown, budget: Budget): ManagedFieldsEntry | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { manager, operation, apiVersion, fieldsType, fieldsV1 } = raw;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  const time = optionalText(raw['time']);
  const subresource = optionalText(raw['subresource']);
  const name = optionalText(manager);
  if (time === undefined || subresource === undefined || name === undefined) return undefined;
  const fields = fieldsV1 === undefined || fieldsV1 === null ? NO_FIELDS : decodeRoot(fieldsV1, budget);
  if (fields === undefined) return undefined;
  return entryOf({ manager: name, operation, apiVersion, time, fields, subresource });
}

/** Undefined when it is something else than text. */
const optionalText = (value: unknown): string | undefined =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : undefined;

export interface EntryParts {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for none. */
  readonly time: string;
  readonly fields: FieldsTree;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** An entry with its members in the order of their declaration. */
export function entryOf({ manager, operation, apiVersion, time, fields, subresource }: EntryParts): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {
    manager,
    operation,
    apiVersion,
    ...(time === '' ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  };
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

/** The root stands for no field, so it cannot be in the set itself. */
function decodeRoot(raw: unknown, budget: Budget): FieldsTree | undefined {
  const tree = decodeNode(raw, budget, 0);
  if (tree?.[SELF] === undefined) return tree;
  const { [SELF]: _, ...members } = tree;
  return members;
}

function decodeNode(raw: unknown, budget: Budget, depth: number): FieldsTree | undefined {
  return isCanonical(raw, budget, depth) ? raw : rewritten(raw, budget, depth);
}

/** Whether a node can be taken over as it is, which is the rule: servers wrote it. Also false where the budget ends. */
function isCanonical(raw: unknown, budget: Budget, depth: number): raw is FieldsTree {
  if (!isJsonObject(raw) || depth > MAX_DEPTH) return false;
  let previous = '';
  for (const key in raw) {
    if (--budget.nodes < 0 || key < previous) return false;
    const child = raw[key];
    const isFine =
      key === SELF ? isEmptyObject(child) : canonicalElement(key) === key && isCanonical(child, budget, depth + 1);
    if (!isFine) return false;
    previous = key;
  }
  return previous !== SELF; // alone
}

const isEmptyObject = (value: unknown): boolean => isJsonObject(value) && isLeaf(value as FieldsTree);

/** Walks what is below again, level by level: the budget bounds that too. */
function rewritten(raw: unknown, budget: Budget, depth: number): FieldsTree | undefined {
  if (!isJsonObject(raw) || depth > MAX_DEPTH) return undefined;
  const children: [string, FieldsTree][] = [];
  for (const key in raw) {
    budget.nodes -= REWRITE_COST;
    if (budget.nodes < 0) return undefined;
    const element = key === SELF ? SELF : canonicalElement(key);
    const child = decodeNode(raw[key], budget, depth + 1);
    if (element === undefined || child === undefined) return undefined;
    if (element !== UNKNOWN_ELEMENT) children.push([element, element === SELF ? LEAF : child]);
  }
  const tree = built(children);
  return children.length === 1 && tree[SELF] !== undefined ? LEAF : tree;
}

function built(children: readonly (readonly [string, FieldsTree])[]): FieldsTree {
  const spellings = new Map<string, FieldsTree[]>();
  for (const [element, child] of children) {
    const known = spellings.get(element);
    if (known === undefined) spellings.set(element, [child]);
    else known.push(child);
  }
  const out: TreeDraft = {};
  for (const [element, nodes] of spellings) out[element] = joinNodes(nodes) ?? LEAF;
  return inOrder(out);
}

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
