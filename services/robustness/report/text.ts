import type { Summary } from './summary.js';

/** The report as a table for a terminal. */
export function textReport({ seed, options, counts, faults, violations, found }: Summary): string {
  const rows: [string, string][] = [
    ['seed', String(seed)],
    ...Object.entries(options),
    ...Object.entries(counts).map(([name, count]): [string, string] => [name, String(count)]),
    ...Object.entries(faults).map(([name, count]): [string, string] => [`fault ${name}`, String(count)]),
    ...Object.entries(violations).map(([name, count]): [string, string] => [`violations: ${name}`, String(count)]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  const told = found.map(
    ({ validator, promise, message, object, rv, at, operations }) =>
      `${validator}: ${promise}: ${message}` +
      (object === undefined ? '' : `; ${object}`) +
      (rv === undefined ? '' : `, version ${rv}`) +
      (at === undefined ? '' : `, at ${Math.round(at)} ms`) +
      (operations === undefined || operations.length === 0 ? '' : `, operations ${operations.join(', ')}`),
  );
  return [...table, ...told, ''].join('\n');
}
