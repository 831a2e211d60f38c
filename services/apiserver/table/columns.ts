import type { ColumnDeclaration, TableDeclaration } from '../../machinery/types/declarations.js';
import type { Cell, ColumnInput, Show } from './cell.js';
import { CLUSTER } from './cluster.js';
import { firstGiven, GENERAL } from './general.js';
import { CUSTOM } from './custom.js';
import { jsonPathOf } from './json-path.js';
import { compilePath } from './paths.js';
import { podCompleted, PODS, type RowCondition } from './pods.js';
import { TRAFFIC } from './traffic.js';
import { WORKLOADS } from './workloads.js';

/** By the name that declarations use. A new one is one line in its group. */
const SHOWS: ReadonlyMap<string, Show> = new Map<string, Show>(
  [GENERAL, PODS, CLUSTER, TRAFFIC, WORKLOADS, CUSTOM].flatMap((group) => Object.entries(group)),
);
const CONDITIONS: ReadonlyMap<string, (object: unknown) => readonly RowCondition[]> = new Map([
  ['podCompleted', podCompleted],
]);

/** Resources without columns of their own are shown like this (spec 1, 2.5). */
const BY_NAME_AND_TIME: TableDeclaration = {
  columns: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the object, unique among its kind in its namespace.',
      path: 'metadata.name',
    },
    {
      name: 'Created At',
      type: 'date',
      description: 'When the object was created.',
      path: 'metadata.creationTimestamp',
    },
  ],
};

/** The columns of a resource, ready for use. */
export interface Columns {
  /** JSON of `columnDefinitions`. */
  readonly definitions: string;
  readonly cells: (object: unknown) => readonly Cell[];
  readonly conditions: (object: unknown) => readonly RowCondition[];
}

const compiled = new WeakMap<TableDeclaration, Columns>();

/** Compiled at the first call for a declaration. @throws {Error} when it names what is not there */
export function columnsOf(declaration: TableDeclaration = BY_NAME_AND_TIME): Columns {
  let columns = compiled.get(declaration);
  if (columns === undefined) compiled.set(declaration, (columns = compile(declaration)));
  return columns;
}

function compile({ columns, conditions }: TableDeclaration): Columns {
  const makers = columns.map(cellMaker);
  const tell = conditions === undefined ? () => [] : CONDITIONS.get(conditions);
  if (tell === undefined) throw new Error(`No conditions of rows are called ${conditions ?? ''}`);
  return {
    definitions: JSON.stringify(columns.map(definition)),
    cells: (object) => makers.map((make) => make(object)),
    conditions: tell,
  };
}

/** All members, in the order that clients know. */
const definition = ({ name, type, format = '', description, priority = 0 }: ColumnDeclaration): object => ({
  name,
  type,
  format,
  description,
  priority,
});

const ZEROS: Readonly<Record<ColumnDeclaration['type'], Cell>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  date: null,
};
/** For ages of what has no time. */
const UNKNOWN_AGE = '<unknown>';

function cellMaker(column: ColumnDeclaration): (object: unknown) => Cell {
  const { path = [], args = [], name, jsonPath } = column;
  const paths =
    jsonPath === undefined ? (typeof path === 'string' ? [path] : path).map(compilePath) : [jsonPathOf(jsonPath)];
  const show = column.show === undefined ? plain : SHOWS.get(column.show);
  if (show === undefined) throw new Error(`Column ${name}: no function is called ${column.show ?? ''}`);
  const absent = column.or ?? (column.or === null ? null : column.show === 'age' ? UNKNOWN_AGE : ZEROS[column.type]);
  return (object) => {
    const cell = show({
      object,
      args,
      paths,
      first: (i = 0) => paths[i]?.first(object),
      all: (i = 0) => paths[i]?.all(object) ?? [],
    });
    return cell === undefined || cell === '' ? absent : cell;
  };
}

/** The value as it is, if a cell can hold it. */
function plain(input: ColumnInput): Cell | undefined {
  const value = firstGiven(input);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === undefined ? undefined : JSON.stringify(value);
}
