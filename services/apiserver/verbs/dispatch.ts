import { notFound, StatusError } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Feed } from '../cache/feed.js';
import { methodRefused, methodsOf, parseRequest } from '../pipeline/request-info.js';
import type { Asker } from '../http/turns.js';
import { partOf } from '../registry/parts.js';
import type { ServedApi } from '../registry/served.js';
import type { ResourceTable, ServedResource } from '../registry/resources.js';
import type { Context, RequestVerb, ResourceRequest, Stage } from '../request/request.js';
import { negotiateView } from '../views/views.js';
import { create } from './create.js';
import { deleteOne } from './delete.js';
import { deleteCollection } from './deletecollection.js';
import { get } from './get.js';
import { list } from './list.js';
import { patch } from './patch.js';
import type { VerbTable, VerbDeps, VerbHandler } from './types.js';
import { update } from './update.js';
import { watch } from './watch.js';

/** Answers a request whose path names more than a stored object or a part of it. */
export type Operation = (ctx: Context, request: ResourceRequest) => Promise<void>;

/** The operations of one path, by verb. */
export type OperationVerbs = Readonly<Partial<Record<RequestVerb, Operation>>>;

/**
 * Sub-resources that are no parts of an object, and resources that stand for an operation: by group, by `<resource>` or
 * `<resource>/<subresource>`, and by verb.
 */
export type Operations = ReadonlyMap<string, ReadonlyMap<string, OperationVerbs>>;

export interface VerbStageDeps {
  readonly operations: Operations;
  readonly feed: Pick<Feed, 'loaded'>;
  readonly resources: ResourceTable;
  readonly verbs: VerbTable;
  readonly live: { readonly current: { readonly api: ServedApi } };
  /** Resolves when this server has seen all that was stored when it was called. @throws {StatusError} Timeout */
  readonly fresh: (asker: Asker) => Promise<void>;
  /** Answers a request for what another server serves. @returns false: none does. */
  readonly elsewhere: (ctx: Context) => Promise<boolean>;
}

type Found = Omit<VerbStageDeps, 'feed' | 'elsewhere'>;

/** The innermost stage for resources: finds the verb or the operation, or refuses. */
export const verb =
  ({ feed, elsewhere, ...found }: VerbStageDeps): Stage =>
  async (ctx, next) => {
    const { info } = ctx.state;
    if (info.kind === 'path') {
      await next();
      return;
    }
    if (!feed.loaded) throw notLoaded();
    if (info.declaration !== undefined) return dispatch(ctx, info, found);
    const again = await lookedAgain(ctx, info, found);
    if (again.declaration === undefined && (await elsewhere(ctx))) return undefined;
    return dispatch(ctx, again, found);
  };

/**
 * What is not served here may have been accepted by another server a moment ago: once this one has seen all that was
 * stored before the request came, it knows.
 */
async function lookedAgain(ctx: Context, info: ResourceRequest, { live, fresh }: Found): Promise<ResourceRequest> {
  if (!info.group.includes('.')) return info; // of groups without a domain nothing comes at run time
  await fresh(ctx.state);
  const again = parseRequest(live.current.api, ctx.method, ctx.path, ctx.state.query);
  if (again.kind === 'path') return info;
  ctx.state.info = again;
  return again;
}

async function dispatch(ctx: Context, info: ResourceRequest, { operations, resources, verbs }: Found): Promise<void> {
  const { declaration, name, subresource } = info;
  if (declaration === undefined) throw unknownPath();
  const namespace = declaration.namespaced ? info.namespace : ''; // rights on a namespace are looked at inside of it
  // Slashes and dots that came in escaped would make keys of another place.
  for (const part of [namespace, name])
    if (part.includes('/') || part === '.' || part === '..') throw notFound(declaration, part);
  const verb = verbFor(ctx, info, declaration);
  const served = resources.served(declaration);
  if (served?.stored.cache.loaded === false) await untilLoaded(ctx, served);
  const request = namespace === info.namespace ? info : { ...info, namespace };
  const path = subresource === '' ? declaration.resource : `${declaration.resource}/${subresource}`;
  const operation = (operations.get(declaration.group)?.get(path) ?? ofEveryGroup(operations, subresource))?.[verb];
  if (operation !== undefined) return operation(ctx, request);
  if (verb === 'options' || served === undefined || partOf(subresource) === undefined) throw notBuilt(info);
  return verbs[verb](ctx, request, served);
}

/** Sub-resources that kinds of any group may have are operations of the group `*`. */
const ofEveryGroup = (operations: Operations, subresource: string): OperationVerbs | undefined =>
  subresource === '' ? undefined : operations.get('*')?.get(`*/${subresource}`);

/** Longest that a request waits for a resource that has just come. */
const LOADED_WITHIN_MS = 3_000;

/**
 * A resource that has just come is still being loaded; one that has just gone is not there any more.
 *
 * @throws {StatusError} ServiceUnavailable, NotFound @throws the request's own reason when the asker has left
 */
async function untilLoaded(ctx: Context, { stored: { cache } }: ServedResource): Promise<void> {
  if (await cache.whenLoaded(LOADED_WITHIN_MS, ctx.state.signal)) return;
  throw cache.closed ? unknownPath() : notLoaded();
}

/**
 * The verb of a request.
 *
 * @throws {StatusError} NotFound where no method leads to anything; MethodNotAllowed or NotImplemented for another one
 */
function verbFor(ctx: Context, info: ResourceRequest, declaration: ResourceDeclaration): RequestVerb {
  const methods = methodsOf(info, declaration);
  if (methods.size === 0) throw unknownPath();
  const cannotBeWatched = info.verb === 'watch' && !declaration.verbs.includes('watch');
  if (!methods.has(ctx.method) || cannotBeWatched) throw methodRefused(ctx, methods, declaration);
  return info.verb as RequestVerb; // what a path takes is known
}

const notLoaded = (): StatusError =>
  new StatusError('ServiceUnavailable', 'The server is still loading the state of the store', {
    details: { retryAfterSeconds: 1 },
  });

export const unknownPath = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

function notBuilt({ resource, subresource, group }: ResourceRequest): StatusError {
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  return new StatusError('NotImplemented', `${what} is not available on this server yet`, {
    details: { ...(group === '' ? {} : { group }), kind: what },
  });
}

/**
 * Refuses what cannot be answered as the client wants before anything is read or done. @throws {StatusError}
 * NotAcceptable
 */
const negotiated =
  (handler: VerbHandler): VerbHandler =>
  (ctx, request, served) => {
    negotiateView(ctx, served, 'object');
    return handler(ctx, request, served);
  };

export const verbTable = (d: VerbDeps): VerbTable => ({
  get: negotiated(get(d)),
  list: list(d),
  watch: watch(d),
  create: negotiated(create(d)),
  update: negotiated(update(d)),
  patch: negotiated(patch(d)),
  delete: negotiated(deleteOne(d)),
  deletecollection: deleteCollection(d),
});
