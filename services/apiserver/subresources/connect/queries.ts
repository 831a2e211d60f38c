import { field, invalid, type FieldError } from '../../../machinery/meta/status.js';
import { booleanParameter, integerParameter } from '../../http/query.js';

/** Query parameters for the agent of a node, in the order of their names. */
function written(pairs: readonly (readonly [string, string])[]): string {
  const sorted = [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); // stable: words of a command keep theirs
  return new URLSearchParams(sorted.map(([name, value]): [string, string] => [name, value])).toString();
}

/** Names of the flags for a session: as clients write them, and as agents of nodes know them. */
const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

/** `exec` and `attach`. */
export function sessionQuery(query: URLSearchParams): string {
  const flags = Object.entries(STREAMS)
    .filter(([name]) => booleanParameter(query, name))
    .map(([, name]) => [name, '1'] as const);
  return written([...flags, ...query.getAll('command').map((word) => ['command', word] as const)]);
}

/** @throws {StatusError} BadRequest */
export function portsQuery(query: URLSearchParams): string {
  const ports = query.getAll('ports').map((port) => integerParameter(new URLSearchParams({ ports: port }), 'ports'));
  return ports.length === 0 ? '' : written([['port', ports.join(',')]]);
}

const LOG_FLAGS = ['follow', 'previous', 'timestamps'] as const;
const LOG_NUMBERS = { sinceSeconds: 1, tailLines: 0, limitBytes: 1 } as const;
const TOO_SMALL = ['must be greater than or equal to 0', 'must be greater than 0'] as const;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** @param podName For what it says. @throws {StatusError} BadRequest, Invalid */
export function logQuery(query: URLSearchParams, podName: string): string {
  const errors: FieldError[] = [];
  const flags = LOG_FLAGS.filter((name) => booleanParameter(query, name)).map((name) => [name, 'true'] as const);
  const numbers = Object.entries(LOG_NUMBERS).flatMap(([name, least]) => {
    const value = integerParameter(query, name);
    if (value === undefined) return [];
    if (value < least) errors.push(field.invalid(name, value, TOO_SMALL[least]));
    return [[name, String(value)] as const];
  });
  const since = query.get('sinceTime') ?? '';
  if (since !== '' && (!TIME.test(since) || Number.isNaN(Date.parse(since)))) {
    errors.push(field.invalid('sinceTime', since, 'must be a time such as 2006-01-02T15:04:05Z'));
  }
  if (since !== '' && (query.get('sinceSeconds') ?? '') !== '') {
    errors.push(field.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, errors);
  return written([...flags, ...numbers, ...(since === '' ? [] : [['sinceTime', since] as const])]);
}
