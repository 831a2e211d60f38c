import { admissionRequest, admit } from '../../admission/request.js';
import { apiVersionOf, type ApiObject } from '../../../machinery/meta/object.js';
import type { Context, RequestVerb, ResourceRequest } from '../../request/request.js';
import type { Operation, OperationVerbs } from '../../verbs/dispatch.js';
import { proxiedUrl } from '../../pipeline/request-info.js';
import { upgradeOf } from '../../http/upgrade.js';
import type { OperationDeps } from '../operation.js';
import { nodeTarget } from './nodes.js';
import { proxyRequest } from './proxy-request.js';
import { podTarget } from './pods.js';
import { serviceTarget } from './services.js';
import type { Target } from './target.js';

const VERBS = ['get', 'create', 'update', 'patch', 'delete', 'options'] as const satisfies readonly RequestVerb[];

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
    await proxyRequest(d.proxying, ctx, {
      target,
      path: whole,
      prefix,
      uri: `${prefix}${path}`,
      answerMs: d.proxying.limits.answerMs,
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

/** Asks admission. `options`: what the client asks of the other side. @throws {StatusError} of the plugin that refuses */
export async function admitConnection(
  { admission }: OperationDeps,
  ctx: Context,
  request: ResourceRequest,
  options: object,
): Promise<void> {
  const { declaration, subresourceDeclaration } = request;
  if (declaration === undefined) return;
  const kind = subresourceDeclaration?.kind ?? '';
  const object: ApiObject = { kind, apiVersion: apiVersionOf(declaration), metadata: {}, ...options };
  const connection = { operation: 'CONNECT', object, dryRun: false } as const;
  await admit(admission, admissionRequest(ctx, request, connection));
}

/** A sub-resource behind which another server answers every method. */
const proxy = (d: OperationDeps, targetOf: FindTarget): OperationVerbs =>
  Object.fromEntries(VERBS.map((verb) => [verb, through(d, targetOf)]));

export const podProxy = (d: OperationDeps): OperationVerbs =>
  proxy(d, (deps, { namespace, name }) => podTarget(deps, namespace, name));
export const serviceProxy = (d: OperationDeps): OperationVerbs =>
  proxy(d, (deps, { namespace, name }) => serviceTarget(deps, namespace, name));
export const nodeProxy = (d: OperationDeps): OperationVerbs => proxy(d, (deps, { name }) => nodeTarget(deps, name));
