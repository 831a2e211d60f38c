import type { ApiObject } from '../../machinery/meta/object.js';
import type { TableDeclaration } from '../../machinery/types/declarations.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import { columnsOf } from '../table/columns.js';
import { rowsOf, type Rows } from './rows.js';
import { ByteWriter } from '../http/byte-writer.js';
import { jsonError, jsonFrame } from './json-frames.js';
import { partialHead } from './metadata-json.js';
import {
  inServedVersion,
  jsonOf,
  metadataOf,
  versionOf,
  type Shown,
  listMeta,
  markObject,
  type ListMeta,
  type View,
} from './view.js';
import type { Asker } from '../http/turns.js';
import { inSlices } from './slices.js';

/** The part of its object that a row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

const END = Buffer.from(']}');
const NO_DEFINITIONS = '"columnDefinitions":null';

/** Objects as rows for people to read, in JSON. */
export function objectsAsTable(served: ServedResource, apiVersion: string, include: IncludeObject): View {
  const { definitions } = columnsOf(served.declaration.table);
  const json = (shown: Shown): Buffer => jsonOf(served, shown);
  const table = new TableView(served.declaration.table, apiVersion, include, json, readerOf(served));
  const one = (shown: Shown, shownDefinitions: string): Buffer =>
    Buffer.concat([table.head({ resourceVersion: versionOf(shown) }, shownDefinitions), table.row(shown), END]);
  return {
    id: `table ${served.apiVersion} ${apiVersion} ${include}`,
    one: (shown) => one(shown, definitions),
    list: (page, asker) => table.list(page, definitions, asker),
    event: (type, object) => jsonFrame(type, one(object, 'null')),
    bookmark: (at, annotations) => {
      const { kind } = served.stored.hub;
      const mark = markObject({ kind, apiVersion: served.apiVersion }, at, annotations);
      return jsonFrame('BOOKMARK', one(mark, 'null'));
    },
    error: jsonError,
    opening: (frames) => withDefinitions(frames, definitions),
  };
}

/** Columns of built-in kinds look into what is stored; each version of a custom kind has columns of its own members. */
const readerOf = (served: ServedResource): ((shown: Shown) => unknown) | undefined =>
  served.type.declaration.custom === undefined ? undefined : (shown) => inServedVersion(served, shown);

/** Objects that are not stored, a row each. */
export function statesAsTable(
  declaration: TableDeclaration | undefined,
  states: readonly ApiObject[],
  metadata: Partial<ListMeta>,
  apiVersion: string,
  include: IncludeObject,
): Buffer {
  const table = new TableView(declaration, apiVersion, include, (shown) => Buffer.from(JSON.stringify(shown)));
  const rows = states.flatMap((state, i) => [Buffer.from(i === 0 ? '' : ','), table.row(state)]);
  return Buffer.concat([table.head(metadata, columnsOf(declaration).definitions), ...rows, END]);
}

/** Columns are told in the first event of a watch. They stand before anything that a client could have written. */
function withDefinitions(frames: Buffer, definitions: string): Buffer {
  const at = frames.indexOf(NO_DEFINITIONS);
  const end = at + NO_DEFINITIONS.length;
  const shown = Buffer.from(`"columnDefinitions":${definitions}`);
  return Buffer.concat([frames.subarray(0, at), shown, frames.subarray(end)]);
}

class TableView {
  readonly #json: (shown: Shown) => Buffer;
  readonly #apiVersion: string;
  readonly #include: IncludeObject;
  readonly #rows: Rows;
  readonly #partialHead: string;

  /** @param json The whole object, in the version that is asked for. @param read What the columns look into. */
  constructor(
    declaration: TableDeclaration | undefined,
    apiVersion: string,
    include: IncludeObject,
    json: (shown: Shown) => Buffer,
    read?: (shown: Shown) => unknown,
  ) {
    this.#json = json;
    this.#apiVersion = apiVersion;
    this.#include = include;
    this.#rows = rowsOf(declaration, read);
    this.#partialHead = partialHead(apiVersion);
  }

  /** Everything up to the first row. */
  head(metadata: Partial<ListMeta>, definitions: string): Buffer {
    const head = JSON.stringify({ kind: 'Table', apiVersion: this.#apiVersion, metadata });
    return Buffer.from(`${head.slice(0, -1)},"columnDefinitions":${definitions},"rows":[`);
  }

  row(shown: Shown): Buffer {
    const writer = new ByteWriter();
    this.#write(writer, shown, Date.now());
    return writer.finish();
  }

  async list(page: Page, definitions: string, asker: Asker): Promise<Buffer[]> {
    const nowMs = Date.now(); // one for all rows
    const [first, ...rest] = await inSlices(
      page.objects(),
      (writer, object) => this.#writeNext(writer, object, nowMs),
      asker,
    );
    const rows = first === undefined ? [] : [first.subarray(1), ...rest]; // no comma before the first
    return [this.head(listMeta(page), definitions), ...rows, END];
  }

  #writeNext(writer: ByteWriter, object: CachedObject, nowMs: number): void {
    writer.text(',');
    this.#write(writer, object, nowMs);
  }

  #write(writer: ByteWriter, shown: Shown, nowMs: number): void {
    writer.text(`{${this.#rows.text(shown, nowMs)},"object":`);
    if (this.#include === 'None') writer.text('null}');
    else if (this.#include === 'Object') {
      writer.bytes(this.#json(shown));
      writer.text('}');
    } else {
      writer.text(this.#partialHead);
      writer.bytes(metadataOf(shown));
      writer.text('}}');
    }
  }
}
