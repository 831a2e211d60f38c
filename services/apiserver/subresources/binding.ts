import type { ApiObject } from '../../machinery/meta/object.js';
import { badRequest, conflict, field, invalid, notFound } from '../../machinery/meta/status.js';
import { now } from '../../machinery/meta/time.js';
import { admissionRequest, admit } from '../admission/request.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { Operation, OperationVerbs } from '../verbs/dispatch.js';
import { write } from '../verbs/write.js';
import { fieldManager, dryRunParameter } from '../verbs/parameters.js';
import { answerDone } from './answers.js';
import { readKind, type Kind } from './bodies.js';
import type { OperationDeps } from './operation.js';

const BINDING: Kind = { group: '', version: 'v1', kind: 'Binding' };

interface PodParts {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** `pods/<name>/binding`: puts a pod on a node, once. */
export const podBinding = (d: OperationDeps): OperationVerbs => ({
  create: async (ctx, request) => bind(d, ctx, request, await readBinding(d, ctx)),
});

/** The older way, where the binding alone names the pod. */
export const bindings = (d: OperationDeps): OperationVerbs => ({ create: bindByName(d) });

const bindByName =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const binding = await readBinding(d, ctx);
    const { name = '' } = binding.metadata;
    if (name === '') throw invalid(BINDING, '', [field.required('metadata.name', 'the name of the pod')]);
    await bind(d, ctx, { ...request, name }, binding);
  };

/** @throws {StatusError} BadRequest, Invalid */
async function readBinding(d: OperationDeps, ctx: Context): Promise<ApiObject> {
  const binding = await readKind(d, ctx, [BINDING]);
  const { kind = '', name = '' } = (binding['target'] ?? {}) as { kind?: string; name?: string };
  const errors = [
    ...(kind === '' || kind === 'Node' ? [] : [field.notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [field.required('target.name')] : []),
  ];
  if (errors.length > 0) throw invalid(BINDING, binding.metadata.name ?? '', errors);
  return binding;
}

/** @param asked What the path says; admission is shown that. `name` is the pod's. */
async function bind(d: OperationDeps, ctx: Context, asked: ResourceRequest, binding: ApiObject): Promise<void> {
  const { name, namespace } = asked;
  const request = { ...asked, resource: 'pods', subresource: 'binding' };
  const { metadata } = binding;
  if ((metadata.name ?? name) !== name) {
    throw badRequest(`the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`);
  }
  if ((metadata.namespace ?? namespace) !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const declaration = d.catalog.resources.find((r) => r.group === '' && r.resource === 'pods');
  const pods = declaration === undefined ? undefined : d.resources.served(declaration);
  if (pods === undefined) throw notFound({ group: '', resource: 'pods' }, name);
  const dryRun = dryRunParameter(ctx.state.query);
  metadata.name = name;
  if (namespace !== '') metadata.namespace = namespace;
  await admit(d.admission, admissionRequest(ctx, asked, { operation: 'CREATE', object: binding, dryRun }));
  await write(d, ctx, {
    request,
    served: pods,
    by: fieldManager(d, ctx, request, 'CreateOptions'),
    dryRun,
    shownAs: 'nothing',
    wanted: (present) => {
      if (present === undefined) throw notFound({ group: '', resource: 'pods' }, name);
      return { object: bound(present.served(), binding) };
    },
  });
  await answerDone(ctx, 201);
}

/** @throws {StatusError} Conflict */
function bound(pod: ApiObject, { metadata, ['target']: target }: ApiObject): ApiObject {
  const pods = { group: '', resource: 'pods' };
  const name = pod.metadata.name ?? '';
  const { spec = {}, status = {} } = pod as PodParts;
  const node = (target as { name: string }).name;
  if (metadata.uid !== undefined && metadata.uid !== pod.metadata.uid) {
    throw conflict(pods, name, `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${pod.metadata.uid ?? ''}`); // prettier-ignore
  }
  if (pod.metadata.deletionTimestamp != null) {
    throw conflict(pods, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if ((spec.nodeName ?? '') !== '') {
    throw conflict(pods, name, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now() };
  const conditions = [...(status.conditions ?? []).filter((c) => c.type !== scheduled.type), scheduled];
  const annotations = sorted({ ...pod.metadata.annotations, ...metadata.annotations });
  return {
    ...pod,
    metadata: { ...pod.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions },
  };
}

const sorted = (map: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
