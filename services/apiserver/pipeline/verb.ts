import { methodNotAllowed, notFound, StatusError } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import { partOf } from '../registry/parts.js';
import type { ResourceTable } from '../registry/resources.js';
import type { VerbTable } from '../verbs/types.js';
import type { Context, RequestVerb, ResourceRequest, Stage } from './request.js';

/** Answers a request whose path names more than a stored object or a part of it. */
export type Operation = (ctx: Context, request: ResourceRequest) => Promise<void>;

/** Sub-resources that are no parts of an object, and resources that stand for an operation. */
export interface Operations {
  find(declaration: ResourceDeclaration, subresource: string, verb: RequestVerb): Operation | undefined;
}

export interface VerbStageDeps {
  readonly operations: Operations;
  /** Whether the caches hold the store's state yet. */
  readonly loaded: () => boolean;
  readonly resources: ResourceTable;
  readonly verbs: VerbTable;
}

/** The innermost stage for resources: finds who does it, or says why nobody can. */
export const verb =
  ({ loaded, ...found }: VerbStageDeps): Stage =>
  async (ctx, next) => {
    const { info } = ctx.state;
    if (info.kind === 'path') {
      await next();
      return;
    }
    if (!loaded()) throw notLoaded();
    return dispatch(ctx, info, found);
  };

async function dispatch(
  ctx: Context,
  info: ResourceRequest,
  { operations, resources, verbs }: Omit<VerbStageDeps, 'loaded'>,
): Promise<void> {
  const { declaration, name, subresource } = info;
  if (declaration === undefined) throw unknownPath();
  const namespace = placeOf(info, declaration);
  if (declaration.namespaced ? namespace === '' && name !== '' : namespace !== '') throw unknownPath();
  // Slashes and dots that came in escaped would make keys of another place.
  for (const part of [namespace, name])
    if (part.includes('/') || part === '.' || part === '..') throw notFound(declaration, part);
  checkMethod(ctx, info);
  const request = namespace === info.namespace ? info : { ...info, namespace };
  const operation = operations.find(declaration, subresource, info.verb);
  if (operation !== undefined) return operation(ctx, request);
  const served = resources.served(declaration);
  if (info.verb === 'connect' || served === undefined || partOf(subresource) === undefined) throw notBuilt(info);
  return verbs[info.verb](ctx, request, served);
}

/** A request about a namespace counts as one inside it when rights are looked at, though the object itself lies nowhere. */
const placeOf = ({ namespace, name }: ResourceRequest, { group, resource }: ResourceDeclaration): string =>
  group === '' && resource === 'namespaces' && namespace === name ? '' : namespace;

function checkMethod(ctx: Context, info: ResourceRequest): void {
  const { declaration, subresource, subresourceDeclaration, namespace, name } = info;
  if (declaration === undefined) return;
  if (subresource !== '' && subresourceDeclaration === undefined) throw unknownPath();
  const allowed: readonly string[] = subresource === '' ? declaration.verbs : (subresourceDeclaration?.verbs ?? []);
  const createsAnItem = info.verb === 'create' && subresource === '' && name !== '';
  const changesNothing = (info.verb === 'update' || info.verb === 'patch') && name === '';
  const createsNowhere = info.verb === 'create' && declaration.namespaced && namespace === '';
  const writesAll = info.verb === 'deletecollection' && declaration.namespaced && namespace === '';
  const known = info.verb === 'connect' ? subresource === 'proxy' && ctx.method === 'OPTIONS' : allowed.includes(info.verb); // prettier-ignore
  if (!known || createsAnItem || changesNothing || createsNowhere || writesAll)
    throw methodNotAllowed(declaration, ctx.method);
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
