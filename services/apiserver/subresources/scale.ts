import { apiVersionOf, type ApiObject, type Json, type JsonObject } from '../../machinery/meta/object.js';
import { badRequest, field, invalid, notFound } from '../../machinery/meta/status.js';
import type { TableDeclaration } from '../../machinery/types/declarations.js';
import { labelSelectorOf, type LabelSelectorObject } from '../../machinery/selectors/label-selector.js';
import { booleanParameter } from '../http/query.js';
import type { Work } from '../../machinery/work/work.js';
import { worked } from '../http/turns.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { Operation, OperationVerbs } from '../verbs/dispatch.js';
import type { FieldManager } from '../registry/field-ownership.js';
import { matchName } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { readPartial } from '../verbs/apply.js';
import { write, type AdmissionView, type Write } from '../verbs/write.js';
import { contentType, FieldValidation } from '../verbs/decode-body.js';
import { applyManager, fieldManager, dryRunParameter, resourceVersionParameter } from '../verbs/parameters.js';
import { APPLY, readPatch } from '../verbs/patch.js';
import { answerView, viewForm } from './answers.js';
import { decodeKind, readKind } from './bodies.js';
import type { OperationDeps } from './operation.js';

const TABLE: TableDeclaration = {
  columns: [
    { name: 'Name', type: 'string', description: 'Name of the object that is scaled.', path: 'metadata.name' },
    { name: 'Desired', type: 'integer', description: 'How many there should be.', path: 'spec.replicas' },
    { name: 'Available', type: 'integer', description: 'How many there are.', path: 'status.replicas' },
    {
      name: 'Age',
      type: 'string',
      description: 'Time since the object was created.',
      path: 'metadata.creationTimestamp',
      show: 'age',
    },
  ],
};
const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale', table: TABLE } as const;
const SCALE_VERSION = apiVersionOf(SCALE);

/** How many there should be, and are: the same view of every kind that has replicas. */
export const scale = (d: OperationDeps): OperationVerbs => ({ get: get(d), update: update(d), patch: patch(d) });

function scaleOf(object: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = (object['spec'] ?? {}) as { replicas?: number; selector?: LabelSelectorObject };
  const { replicas = 0 } = (object['status'] ?? {}) as { replicas?: number };
  const selector = selectorText(spec.selector);
  return {
    kind: SCALE.kind,
    apiVersion: SCALE_VERSION,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ApiObject['metadata'],
    spec: { replicas: spec.replicas ?? 0 },
    status: { replicas, ...(selector === '' ? {} : { selector }) },
  };
}

/** Some kinds have a label selector, the oldest one has a map of labels. */
function selectorText(selector: LabelSelectorObject | Record<string, string> | undefined): string {
  if (selector === undefined) return '';
  const isMap = (s: object): s is Record<string, string> => Object.values(s).every((v) => typeof v === 'string');
  return labelSelectorOf(isMap(selector) ? { matchLabels: selector } : selector).toString();
}

const servedOf = ({ resources }: OperationDeps, { declaration }: ResourceRequest): ServedResource => {
  const served = declaration === undefined ? undefined : resources.served(declaration);
  if (served === undefined) throw badRequest('The resource is not stored');
  return served;
};

const get =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const { stored } = servedOf(d, request);
    const at = resourceVersionParameter(ctx.state.query);
    const object = await d.reader.get(stored, request.namespace, request.name, at, ctx.state);
    await answerView(d, ctx, SCALE, scaleOf(object.parse() as ApiObject)); // we encoded it
  };

const update =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    viewForm(ctx); // refuse before anything is read
    const wanted = await readKind(d, ctx, [SCALE]);
    const by = fieldManager(d, ctx, request, 'UpdateOptions');
    const next = scaled(request, () => wanted);
    await rescale(d, ctx, request, by, next);
  };

const patch =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    viewForm(ctx);
    if (contentType(ctx) === APPLY) return apply(d, ctx, request);
    const fields = new FieldValidation(ctx);
    const applyPatch = await readPatch(d, ctx, d.catalog.types.of('autoscaling/v1.Scale'), fields);
    const next = scaled(request, async (present) => {
      const patched = await applyPatch(present as unknown as Json);
      if (typeof patched !== 'object' || patched === null || Array.isArray(patched)) {
        throw badRequest('The patch leaves no object');
      }
      return decodeKind(d.catalog.types, patched as Record<string, unknown>, [SCALE], fields);
    });
    await rescale(d, ctx, request, fieldManager(d, ctx, request, 'PatchOptions'), next);
  };

/** Applies the number of replicas, and so owns it in the object itself. */
async function apply(d: OperationDeps, ctx: Context, request: ResourceRequest): Promise<void> {
  const by = applyManager(d, ctx, request);
  const force = booleanParameter(ctx.state.query, 'force');
  const served = servedOf(d, request);
  const { body, onUnknown } = await readPartial(d, ctx, request, { apiVersion: SCALE_VERSION, kind: SCALE.kind });
  const scale = decodeKind(d.catalog.types, body, [SCALE], { onUnknown });
  const { replicas } = (body['spec'] ?? {}) as JsonObject;
  const { name, namespace } = request;
  const spec = replicas === undefined || replicas === null ? {} : { spec: { replicas } };
  const config = {
    apiVersion: served.apiVersion,
    kind: served.declaration.kind,
    metadata: { name, namespace },
    ...spec,
  };
  const normalise = (object: unknown): Work<ApiObject> => served.decoding(object);
  await rescale(d, ctx, request, by, async (present) => {
    if (present === undefined) throw notFound(served.stored.hub, name);
    const applied = d.ownership.applied(served, present.stored(), config, by, { force, normalise });
    const { object, managers } = await worked(ctx.state, applied);
    return { object: withReplicas(object, { ...scale, spec: object['spec'] }), managers };
  });
}

/** The same change, of the object that the scale is a view of. */
const scaled =
  (
    { declaration, resource, name }: ResourceRequest,
    next: (present: ApiObject) => ApiObject | Promise<ApiObject>,
  ): Write['wanted'] =>
  async (present) => {
    if (present === undefined) throw notFound(declaration ?? { group: '', resource }, name);
    const shown = present.served();
    return { object: withReplicas(shown, await next(scaleOf(shown))) };
  };

async function rescale(
  d: OperationDeps,
  ctx: Context,
  request: ResourceRequest,
  by: FieldManager,
  wanted: Write['wanted'],
): Promise<void> {
  const dryRun = dryRunParameter(ctx.state.query);
  const served = servedOf(d, request);
  const { object, state } = await write(d, ctx, { request, served, by, dryRun, wanted, shownAs: AS_SCALE });
  await answerView(d, ctx, SCALE, scaleOf(state ?? (object?.parse() as ApiObject)));
}

const AS_SCALE: AdmissionView = {
  of: scaleOf,
  into: (object, { ['spec']: spec }) => {
    const { replicas = 0 } = (spec ?? {}) as { replicas?: number };
    return { ...object, spec: { ...(object['spec'] as object), replicas } };
  },
};

/** @throws {StatusError} Invalid, BadRequest; what it says of name, uid and version is checked as for any write */
function withReplicas(object: ApiObject, wanted: ApiObject): ApiObject {
  const { replicas = 0 } = (wanted['spec'] ?? {}) as { replicas?: number };
  const { name = '', uid, resourceVersion } = wanted.metadata;
  matchName(name, object.metadata.name ?? '');
  if (replicas < 0) {
    throw invalid(SCALE, name, [field.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]);
  }
  const metadata = {
    ...object.metadata,
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: resourceVersion ?? '',
  };
  return { ...object, metadata, spec: { ...(object['spec'] as object | undefined), replicas } };
}
