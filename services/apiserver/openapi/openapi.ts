import type { Work } from '../../machinery/work/work.js';
import { Document, respondDocument } from '../http/document.js';
import { turns } from '../http/turns.js';
import { firstMatch, mediaRanges, notAcceptable } from '../http/negotiation.js';
import { unknownPath } from '../verbs/dispatch.js';
import type { Context } from '../request/request.js';
import type { CatalogVersion, LiveCatalog } from '../registry/live-catalog.js';
import type { RemoteApi, RemoteSchemas } from '../registry/remote-api.js';
import { DocumentWriter, type DocumentDeps } from './documents.js';
import { jsonInParts } from './json-parts.js';
import { partsOf, type Part } from './parts.js';
import { withSpecs } from './remote-specs.js';
import { encodeDocument } from './protobuf/encode.js';

export interface OpenApiDeps extends DocumentDeps {
  readonly live: Pick<LiveCatalog, 'current'>;
  /** What others serve behind this server. */
  readonly remote: { readonly current: Pick<RemoteApi, 'schemas'> };
  /** Hands a request for a document of version 3 to who serves what it tells of. */
  readonly forwardSchemas: (ctx: Context, schemas: RemoteSchemas) => Promise<void>;
}

/** The document of everything, in the forms that were asked for. */
interface FormsOfV2 {
  json?: Promise<Document>;
  protobuf?: Promise<Document>;
}

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type that clients ask for. It is no valid one: they refuse it in an answer. */
const OLD_PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const NOT_KEPT = { 'Cache-Control': 'no-cache, private' };
const UNCACHED = { 'Content-Type': JSON_TYPE, ...NOT_KEPT };
const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;

/**
 * Tells clients the schemas. A document is made when it is first asked for, and kept for as long as its resources are
 * served.
 */
export class OpenApi {
  readonly #d: OpenApiDeps;
  #writer: DocumentWriter | undefined;
  /** By what they are made of. */
  readonly #v3 = new WeakMap<object, Promise<Document>>();
  /** The newest of each version of the API. */
  readonly #v2 = new WeakMap<CatalogVersion['api'], { readonly of: RemoteApi['schemas']; readonly forms: FormsOfV2 }>();

  constructor(d: OpenApiDeps) {
    this.#d = d;
  }

  /** `/openapi/v2`, in JSON or Protobuf. */
  async v2(ctx: Context): Promise<void> {
    const isJson = typeFor(ctx, [JSON_TYPE, PROTOBUF_TYPE, OLD_PROTOBUF_TYPE]) === JSON_TYPE;
    const { current } = this.#d.live;
    const schemas = this.#schemas(current);
    const forms = this.#formsOf(current.api, this.#d.remote.current.schemas);
    if (isJson) {
      forms.json ??= this.#makeV2(current, schemas, jsonInParts, true);
      await respondDocument(ctx, await forms.json, UNCACHED);
    } else {
      forms.protobuf ??= this.#makeV2(current, schemas, encodeDocument, false);
      await respondDocument(ctx, await forms.protobuf, { 'Content-Type': PROTOBUF_TYPE, ...NOT_KEPT });
    }
  }

  #formsOf(api: CatalogVersion['api'], schemas: RemoteApi['schemas']): FormsOfV2 {
    const known = this.#v2.get(api);
    if (known?.of === schemas) return known.forms;
    const forms: FormsOfV2 = {};
    this.#v2.set(api, { of: schemas, forms });
    return forms;
  }

  /** Of what is not served here. */
  #schemas({ api }: CatalogVersion): readonly RemoteSchemas[] {
    return this.#d.remote.current.schemas.filter(
      ({ group, version }) =>
        !api.groups.some(({ name, versions }) => name === group && versions.some((it) => it.version === version)),
    );
  }

  #makeV2(
    { api, catalog }: CatalogVersion,
    schemas: readonly RemoteSchemas[],
    encode: (document: object) => Work<Buffer>,
    isJson: boolean,
  ): Promise<Document> {
    const specs = schemas.flatMap(({ spec }) => spec ?? []);
    return made(withSpecs(this.#documents().v2(partsOf(api.groups), catalog.types), specs), encode, isJson);
  }

  /** `/openapi/v3`: where the documents are, each with its hash. */
  async index(ctx: Context): Promise<void> {
    requireJson(ctx);
    const paths: Record<string, { serverRelativeURL: string }> = {};
    const { current } = this.#d.live;
    for (const part of partsOf(current.api.groups)) {
      const { hash } = await this.#document(part, current);
      paths[part.path] = { serverRelativeURL: urlOf(part.path, hash) };
    }
    for (const { path, hash } of this.#schemas(current)) {
      if (hash !== undefined) paths[path] = { serverRelativeURL: urlOf(path, encodeURIComponent(hash)) };
    }
    await respondDocument(ctx, new Document({ paths }), UNCACHED);
  }

  /** `/openapi/v3/<path>`. With the hash of its content it may be kept for ever. */
  async groupVersion(ctx: Context, path: string): Promise<void> {
    requireJson(ctx);
    const { current } = this.#d.live;
    const part = partsOf(current.api.groups).find((p) => p.path === path);
    if (part === undefined) {
      const remote = this.#schemas(current).find((it) => it.path === path && it.hash !== undefined);
      if (remote === undefined) throw unknownPath();
      return this.#d.forwardSchemas(ctx, remote);
    }
    const document = await this.#document(part, current);
    const hash = ctx.state.query.get('hash');
    if (hash === null || hash === '') return respondDocument(ctx, document, UNCACHED);
    if (hash !== document.hash) {
      ctx.status = 301;
      ctx.set('Location', urlOf(path, document.hash));
      ctx.body = '';
      return undefined;
    }
    return respondDocument(ctx, document, {
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'public, immutable',
      Expires: new Date(Date.now() + YEAR_MS).toUTCString(),
    });
  }

  #documents(): DocumentWriter {
    return (this.#writer ??= new DocumentWriter(this.#d));
  }

  #document(part: Part, { catalog }: CatalogVersion): Promise<Document> {
    let document = this.#v3.get(part.basis);
    if (document === undefined) {
      document = made(this.#documents().v3(part, catalog.types), jsonInParts, true);
      this.#v3.set(part.basis, document);
    }
    return document;
  }
}

/** Makes a document in turns between which others have theirs. */
async function made(
  written: Work<object>,
  encode: (document: object) => Work<Buffer>,
  isJson: boolean,
): Promise<Document> {
  const bytes = await turns.through(encode(await turns.through(written)));
  await turns.alone();
  return new Document(bytes, isJson);
}

const urlOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;

/** @throws {StatusError} NotAcceptable */
function requireJson(ctx: Context): void {
  typeFor(ctx, [JSON_TYPE]);
}

/**
 * The form that the client wants most.
 *
 * @throws {StatusError} NotAcceptable
 */
function typeFor<T extends string>(ctx: Context, offered: readonly T[]): T {
  for (const range of mediaRanges(ctx.get('Accept'))) {
    const type = range.parameters.has('as') ? undefined : firstMatch(range, offered);
    if (type !== undefined) return type;
  }
  throw notAcceptable(offered);
}
