import type { ApiObject } from '../../machinery/meta/object.js';
import { notFound } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { ResourceRequest } from '../request/request.js';
import { selection } from '../verbs/parameters.js';
import { answerView, answerViews } from './answers.js';
import type { OperationDeps } from './operation.js';
import type { OperationVerbs } from '../verbs/dispatch.js';

/** The name under which clients look for the store, whichever it is. */
const STORE = 'etcd-0';

/** `componentstatuses`: what this server depends on. Others, which depend on it, tell of themselves elsewhere. */
export const componentStatuses = (d: OperationDeps): OperationVerbs => ({
  get: async (ctx, request) => {
    const declaration = declared(request);
    if (request.name !== STORE) throw notFound(declaration, request.name);
    await answerView(d, ctx, declaration, await storeStatus(d));
  },
  list: async (ctx, request) => {
    const declaration = declared(request);
    const { filter } = selection(ctx.state.query, declaration);
    await answerViews(d, ctx, declaration, filter.matches(nameOnly(STORE)) ? [await storeStatus(d)] : []);
  },
});

function declared({ declaration }: ResourceRequest): ResourceDeclaration {
  if (declaration === undefined) throw new Error('No declaration of component statuses');
  return declaration;
}

async function storeStatus({ storeIsHealthy }: OperationDeps): Promise<ApiObject> {
  const healthy = await storeIsHealthy();
  const [status, message] = healthy ? ['True', 'ok'] : ['False', 'the store does not answer'];
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: STORE },
    conditions: [{ type: 'Healthy', status, message }],
  };
}

/** As much of an object as selectors look at. */
const nameOnly = (name: string): CachedObject =>
  ({ field: (key: string) => (key === 'metadata.name' ? name : ''), selectables: {} }) as unknown as CachedObject;
