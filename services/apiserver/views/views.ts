import { hasWireForm } from '../../machinery/codec/protobuf/wire-form.js';
import { badRequest } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { ByteWriter } from '../http/byte-writer.js';
import { negotiateForm, type Form, type Offer } from '../http/negotiation.js';
import type { Asker } from '../http/turns.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import type { Context } from '../request/request.js';
import { jsonError, jsonFrame } from './json-frames.js';
import { metadataAsJson } from './metadata-json.js';
import { metadataAsProtobuf, objectsAsProtobuf } from './protobuf.js';
import { allPieces, inSlices } from './slices.js';
import { objectsAsTable, type IncludeObject } from './table.js';
import { type View, listMeta, markObject } from './view.js';
import { inServedVersion, jsonOf } from './view.js';

const LIST_END = Buffer.from(']}');

/** Objects as they are, in JSON. */
const objectsAsJson = (served: ServedResource): View => ({
  id: `json ${served.apiVersion}`,
  one: (shown) => jsonOf(served, shown),
  list: (page, asker) => listPieces(served, page, asker),
  event: (type, object) => jsonFrame(type, jsonOf(served, object)),
  bookmark: (at, annotations) => jsonFrame('BOOKMARK', JSON.stringify(markObject(named(served), at, annotations))),
  error: jsonError,
});

const named = ({ declaration: { kind }, apiVersion }: ServedResource): { kind: string; apiVersion: string } => ({
  kind,
  apiVersion,
});

async function listPieces(served: ServedResource, page: Page, asker: Asker): Promise<Buffer[]> {
  const { declaration, apiVersion } = served;
  const head = JSON.stringify({ kind: declaration.listKind, apiVersion, metadata: listMeta(page) });
  const made = served.servesStorageVersion
    ? allPieces(page.items(), asker)
    : inSlices(page.objects(), (writer, object) => writeConverted(writer, served, object), asker);
  const items = Array.isArray(made) ? made : await made; // most are there at once
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  for (const piece of items) parts.push(parts.length === 1 ? piece.subarray(1) : piece); // no comma before the first
  parts.push(LIST_END);
  return parts;
}

/** With a comma in front. */
function writeConverted(writer: ByteWriter, served: ServedResource, object: CachedObject): void {
  const whole = inServedVersion(served, object);
  const { kind, apiVersion, ...item } = whole;
  writer.text(`,${JSON.stringify(served.itemsAreNamed ? whole : item)}`);
}

/** How a request is answered: the view, and the Content-Type that goes with it. */
export interface Negotiated {
  readonly form: Form;
  readonly view: View;
}

/**
 * The first view in the client's order that there is.
 *
 * @throws {StatusError} NotAcceptable; BadRequest for a parameter of the view that is none
 */
export function negotiateView(ctx: Context, served: ServedResource, of: Offer['of']): Negotiated {
  const form = negotiateForm(ctx.get('Accept'), { of, protobuf: hasWireForm(served.type) });
  const include = form.view === 'table' ? includeObject(ctx.state.query) : 'Metadata';
  return { form, view: viewOf(served, form, include) };
}

const INCLUDES: ReadonlyMap<string, IncludeObject> = new Map<string, IncludeObject>([
  ['', 'Metadata'],
  ['None', 'None'],
  ['Metadata', 'Metadata'],
  ['Object', 'Object'],
]);

/** @throws {StatusError} BadRequest */
export function includeObject(query: URLSearchParams): IncludeObject {
  const asked = query.get('includeObject') ?? '';
  const include = INCLUDES.get(asked);
  if (include !== undefined) return include;
  const why = `includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

type MakeView = (served: ServedResource, apiVersion: string, include: IncludeObject) => View;

/** By what is shown, and whether in Protobuf. Tables have no such form: it is never offered. */
const VIEWS: Readonly<Record<Form['view'], { readonly json: MakeView; readonly protobuf: MakeView }>> = {
  object: { json: objectsAsJson, protobuf: objectsAsProtobuf },
  metadata: {
    json: (_served, apiVersion) => metadataAsJson(apiVersion),
    protobuf: (_served, apiVersion) => metadataAsProtobuf(apiVersion),
  },
  table: { json: objectsAsTable, protobuf: objectsAsTable },
};

/** Some twenty of each resource at most: what they hang on is a closed set. */
const views = new WeakMap<ServedResource, Map<string, View>>();

function viewOf(served: ServedResource, { view, apiVersion, encoding }: Form, include: IncludeObject): View {
  let known = views.get(served);
  if (known === undefined) views.set(served, (known = new Map<string, View>()));
  const key = `${view} ${apiVersion} ${encoding} ${include}`;
  let made = known.get(key);
  if (made === undefined) {
    made = VIEWS[view][encoding === 'protobuf' ? 'protobuf' : 'json'](served, apiVersion, include);
    known.set(key, made);
  }
  return made;
}
