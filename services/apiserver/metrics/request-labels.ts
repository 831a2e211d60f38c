import {
  isPassedOn,
  type PathRequest,
  type RequestInfo,
  type RequestVerb,
  type ResourceRequest,
} from '../request/request.js';

/** How a request is counted. All values come from closed sets: a client cannot make new ones. */
export interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** For requests that are about no resource: where the path begins. */
  readonly subresource: string;
  readonly scope: '' | 'resource' | 'namespace' | 'cluster';
}

const VERBS: ReadonlyMap<string, string> = new Map<RequestVerb, string>([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETE'],
  ['options', 'OPTIONS'],
]);
const MUTATING: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'post',
  'put',
]);
const PATH_VERBS = new Map(
  ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'].map((v) => [v, v.toUpperCase()]),
);
/** The longer before the shorter that it begins with. */
const PATHS = ['/healthz', '/livez', '/readyz', '/metrics', '/version', '/openapi/v2', '/openapi/v3', '/apis', '/api'];

export const OTHER = 'other';

/** Runs until it is ended; counted by itself, for it says nothing about load. */
export const isLongRunning = (info: RequestInfo): boolean =>
  info.kind === 'resource' && (info.verb === 'watch' || isPassedOn(info));

export const isMutating = (info: RequestInfo): boolean => MUTATING.has(info.verb);

export const scopeOf = ({ name, verb, namespace }: ResourceRequest): RequestLabels['scope'] => {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
};

const verbLabel = (verb: ResourceRequest['verb']): string => VERBS.get(verb) ?? OTHER;

export function resourceLabels(info: ResourceRequest): RequestLabels {
  const { declaration, subresource, subresourceDeclaration } = info;
  if (declaration === undefined) return unknownResource(info.verb);
  return {
    verb: isPassedOn(info) ? 'CONNECT' : verbLabel(info.verb),
    group: declaration.group,
    version: declaration.version,
    resource: declaration.resource,
    subresource: subresource === '' || subresourceDeclaration !== undefined ? subresource : OTHER,
    scope: scopeOf(info),
  };
}

/** All that is not served counts together. */
export const unknownResource = (verb: ResourceRequest['verb']): RequestLabels => ({
  verb: verbLabel(verb),
  group: OTHER,
  version: OTHER,
  resource: OTHER,
  subresource: '',
  scope: '',
});

export function pathLabels({ verb, path }: PathRequest): RequestLabels {
  return {
    verb: PATH_VERBS.get(verb) ?? OTHER,
    group: '',
    version: '',
    resource: '',
    subresource: path === '/' ? path : (PATHS.find((p) => path === p || path.startsWith(`${p}/`)) ?? OTHER),
    scope: '',
  };
}
