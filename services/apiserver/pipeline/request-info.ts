import type { SubresourceDeclaration } from '../../machinery/types/declarations.js';
import { badRequest } from '../../machinery/meta/status.js';
import type { ServedApi } from '../registry/served.js';
import type { RequestInfo, RequestVerb, ResourceRequest, Stage } from './request.js';

const ITEM_VERBS: Readonly<Record<string, RequestVerb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const COLLECTION_VERBS: Readonly<Record<string, RequestVerb>> = {
  ...ITEM_VERBS,
  GET: 'list',
  HEAD: 'list',
  DELETE: 'deletecollection',
};
/** Nobody changes a query. */
const NO_QUERY = new URLSearchParams();
/** Sub-resources with which a client may go on in another protocol. */
const UPGRADES: ReadonlySet<string> = new Set(['proxy', 'exec', 'attach', 'portforward']);

/** Works out what a request is about; everything further in reads `state.info`. */
export const requestInfo =
  (api: ServedApi): Stage =>
  (ctx, next) => {
    const url = (ctx.req.url = originForm(ctx.req.url ?? '/')); // whoever reads it further in reads the same
    const mark = url.indexOf('?');
    ctx.state.query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    ctx.state.info = parseRequest(api, ctx.method, pathOf(url), ctx.state.query);
    return next();
  };

/** What no URL holds as it goes over the wire (RFC 3986, 2 and 3.5): it may be read as another path than it is. */
const NO_URL = /[^\x21-\x7e]|#/;
/** Scheme and host of a URL, as clients of proxies name it whole (RFC 9112, 3.2.2). */
const WHOLE = /^https?:\/\/[^/?#]*/i;

/**
 * What a request asks for, without the server: rights are held against the path, and whoever answers has to see the same.
 *
 * @throws {StatusError} BadRequest for a URL that is none, or has a fragment, which is nothing that could be asked for.
 */
export function originForm(url: string): string {
  if (NO_URL.test(url)) throw badRequest('The URL has a fragment, or characters that have to be escaped');
  if (url.startsWith('/')) return url;
  const whole = WHOLE.exec(url);
  if (whole === null) return url;
  const rest = url.slice(whole[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** @throws {StatusError} BadRequest for a path that cannot be decoded. */
export function parseRequest(api: ServedApi, method: string, path: string, query: URLSearchParams): RequestInfo {
  const raw = path.split('/').slice(1);
  const known = raw[subresourceAt(raw)] === 'proxy' ? raw.slice(0, subresourceAt(raw) + 1) : raw;
  const parts = known.map(decodeSegment); // what follows a proxy is another server's
  const [root, ...rest] = parts;
  const isCore = root === 'api' && rest.length >= 2;
  const isNamed = root === 'apis' && rest.length >= 3;
  if (!isCore && !isNamed) return { kind: 'path', verb: method.toLowerCase(), path };
  const [group = '', version = '', ...below] = isCore ? ['', ...rest] : rest;
  return resourceRequest(api, method, group, version, below, query, path);
}

/** Where the sub-resource of an object stands among the segments of a path; Infinity when there can be none. */
function subresourceAt([root, version, first, second]: readonly string[]): number {
  if (root === 'api' && version !== undefined) return first === 'namespaces' ? 6 : 4;
  return root === 'apis' ? (second === 'namespaces' ? 7 : 5) : Infinity;
}

/** Whether a request for this URL may ask for another protocol. */
export function mayUpgrade(url: string): boolean {
  const segments = pathOf(url).split('/').slice(1);
  return UPGRADES.has(segments[subresourceAt(segments)] ?? '');
}

/** What a URL asks of the server behind a proxy, as it was sent. */
export interface ProxiedUrl {
  /** The path that leads to that server. */
  readonly prefix: string;
  /** Begins with a slash, or is empty. */
  readonly path: string;
  /** Begins with a question mark, or is empty. */
  readonly query: string;
}

export function proxiedUrl(url: string): ProxiedUrl {
  const path = pathOf(url);
  const segments = path.split('/');
  const end = subresourceAt(segments.slice(1)) + 2; // one for the empty segment in front, one to include it
  const prefix = segments.slice(0, end).join('/');
  return { prefix, path: path.slice(prefix.length), query: url.slice(path.length) };
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function resourceRequest(
  api: ServedApi,
  method: string,
  group: string,
  version: string,
  below: readonly string[],
  query: URLSearchParams,
  path: string,
): RequestInfo {
  const watchPath = below[0] === 'watch' && below.length > 1; // the older form of watching
  const at = watchPath ? below.slice(1) : below;
  const { namespace, resource, name, subresource } = locate(at);
  if (resource === '' || at.length > (namespace === '' ? 3 : 5)) {
    return { kind: 'path', verb: method.toLowerCase(), path };
  }
  const declaration = api.find(group, version, resource);
  return {
    kind: 'resource',
    verb: verbOf(method, name, subresource, watchPath, query),
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    declaration,
    subresourceDeclaration: findSubresource(declaration?.subresources, subresource),
  };
}

/** `namespaces/x/pods/y/status`, `pods/y`, `namespaces/x`, `namespaces/x/status` */
function locate(at: readonly string[]): Pick<ResourceRequest, 'namespace' | 'resource' | 'name' | 'subresource'> {
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = at;
  const ofNamespace = first === 'namespaces' && (at.length <= 2 || (at.length === 3 && NAMESPACE_PARTS.has(third)));
  if (first !== 'namespaces' || ofNamespace) {
    // Rights on a namespace may be given inside of it, so it counts as its own place here (see pipeline/verb.ts).
    return { namespace: ofNamespace ? second : '', resource: first, name: second, subresource: third };
  }
  return { namespace: second, resource: third, name: fourth, subresource: fifth };
}
const NAMESPACE_PARTS = new Set(['status', 'finalize']);

function verbOf(
  method: string,
  name: string,
  subresource: string,
  watchPath: boolean,
  query: URLSearchParams,
): RequestVerb {
  const verb = (name === '' ? COLLECTION_VERBS : ITEM_VERBS)[method] ?? 'connect';
  const reads = verb === 'get' || verb === 'list';
  return reads && subresource === '' && (watchPath || isTrue(query.get('watch'))) ? 'watch' : verb;
}

const isTrue = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false';

function findSubresource(
  declared: readonly SubresourceDeclaration[] | undefined,
  name: string,
): SubresourceDeclaration | undefined {
  return name === '' ? undefined : declared?.find((s) => s.name === name);
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (err) {
    throw badRequest('The path has a malformed percent escape', err);
  }
  if (decoded.includes('\0')) throw badRequest('The path has a zero byte');
  return decoded;
}
