import { apiVersionOf, type ApiObject, type Json, type JsonObject } from '../../machinery/meta/object.js';
import { badRequest, field, invalid, notFound } from '../../machinery/meta/status.js';
import type { ScalePaths, TableDeclaration } from '../../machinery/types/declarations.js';
import { labelSelectorOf, type LabelSelectorObject } from '../../machinery/selectors/label-selector.js';
import { booleanParameter } from '../http/query.js';
import type { Work } from '../../machinery/work/work.js';
import { worked } from '../http/turns.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { Operation, OperationVerbs } from '../verbs/dispatch.js';
import type { FieldManager } from '../registry/field-ownership.js';
import { withOtherVersions } from '../registry/conversion/other-versions.js';
import { valueAt, withValue } from '../registry/parts.js';
import { matchName } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { inVersion } from '../views/converted.js';
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

/** Of the built-in kinds; their selectors are objects. */
const USUAL: ScalePaths = { wanted: ['spec', 'replicas'], present: ['status', 'replicas'], selector: undefined };

const pathsOf = ({ declaration }: ServedResource): ScalePaths => declaration.scale ?? USUAL;

const numberAt = (object: ApiObject, path: readonly string[]): number => {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
};

function scaleOf(object: ApiObject, paths: ScalePaths): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, paths.present);
  const selector = paths === USUAL ? selectorText(selectorOf(object)) : textAt(object, paths.selector);
  return {
    kind: SCALE.kind,
    apiVersion: SCALE_VERSION,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ApiObject['metadata'],
    spec: { replicas: numberAt(object, paths.wanted) },
    status: { replicas, ...(selector === '' ? {} : { selector }) },
  };
}

const selectorOf = (object: ApiObject): LabelSelectorObject | undefined =>
  ((object['spec'] ?? {}) as { selector?: LabelSelectorObject }).selector;

function textAt(object: ApiObject, path: readonly string[] | undefined): string {
  const text = path === undefined ? undefined : valueAt(object, path);
  return typeof text === 'string' ? text : '';
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
    const served = servedOf(d, request);
    const { stored } = served;
    const at = resourceVersionParameter(ctx.state.query);
    const found = await d.reader.get(stored, request.namespace, request.name, at, ctx.state);
    const object = served.conversion === undefined ? found : await inVersion(served, found, ctx.state);
    await answerView(d, ctx, SCALE, scaleOf(object.parse() as ApiObject, pathsOf(served))); // we encoded it
  };

const update =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    viewForm(ctx); // refuse before anything is read
    const wanted = await readKind(d, ctx, [SCALE]);
    const by = fieldManager(d, ctx, request, 'UpdateOptions');
    const next = scaled(request, pathsOf(servedOf(d, request)), () => wanted);
    await rescale(d, ctx, request, by, next);
  };

const patch =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    viewForm(ctx);
    if (contentType(ctx) === APPLY) return apply(d, ctx, request);
    const fields = new FieldValidation(ctx);
    const applyPatch = await readPatch(d, ctx, d.catalog.types.of('autoscaling/v1.Scale'), fields);
    const next = scaled(request, pathsOf(servedOf(d, request)), async (present) => {
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
  const paths = pathsOf(served);
  const identity = { apiVersion: served.apiVersion, kind: served.declaration.kind, metadata: { name, namespace } };
  const config = withValue(identity, paths.wanted, replicas ?? undefined) as unknown as JsonObject; // members of one
  const normalise = (object: unknown): Work<ApiObject> => served.decoding(object);
  await rescale(d, ctx, request, by, async (present) => {
    if (present === undefined) throw notFound(served.stored.hub, name);
    const { object, managers } = await withOtherVersions(served, ctx.state, (others) =>
      worked(ctx.state, d.ownership.applied(served, present.stored(), config, by, { force, normalise, others })),
    );
    const applied = { ...scale, spec: { replicas: numberAt(object, paths.wanted) } };
    return { object: withReplicas(object, applied, paths), managers };
  });
}

/** The same change, of the object that the scale is a view of. */
const scaled =
  (
    { declaration, resource, name }: ResourceRequest,
    paths: ScalePaths,
    next: (present: ApiObject) => ApiObject | Promise<ApiObject>,
  ): Write['wanted'] =>
  async (present) => {
    if (present === undefined) throw notFound(declaration ?? { group: '', resource }, name);
    const shown = present.served();
    return { object: withReplicas(shown, await next(scaleOf(shown, paths)), paths) };
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
  const paths = pathsOf(served);
  const { object, state } = await write(d, ctx, { request, served, by, dryRun, wanted, shownAs: asScale(paths) });
  const written = state ?? (object?.parse() as ApiObject);
  const shown = served.conversion === undefined ? written : await inVersion(served, written, ctx.state);
  await answerView(d, ctx, SCALE, scaleOf(shown, paths));
}

const asScale = (paths: ScalePaths): AdmissionView => ({
  of: (object) => scaleOf(object, paths),
  into: (object, { ['spec']: spec }) => {
    const { replicas = 0 } = (spec ?? {}) as { replicas?: number };
    return withValue(object, paths.wanted, replicas);
  },
});

/** @throws {StatusError} Invalid, BadRequest; what it says of name, uid and version is checked as for any write */
function withReplicas(object: ApiObject, wanted: ApiObject, paths: ScalePaths): ApiObject {
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
  return withValue({ ...object, metadata }, paths.wanted, replicas);
}
