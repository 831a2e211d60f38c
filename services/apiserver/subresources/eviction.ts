import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { badRequest, forbidden, hasReason, notFound, StatusError } from '../../machinery/meta/status.js';
import { now } from '../../machinery/meta/time.js';
import { labelSelectorOf, type LabelSelectorObject } from '../../machinery/selectors/label-selector.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { Operation, OperationVerbs } from '../verbs/dispatch.js';
import { deleteOptions } from '../registry/delete-options.js';
import type { ServedResource } from '../registry/resources.js';
import { EVERYTHING } from '../cache/watchers.js';
import { admissionRequest, admit } from '../admission/request.js';
import { write } from '../verbs/write.js';
import { removeObject } from '../verbs/delete.js';
import { dryRunParameter } from '../verbs/parameters.js';
import { answerDone } from './answers.js';
import { readKind, type Kind } from './bodies.js';
import { decide, type Budget } from './disruption.js';
import type { OperationDeps } from './operation.js';

const EVICTIONS: readonly [Kind, Kind] = [
  { group: 'policy', version: 'v1', kind: 'Eviction' },
  { group: 'policy', version: 'v1beta1', kind: 'Eviction' },
];

const PDB = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' } as const;

/** `pods/<name>/eviction`: a deletion that asks the disruption budgets first. */
export const eviction = (d: OperationDeps): OperationVerbs => ({ create: evict(d) });

const evict =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const body = await readKind(d, ctx, EVICTIONS);
    const { name = request.name } = body.metadata;
    if (name !== request.name) throw badRequest('name in URL does not match name in Eviction object');
    const dryRun = dryRunParameter(ctx.state.query);
    Object.assign(body.metadata, { name, namespace: request.namespace });
    // A client that may not evict must not use up the budget of others.
    await admit(d.admission, admissionRequest(ctx, request, { operation: 'CREATE', object: body, dryRun }));
    const options = deleteOptions((body['deleteOptions'] ?? {}) as JsonObject, dryRun);
    const pods = storedAs(d, '', 'v1', 'pods');
    const { object, metadata } = await presentPod(d, pods, ctx, request);
    const verdict = await askBudget(d, ctx, request, object, options.dryRun);
    // The budget was asked about this pod in this state: another one may need it.
    const preconditions = {
      uid: options.preconditions.uid ?? metadata.uid,
      resourceVersion: verdict === 'unlessItChanges' ? metadata.resourceVersion : options.preconditions.resourceVersion,
    };
    const target = { namespace: request.namespace, name, isAdmitted: true };
    await removeObject(d, ctx, { ...request, subresource: '' }, pods, target, { ...options, preconditions });
    await answerDone(ctx, 201);
  };

function storedAs(
  { catalog, resources }: OperationDeps,
  group: string,
  version: string,
  resource: string,
): ServedResource {
  const declaration = catalog.resources.find(
    (r) => r.group === group && r.version === version && r.resource === resource,
  );
  const served = declaration === undefined ? undefined : resources.served(declaration);
  if (served === undefined) throw notFound({ group, resource }, '');
  return served;
}

async function presentPod(
  { reader }: OperationDeps,
  pods: ServedResource,
  { state }: Context,
  { namespace, name }: ResourceRequest,
): Promise<{ object: ApiObject; metadata: ApiObject['metadata'] }> {
  const found = await reader.get(pods.stored, namespace, name, undefined, state);
  const object = found.parse() as ApiObject; // we encoded it
  return { object, metadata: object.metadata };
}

/**
 * Takes one disruption from the budget that covers a pod, if one does.
 *
 * @returns Whether the deletion may go on only if the pod stays as it was seen.
 * @throws {StatusError} TooManyRequests when the budget has none left
 */
async function askBudget(
  d: OperationDeps,
  ctx: Context,
  request: ResourceRequest,
  pod: ApiObject,
  dryRun: boolean,
): Promise<'asAsked' | 'unlessItChanges'> {
  if (needsNoBudget(pod)) return 'asAsked';
  const budgets = storedAs(d, PDB.group, PDB.version, PDB.resource);
  const covering = await budgetsOf(d, budgets, ctx, request.namespace, pod);
  const [budget] = covering;
  if (budget === undefined) return 'asAsked';
  if (covering.length > 1) {
    throw new StatusError(
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const step = decide(budget, pod);
  if (step === 'unlessItChanges') return step;
  const name = budget.metadata.name ?? '';
  const { declaration } = budgets;
  await write(d, ctx, {
    request: { ...request, ...PDB, declaration, subresourceDeclaration: undefined, subresource: 'status', name },
    served: budgets,
    by: { name: 'eviction', subresource: 'status' },
    dryRun,
    shownAs: 'nothing', // it is the server that takes a disruption
    wanted: (present) => {
      if (present === undefined) throw notFound(PDB, name);
      return { object: disrupted(present.served(), pod) };
    },
  }).catch((err: unknown) => {
    if (!hasReason(err, 'NotFound')) throw err; // no budget any more: nothing to ask
  });
  return 'asAsked';
}

/** Pods that are over, or have not begun, do not count as available. */
function needsNoBudget({ metadata, ['status']: status }: ApiObject): boolean {
  const { phase = '' } = (status ?? {}) as { phase?: string };
  return ['Pending', 'Succeeded', 'Failed'].includes(phase) || metadata.deletionTimestamp != null;
}

async function budgetsOf(
  { reader }: OperationDeps,
  { stored }: ServedResource,
  { state }: Context,
  namespace: string,
  pod: ApiObject,
): Promise<ApiObject[]> {
  const all = {
    resourceVersion: undefined,
    match: '' as const,
    limit: 0,
    continueToken: '',
    namespace,
    filter: EVERYTHING,
  };
  const page = await reader.list(stored, all, state);
  return page
    .objects()
    .map((object) => object.parse() as ApiObject) // we encoded them
    .filter((budget) => {
      const { selector } = (budget['spec'] ?? {}) as { selector?: LabelSelectorObject };
      return labelSelectorOf(selector).matches(pod.metadata.labels);
    });
}

/** @throws {StatusError} TooManyRequests; Forbidden */
function disrupted(budget: ApiObject, pod: ApiObject): ApiObject {
  if (decide(budget, pod) !== 'take') throw forbidden(PDB, budget.metadata.name ?? '', 'it has changed; try again'); // prettier-ignore
  const status = (budget as Budget).status ?? {};
  const { disruptionsAllowed = 0, disruptedPods = {}, conditions = [] } = status;
  const left = disruptionsAllowed - 1;
  const none = { type: 'DisruptionAllowed', status: 'False', observedGeneration: status.observedGeneration, lastTransitionTime: now(), reason: 'InsufficientPods', message: '' }; // prettier-ignore
  return {
    ...budget,
    status: {
      ...status,
      disruptedPods: { ...disruptedPods, [pod.metadata.name ?? '']: now() },
      disruptionsAllowed: left,
      ...(left > 0 ? {} : { conditions: [...conditions.filter((c) => c.type !== none.type), none] }),
    },
  };
}
