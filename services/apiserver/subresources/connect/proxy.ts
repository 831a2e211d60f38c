import { apiVersionOf, type ApiObject } from '../../../machinery/meta/object.js';
import type { Context, RequestVerb, ResourceRequest } from '../../pipeline/request.js';
import type { Operation } from '../../pipeline/verb.js';
import { proxiedUrl } from '../../pipeline/request-info.js';
import { upgradeOf } from '../../http/upgrade.js';
import type { OperationDeps, OperationVerbs } from '../types.js';
import { nodeTarget } from './nodes.js';
import { passOn } from './pass-on.js';
import { podTarget } from './pods.js';
import { serviceTarget } from './services.js';
import type { Target } from './target.js';

const VERBS = ['get', 'create', 'update', 'patch', 'delete', 'connect'] as const satisfies readonly RequestVerb[];

type FindTarget = (d: OperationDeps, request: ResourceRequest) => Promise<Target>;

const through =
  (d: OperationDeps, targetOf: FindTarget): Operation =>
  async (ctx, request) => {
    const { prefix, path, query } = proxiedUrl(ctx.req.url ?? '/');
    await admitConnection(d, ctx, request, path === '' ? {} : { path });
    const target = await targetOf(d, request);
    if (path === '' && redirectsToRoot(ctx)) {
      toRoot(ctx, prefix, query);
      return;
    }
    const whole = `${path === '' ? '/' : path}${query}`;
    await passOn(d.passing, ctx, {
      target,
      path: whole,
      prefix,
      uri: `${prefix}${path}`,
      answerMs: d.passing.limits.answerMs,
    });
  };

/** Relative links of a page lead on only from a path that ends with a slash. */
const redirectsToRoot = (ctx: Context): boolean =>
  (ctx.method === 'GET' || ctx.method === 'HEAD') && upgradeOf(ctx.req) === undefined;

function toRoot(ctx: Context, prefix: string, query: string): void {
  ctx.status = 301;
  ctx.set('Location', `${prefix}/${query}`);
  ctx.body = null;
  ctx.status = 301; // an empty body is taken for a 204
}

/** Asks admission. `options`: what the client asks of the other side. @throws {StatusError} of whoever refuses */
export async function admitConnection(
  { admission }: OperationDeps,
  ctx: Context,
  { declaration, subresourceDeclaration, subresource, namespace, name }: ResourceRequest,
  options: object,
): Promise<void> {
  if (declaration === undefined) return;
  const object: ApiObject = {
    kind: subresourceDeclaration?.kind ?? '',
    apiVersion: apiVersionOf(declaration),
    metadata: {},
    ...options,
  };
  const { user } = ctx.state;
  const review = {
    operation: 'CONNECT',
    resource: declaration,
    subresource,
    namespace,
    name,
    object,
    oldObject: undefined,
    user,
    dryRun: false,
  } as const;
  await admission.mutate(review);
  await admission.validate(review);
}

/** A sub-resource behind which another server answers every method. */
const proxy = (d: OperationDeps, targetOf: FindTarget): OperationVerbs =>
  Object.fromEntries(VERBS.map((verb) => [verb, through(d, targetOf)]));

export const podProxy = (d: OperationDeps): OperationVerbs =>
  proxy(d, (deps, { namespace, name }) => podTarget(deps, namespace, name));
export const serviceProxy = (d: OperationDeps): OperationVerbs =>
  proxy(d, (deps, { namespace, name }) => serviceTarget(deps, namespace, name));
export const nodeProxy = (d: OperationDeps): OperationVerbs => proxy(d, (deps, { name }) => nodeTarget(deps, name));
