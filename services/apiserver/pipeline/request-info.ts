import { badRequest, methodNotAllowed, StatusError } from '../../machinery/meta/status.js';
import type { ResourceDeclaration, SubresourceDeclaration, ResourceVerb } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { booleanParameter } from '../http/query.js';
import { addWarnings } from '../http/warnings.js';
import type { DeprecatedApiMetrics } from '../metrics/deprecated-apis.js';
import type { ServedApi } from '../registry/served.js';
import {
  type RequestInfo,
  type RequestVerb,
  type ResourceRequest,
  type Stage,
  type UnknownVerb,
  type Context,
  annotate,
} from '../request/request.js';

const ITEM_VERBS: ReadonlyMap<string, RequestVerb> = new Map<string, RequestVerb>([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['OPTIONS', 'options'],
]);
const COLLECTION_VERBS: ReadonlyMap<string, RequestVerb> = new Map<string, RequestVerb>([
  ...ITEM_VERBS,
  ['GET', 'list'],
  ['HEAD', 'list'],
  ['DELETE', 'deletecollection'],
]);
/** Shared: queries are not changed. */
const NO_QUERY = new URLSearchParams();
/** Sub-resources with which a client may go on in another protocol. */
const UPGRADES: ReadonlySet<string> = new Set(['proxy', 'exec', 'attach', 'portforward']);

/**
 * Works out what a request is about; everything further in reads `state.info`. What it finds served it has until its
 * end, whatever comes and goes meanwhile.
 */
export const requestInfo =
  (live: { readonly current: { readonly api: ServedApi } }): Stage =>
  (ctx, next) => {
    const url = (ctx.req.url = originForm(ctx.req.url ?? '/')); // all stages further in read the same
    const mark = url.indexOf('?');
    ctx.state.query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    ctx.state.info = parseRequest(live.current.api, ctx.method, pathOf(url), ctx.state.query);
    return next();
  };

/**
 * Characters that no URL has as it goes over the wire (RFC 3986, 2 and 3.5): it may be read as another path than it is.
 */
const NO_URL = /[^\x21-\x7e]|#/;
/** Scheme and host of a URL, as clients of proxies name it whole (RFC 9112, 3.2.2). */
const WHOLE = /^https?:\/\/[^/?#]*/i;

/**
 * The path and query of a request, without the server: authorization and the answer have to see the same path.
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
  if (parts.length > 1 && parts.at(-1) === '') parts.pop(); // a slash at the end names nothing
  const [root, ...rest] = parts;
  const isCore = root === 'api' && rest.length >= 2;
  const isNamed = root === 'apis' && rest.length >= 3;
  if (!isCore && !isNamed) return { kind: 'path', verb: method.toLowerCase(), path };
  const [group = '', version = '', ...below] = isCore ? ['', ...rest] : rest;
  return resourceRequest(api, method, group, version, below, query, path);
}

/** Where the sub-resource of an object stands among the segments of a path; Infinity when there can be none. */
function subresourceAt([root, version, first, second]: readonly string[]): number {
  const resource = root === 'api' ? first : second;
  if (resource === WATCH || version === undefined) return Infinity;
  if (root === 'api') return resource === NAMESPACES ? 6 : 4;
  return root === 'apis' ? (resource === NAMESPACES ? 7 : 5) : Infinity;
}
const WATCH = 'watch';
const NAMESPACES = 'namespaces';

/** Whether a request for this URL may ask for another protocol. */
export function mayUpgrade(url: string): boolean {
  const segments = pathOf(url).split('/').slice(1);
  return UPGRADES.has(segments[subresourceAt(segments)] ?? '');
}

/** The part of a URL that is for the server behind a proxy, as it was sent. */
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
  const watchPath = below[0] === WATCH && below.length > 1;
  const at = watchPath ? below.slice(1) : below;
  const { namespace, resource, name, subresource } = locate(at);
  const isTooLong = at.length > (namespace === '' ? 3 : 5);
  if (resource === '' || (isTooLong && serves(api, group, version))) {
    return { kind: 'path', verb: method.toLowerCase(), path };
  }
  const found = api.find(group, version, resource);
  const declaration = found !== undefined && leadsTo(found, at, watchPath) ? found : undefined;
  return {
    kind: 'resource',
    verb: verbOf(method, name, subresource, watchPath, query),
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    watchPath,
    declaration,
    subresourceDeclaration: findSubresource(declaration?.subresources, subresource),
  };
}

/** Of what is not served here nobody knows how long its paths are. */
const serves = ({ groups }: ServedApi, group: string, version: string): boolean =>
  groups.find(({ name }) => name === group)?.versions.some((it) => it.version === version) === true;

/**
 * Whether a path names something that there is: objects without a namespace are in none, one with a namespace is found
 * in its own only, and no part of an object can be watched.
 */
function leadsTo(d: ResourceDeclaration, at: readonly string[], watchPath: boolean): boolean {
  const { namespace, name, subresource, isBelow } = locate(at);
  if (watchPath && (subresource !== '' || !d.verbs.includes('watch'))) return false;
  return d.namespaced ? namespace !== '' || name === '' : !isBelow;
}

/** `namespaces/x/pods/y/status`, `pods/y`, `namespaces/x`, `namespaces/x/status` */
function locate(at: readonly string[]): Place {
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = at;
  const ofNamespace = first === NAMESPACES && (at.length <= 2 || (at.length === 3 && NAMESPACE_PARTS.has(third)));
  if (first !== NAMESPACES || ofNamespace) {
    // Rights on a namespace may be given inside of it, so it counts as its own place here.
    const namespace = ofNamespace ? second : '';
    return { namespace, resource: first, name: second, subresource: third, isBelow: false };
  }
  return { namespace: second, resource: third, name: fourth, subresource: fifth, isBelow: true };
}
const NAMESPACE_PARTS = new Set(['status', 'finalize']);

interface Place extends Pick<ResourceRequest, 'namespace' | 'resource' | 'name' | 'subresource'> {
  /** The path leads through a namespace, which is more than being about one. */
  readonly isBelow: boolean;
}

function verbOf(
  method: string,
  name: string,
  subresource: string,
  watchPath: boolean,
  query: URLSearchParams,
): ResourceRequest['verb'] {
  const verb = (name === '' ? COLLECTION_VERBS : ITEM_VERBS).get(method);
  if (verb === undefined) return method.toLowerCase() as UnknownVerb; // the one place that makes them
  const reads = verb === 'get' || verb === 'list';
  return reads && subresource === '' && (watchPath || booleanParameter(query, 'watch')) ? 'watch' : verb;
}

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

/* Which methods a path takes, and how the others are refused. */

/** The kinds of paths of a resource. */
type Shape = 'collection' | 'everywhere' | 'item' | 'part' | 'watch';

/** The verbs of each kind of path, where the resource has them. */
const VERBS: Readonly<Record<Shape, readonly ResourceVerb[]>> = {
  collection: ['list', 'create', 'deletecollection'],
  everywhere: ['list'],
  item: ['get', 'update', 'patch', 'delete'],
  part: ['get', 'create', 'update', 'patch', 'delete'],
  watch: ['watch'],
};

const METHODS: Readonly<Record<ResourceVerb, readonly string[]>> = {
  get: ['GET', 'HEAD'],
  list: ['GET', 'HEAD'],
  watch: ['GET', 'HEAD'],
  create: ['POST'],
  update: ['PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
  deletecollection: ['DELETE'],
};

/** The methods that this server implements. */
const IMPLEMENTED: ReadonlySet<string> = new Set(['OPTIONS', ...Object.values(METHODS).flat()]);

function shapeOf({ watchPath, subresource, name, namespace }: ResourceRequest, namespaced: boolean): Shape {
  if (watchPath) return 'watch';
  if (subresource !== '') return 'part';
  if (name !== '') return 'item';
  return namespaced && namespace === '' ? 'everywhere' : 'collection';
}

type Declared = ResourceDeclaration | SubresourceDeclaration;
/** Declarations are few, and live as long as the server. */
const known = new WeakMap<Declared, Map<Shape, ReadonlySet<string>>>();
const NONE: ReadonlySet<string> = new Set();

/** The methods that the path of a request takes. None at all: there is no such path. */
export function methodsOf(info: ResourceRequest, declaration: ResourceDeclaration): ReadonlySet<string> {
  const declared = info.subresource === '' ? declaration : info.subresourceDeclaration;
  if (declared === undefined) return NONE;
  const shape = shapeOf(info, declaration.namespaced);
  let ofShapes = known.get(declared);
  if (ofShapes === undefined) known.set(declared, (ofShapes = new Map<Shape, ReadonlySet<string>>()));
  let methods = ofShapes.get(shape);
  if (methods === undefined) ofShapes.set(shape, (methods = methodsAt(shape, declared.verbs, info.subresource)));
  return methods;
}

function methodsAt(shape: Shape, verbs: readonly ResourceVerb[], subresource: string): ReadonlySet<string> {
  const methods = VERBS[shape].filter((verb) => verbs.includes(verb)).flatMap((verb) => METHODS[verb]);
  return new Set(subresource === 'proxy' ? [...methods, 'OPTIONS'] : methods); // what is behind may be asked about itself
}

/**
 * Refuses a method, and says what the path takes instead (`Allow`): 405, or 501 where this server knows no such method
 * whatever the path (RFC 9110, 9.1).
 *
 * @param declaration undefined: the path is about no resource.
 */
export function methodRefused(
  ctx: Pick<Context, 'method' | 'set'>,
  allowed: Iterable<string>,
  declaration?: ResourceDeclaration,
): StatusError {
  ctx.set('Allow', [...allowed].join(', '));
  if (!IMPLEMENTED.has(ctx.method)) return new StatusError('NotImplemented', UNKNOWN_METHOD, { details: {} });
  if (declaration !== undefined) return methodNotAllowed(declaration, ctx.method);
  return new StatusError('MethodNotAllowed', NOT_ALLOWED, { details: {} });
}

const UNKNOWN_METHOD = 'the server does not implement this method';
const NOT_ALLOWED = 'the server does not allow this method on the requested resource';

/** Warns the client of a deprecated version, whatever becomes of its request (spec 1, 9.2). */
export const warnOfDeprecation: Stage = (ctx, next) => {
  const { info } = ctx.state;
  if (info.kind === 'path' || info.declaration === undefined) return next();
  const { deprecated, warning } = info.declaration;
  if (deprecated !== undefined) addWarnings(ctx, [deprecationWarning(info.declaration)]);
  if (warning !== undefined) addWarnings(ctx, [warning]);
  return next();
};

/** Tells who scrapes and the audit that a deprecated version is in use (spec 1, 9.2). */
export const deprecation =
  ({ deprecatedAnnotation, removedReleaseAnnotation }: Vocabulary, metrics: DeprecatedApiMetrics): Stage =>
  (ctx, next) => {
    const { info } = ctx.state;
    if (info.kind === 'path' || info.declaration?.deprecated === undefined) return next();
    const { declaration, subresource } = info;
    metrics.requested(declaration, subresource);
    annotate(ctx.state, {
      [deprecatedAnnotation]: 'true',
      ...(declaration.removed === undefined ? {} : { [removedReleaseAnnotation]: declaration.removed }),
    });
    return next();
  };

/** e.g. `batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob` */
export function deprecationWarning(d: ResourceDeclaration): string {
  const version = d.group === '' ? d.version : `${d.group}/${d.version}`;
  const gone = d.removed === undefined ? '' : `, unavailable in v${d.removed}+`;
  const instead = d.replacement === undefined ? '' : `; use ${d.replacement} ${d.kind}`;
  return `${version} ${d.kind} is deprecated in v${d.deprecated ?? ''}+${gone}${instead}`;
}
