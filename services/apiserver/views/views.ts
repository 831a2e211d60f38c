import { hasWireForm } from '../../machinery/codec/protobuf/wire-form.js';
import { badRequest } from '../../machinery/meta/status.js';
import { negotiateForm, type Form, type Offer } from '../http/negotiation.js';
import type { Context } from '../request/request.js';
import type { ServedResource } from '../registry/resources.js';
import { metadataAsJson } from './metadata-json.js';
import { objectsAsJson } from './object-json.js';
import { metadataAsProtobuf, objectsAsProtobuf } from './protobuf.js';
import { objectsAsTable, type IncludeObject } from './table.js';
import type { View } from './view.js';

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
