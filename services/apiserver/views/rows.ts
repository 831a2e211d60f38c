import type { TableDeclaration } from '../../machinery/types/declarations.js';
import { CachedObject } from '../cache/cached-object.js';
import { Generations } from '../cache/generations.js';
import { parsed, type Shown } from './view.js';
import { VIEW_BUDGET } from './view-budget.js';
import type { Clock } from '../table/cell.js';
import { columnsOf, type Columns } from '../table/columns.js';

/** A row without its texts. */
const ROW_BYTES = 200;

/** JSON of a row with gaps for what depends on the time of reading: a text before each clock, and one behind the last. */
interface Row {
  readonly texts: readonly string[];
  readonly clocks: readonly Clock[];
}

/** Makes the rows of one kind. */
export interface Rows {
  /** `"cells":[…]` and the conditions, if there are any. Parses the object when it is first shown. */
  text(shown: Shown, nowMs: number): string;
}

const made = new WeakMap<Columns, Rows>();

/**
 * Always the same for one declaration, so that all versions and views of a kind share what is kept.
 *
 * @param read What the columns look into; always the same for one declaration, too.
 */
export function rowsOf(declaration: TableDeclaration | undefined, read: (shown: Shown) => unknown = parsed): Rows {
  const columns = columnsOf(declaration);
  let rows = made.get(columns);
  if (rows === undefined) made.set(columns, (rows = makeRows(columns, read)));
  return rows;
}

function makeRows(columns: Columns, read: (shown: Shown) => unknown): Rows {
  const kept = new Generations<CachedObject, Row>(bytesOf, VIEW_BUDGET);
  const rowOf = (shown: Shown): Row => {
    if (!(shown instanceof CachedObject)) return makeRow(columns, read(shown));
    const known = kept.get(shown);
    if (known !== undefined) return known;
    const row = makeRow(columns, read(shown));
    kept.set(shown, row);
    return row;
  };
  return { text: (shown, nowMs) => rendered(rowOf(shown), nowMs) };
}

const bytesOf = ({ texts }: Row): number => texts.reduce((sum, text) => sum + text.length, ROW_BYTES);

function makeRow(columns: Columns, object: unknown): Row {
  const cells = columns.cells(object);
  const conditions = columns.conditions(object);
  const texts: string[] = [];
  const clocks: Clock[] = [];
  let text = '"cells":[';
  for (const [i, cell] of cells.entries()) {
    text += i === 0 ? '' : ',';
    if (typeof cell !== 'function') {
      text += JSON.stringify(cell);
      continue;
    }
    texts.push(text);
    clocks.push(cell);
    text = '';
  }
  texts.push(`${text}]${conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`}`);
  return { texts, clocks };
}

function rendered({ texts, clocks }: Row, nowMs: number): string {
  let text = texts[0] ?? '';
  for (let i = 0; i < clocks.length; i++) text += `"${clocks[i]?.(nowMs) ?? ''}"${texts[i + 1] ?? ''}`;
  return text;
}
