import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { apiVersionOf, type ApiObject, type JsonObject } from '../../machinery/meta/object.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Catalog, TableDeclaration } from '../../machinery/types/declarations.js';
import { negotiateForm, type Form } from '../http/negotiation.js';
import { protobufStatus, respondJson } from '../http/respond.js';
import type { Context } from '../request/request.js';
import { metadataAsJson, metadataListAsJson } from '../views/metadata-json.js';
import { metadataAsProtobuf, metadataListAsProtobuf } from '../views/protobuf.js';
import { statesAsTable } from '../views/table.js';
import { includeObject } from '../views/views.js';
import type { Kind } from './bodies.js';

/**
 * The form of an answer that is the object itself and nothing else: it has no metadata to show.
 *
 * @throws {StatusError} NotAcceptable for who takes a table or metadata only. Ask before anything is done.
 */
export const wholeForm = (ctx: Context): Form =>
  negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true, whole: true });

/**
 * The form of an answer that is stored nowhere, but has metadata all the same: of what it is a view of.
 *
 * @throws {StatusError} NotAcceptable; BadRequest for a parameter of a table that is none
 */
export function viewForm(ctx: Context): Form {
  const form = negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  if (form.view === 'table') includeObject(ctx.state.query);
  return form;
}

/** Columns of a kind; undefined: name and time. */
interface Columns {
  readonly table?: TableDeclaration;
}

/** Answers with such an object, in one of its views. */
export async function answerView(
  d: { readonly catalog: Catalog },
  ctx: Context,
  gvk: Kind & Columns,
  object: ApiObject,
): Promise<void> {
  const { view, apiVersion, encoding, type } = viewForm(ctx);
  if (view === 'object') return answerKind(d, ctx, gvk, object);
  const metadata = encoding === 'protobuf' ? metadataAsProtobuf : metadataAsJson;
  const body = view === 'metadata' ? metadata(apiVersion).one(object) : tableOf(ctx, gvk, [object], apiVersion);
  await respondJson(ctx, 200, body, type);
}

/** Answers with a list of such objects, in one of its views. */
export async function answerViews(
  d: { readonly catalog: Catalog },
  ctx: Context,
  gvk: Kind & Columns & { readonly listKind: string },
  objects: readonly ApiObject[],
): Promise<void> {
  const form = negotiateForm(ctx.get('Accept'), { of: 'list', protobuf: true });
  const { view, apiVersion, type } = form;
  if (view === 'table') return respondJson(ctx, 200, tableOf(ctx, gvk, objects, apiVersion), type);
  if (view === 'metadata') return respondJson(ctx, 200, metadataOfAll(objects, form), type);
  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item); // the list says what they are
  const list = { kind: gvk.listKind, apiVersion: apiVersionOf(gvk), metadata: {}, items };
  await answerKind(d, ctx, { ...gvk, kind: gvk.listKind }, list);
}

/** A list of what the objects have in metadata. */
const metadataOfAll = (objects: readonly ApiObject[], { apiVersion, encoding }: Form): Buffer =>
  encoding === 'protobuf' ? metadataListAsProtobuf(apiVersion, objects) : metadataListAsJson(apiVersion, objects);

function tableOf(ctx: Context, { table }: Columns, objects: readonly ApiObject[], apiVersion: string): Buffer {
  const resourceVersion = objects[0]?.metadata.resourceVersion ?? '';
  const metadata = resourceVersion === '' ? {} : { resourceVersion };
  return statesAsTable(table, objects, metadata, apiVersion, includeObject(ctx.state.query));
}

/** Answers with an object that is not stored, in the form that the client wants. */
export async function answerKind(
  { catalog }: { readonly catalog: Catalog },
  ctx: Context,
  gvk: Kind,
  object: ApiObject,
  code = 200,
): Promise<void> {
  const { group, version, kind } = gvk;
  const apiVersion = apiVersionOf(gvk);
  const { encoding, type } = wholeForm(ctx);
  const shown = { ...object, kind, apiVersion };
  const body =
    encoding === 'protobuf'
      ? encodeEnvelope(
          apiVersion,
          kind,
          encodeProtobuf(catalog.types.of(typeKey(group, version, kind)), shown as unknown as JsonObject), // decoded JSON
        )
      : Buffer.from(JSON.stringify(shown));
  await respondJson(ctx, code, body, type);
}

/** Says that what was asked for is done. Every client reads it, whatever view of objects it accepts. */
export async function answerDone(ctx: Context, code: number): Promise<void> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
  const { encoding, type } = negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  const body = encoding === 'protobuf' ? protobufStatus(status) : Buffer.from(JSON.stringify(status));
  await respondJson(ctx, code, body, type);
}
