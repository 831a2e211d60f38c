import type { Parameter } from './dialect.js';

const query =
  (type: Parameter['type']) =>
  (name: string): Parameter => ({ name, in: 'query', type });
const [flag, count, text] = [query('boolean'), query('integer'), query('string')];

export const NAMESPACE: Parameter = { name: 'namespace', in: 'path', type: 'string' };
export const NAME: Parameter = { name: 'name', in: 'path', type: 'string' };
export const PRETTY = text('pretty');

export const LIST: readonly Parameter[] = [
  flag('allowWatchBookmarks'),
  text('continue'),
  text('fieldSelector'),
  text('labelSelector'),
  count('limit'),
  text('resourceVersion'),
  text('resourceVersionMatch'),
  flag('sendInitialEvents'),
  count('timeoutSeconds'),
  flag('watch'),
];
/** Clients look here whether the server checks fields and knows dry runs. */
export const WRITE: readonly Parameter[] = [text('dryRun'), text('fieldManager'), text('fieldValidation')];
export const PATCH: readonly Parameter[] = [...WRITE, flag('force')];
export const DELETE: readonly Parameter[] = [
  text('dryRun'),
  count('gracePeriodSeconds'),
  flag('orphanDependents'),
  text('propagationPolicy'),
];
/** `dryRun` and the like of both; no name twice. */
export const DELETE_COLLECTION: readonly Parameter[] = [
  ...DELETE,
  ...LIST.filter((p) => p.name !== 'watch' && p.name !== 'allowWatchBookmarks'),
];
