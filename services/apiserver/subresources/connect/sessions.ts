import { badRequest } from '../../../machinery/meta/status.js';
import type { ResourceRequest } from '../../request/request.js';
import type { Operation, OperationVerbs } from '../../verbs/dispatch.js';
import { upgradeOf } from '../../http/upgrade.js';
import { booleanParameter } from '../../http/query.js';
import type { OperationDeps } from '../operation.js';
import { containerOf } from './containers.js';
import { agentOf } from './nodes.js';
import { objectOf, type PodParts } from './objects.js';
import { proxyRequest } from './proxy-request.js';
import { admitConnection } from './proxy.js';
import { portsQuery, sessionQuery } from './queries.js';

/** The path on the pod's node agent for a sub-resource of a pod. */
type AgentPath = (pod: PodParts, request: ResourceRequest, query: URLSearchParams) => string;

const inContainer =
  (word: string): AgentPath =>
  (pod, { namespace, name }, query) => {
    const container = containerOf(pod, name, query.get('container') ?? '');
    return `/${word}/${namespace}/${name}/${container}?${sessionQuery(query)}`;
  };

const toPorts: AgentPath = (_pod, { namespace, name }, query) => {
  const ports = portsQuery(query);
  return `/portForward/${namespace}/${name}${ports === '' ? '' : `?${ports}`}`;
};

/** The options as an object, for admission. */
function optionsOf(query: URLSearchParams): object {
  const flags = ['stdin', 'stdout', 'stderr', 'tty'].filter((name) => booleanParameter(query, name));
  const container = query.get('container') ?? '';
  const command = query.getAll('command');
  const ports = query.getAll('ports').map(Number);
  return {
    ...Object.fromEntries(flags.map((name) => [name, true])),
    ...(container === '' ? {} : { container }),
    ...(command.length === 0 ? {} : { command }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}

/** A session with a pod, in a protocol that is the client's and the agent's business. */
const session =
  (d: OperationDeps, agentPath: AgentPath): Operation =>
  async (ctx, request) => {
    const { query } = ctx.state;
    const { namespace, name } = request;
    await admitConnection(d, ctx, request, optionsOf(query));
    const pod = await objectOf<PodParts>(d, 'pods', namespace, name);
    const path = agentPath(pod, request, query);
    const node = pod.spec?.nodeName ?? '';
    if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
    const target = await agentOf(d, node);
    if (upgradeOf(ctx.req) === undefined) throw badRequest('Upgrade request required');
    const { idleMs } = d.proxying.limits;
    await proxyRequest(d.proxying, ctx, { target, path, prefix: undefined, uri: ctx.path, answerMs: idleMs });
  };

const both = (operation: Operation): OperationVerbs => ({ get: operation, create: operation });

export const exec = (d: OperationDeps): OperationVerbs => both(session(d, inContainer('exec')));
export const attach = (d: OperationDeps): OperationVerbs => both(session(d, inContainer('attach')));
export const portForward = (d: OperationDeps): OperationVerbs => both(session(d, toPorts));
