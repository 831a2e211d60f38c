import { ageOf, timeOf, type Cell, type ColumnInput, type Show } from './cell.js';

/** Values of columns, by the type that a definition says: one of another JSON type has no cell. */
const CELLS: ReadonlyMap<string, (value: unknown) => Cell | undefined> = new Map<
  string,
  (value: unknown) => Cell | undefined
>([
  ['integer', (value) => (typeof value === 'number' ? Math.trunc(value) : undefined)],
  ['number', (value) => (typeof value === 'number' ? value : undefined)],
  ['boolean', (value) => (typeof value === 'boolean' ? value : undefined)],
  ['date', date],
]);

function date(value: unknown): Cell | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = timeOf(value);
  return ms === undefined ? '<invalid>' : ageOf(ms);
}

/** Several values of a text column stand beside each other. */
function texts(values: readonly unknown[]): Cell | undefined {
  const told = values.filter((value) => value !== null && value !== undefined);
  if (told.length === 0) return undefined;
  return told.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ');
}

/** Functions for columns of custom resources. */
export const CUSTOM = {
  custom: ({ all, args }: ColumnInput) => {
    const values = all();
    const cell = CELLS.get(args[0] ?? '');
    return cell === undefined ? texts(values) : cell(values[0]);
  },
} as const satisfies Readonly<Record<string, Show>>;
