import type { Descriptions } from '../../machinery/types/descriptions.js';
import type { TypeGraph } from '../../machinery/types/graph.js';
import type { Parameter } from './dialect.js';

const query =
  (type: Parameter['type']) =>
  (name: string, description: string): Parameter => ({ name, in: 'query', type, description });
const [flag, count, text] = [query('boolean'), query('integer'), query('string')];

const inPath = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description });
export const NAMESPACE = inPath('namespace', 'The namespace that the object is in.');
export const NAME = inPath('name', 'The name of the object.');
/** The path behind the name of a proxy. */
export const REST = inPath('path', 'What to ask the other side for.');
export const PRETTY = text('pretty', 'Lay the answer out for human eyes.');

const DRY_RUN = text('dryRun', '`All` goes through every stage of the request but stores nothing.');
const CONTINUE = text('continue', 'The token that the last page of this list came with; asks for the next page.');
const FIELD_SELECTOR = text('fieldSelector', 'Only objects whose fields have these values.');
const LABEL_SELECTOR = text('labelSelector', 'Only objects whose labels match.');
const LIMIT = count('limit', 'The most objects to answer at once; `metadata.continue` leads to the rest.');
const RESOURCE_VERSION = text(
  'resourceVersion',
  'What state to read, or after which one a watch begins. Absent is the newest state.',
);
const RESOURCE_VERSION_MATCH = text(
  'resourceVersionMatch',
  'How resourceVersion binds: `Exact` is that very state, `NotOlderThan` that one or a later one.',
);
const TIMEOUT = count('timeoutSeconds', 'Seconds after which the server ends the request, whatever it is doing.');

export const LIST: readonly Parameter[] = [
  flag('allowWatchBookmarks', 'A watch may have events of type BOOKMARK, which only tell how far it has come.'),
  CONTINUE,
  FIELD_SELECTOR,
  LABEL_SELECTOR,
  LIMIT,
  RESOURCE_VERSION,
  RESOURCE_VERSION_MATCH,
  flag('sendInitialEvents', 'A watch begins with one event for each object there is, and a bookmark after the last.'),
  TIMEOUT,
  flag('watch', 'Answer changes as they happen, one event after the other, in place of a list.'),
];
/** Clients look here whether the server checks fields and knows dry runs. */
export const WRITE: readonly Parameter[] = [
  DRY_RUN,
  text('fieldManager', 'The name under which the fields that this request writes are owned; at most 128 characters.'),
  text(
    'fieldValidation',
    'What to do about unknown and repeated fields: `Ignore` drops them, `Warn` says so in a header, `Strict` refuses.',
  ),
];
export const PATCH: readonly Parameter[] = [
  ...WRITE,
  flag('force', 'Take over fields that other managers own. For apply only.'),
];
export const DELETE: readonly Parameter[] = [
  DRY_RUN,
  count('gracePeriodSeconds', 'Seconds to wind down before the object goes; 0 is at once. Absent: what its kind says.'),
  flag('orphanDependents', 'The older form of propagationPolicy; the two exclude each other.'),
  text(
    'propagationPolicy',
    'What becomes of dependents: `Orphan` keeps them, `Background` removes them later, `Foreground` before the object.',
  ),
];
/** `dryRun` and the like of both; no name twice. */
export const DELETE_COLLECTION: readonly Parameter[] = [
  ...DELETE,
  ...LIST.filter((p) => p.name !== 'watch' && p.name !== 'allowWatchBookmarks'),
];

const TYPES: ReadonlyMap<string, Parameter['type']> = new Map(
  Object.entries<Parameter['type']>({ bool: 'boolean', int32: 'integer', int64: 'integer' }),
);

/** The members of a type of options as a query has them, without those that a gate of a later release brings. */
export function optionParameters(types: TypeGraph, descriptions: Descriptions, key: string): readonly Parameter[] {
  const { fields } = types.of(key);
  const own = fields.filter(({ owner, declaration }) => owner.key === key && declaration.gate === undefined);
  return own.map(({ name, type }) => ({
    name,
    in: 'query',
    type: TYPES.get(type.key) ?? 'string',
    description: descriptions.ofField(key, name) ?? '',
  }));
}
