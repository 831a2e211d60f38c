import type { ApiObject, Json } from '../../machinery/meta/object.js';
import { badRequest, field, invalid } from '../../machinery/meta/status.js';
import { labelSelectorOf, type LabelSelectorObject } from '../../machinery/selectors/label-selector.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import type { Operation } from '../pipeline/verb.js';
import type { ServedResource } from '../registry/resources.js';
import { changeStored, type Wanted } from '../verbs/change.js';
import { fieldManager } from '../verbs/field-manager.js';
import { FieldValidation } from '../verbs/field-validation.js';
import { dryRunParameter, resourceVersionParameter } from '../verbs/parameters.js';
import { readPatch } from '../verbs/patch.js';
import { answerKind } from './answers.js';
import { decodeKind, readKind, type Kind } from './bodies.js';
import type { OperationDeps, OperationVerbs } from './types.js';

const SCALE: Kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** How many there should be, and are: the same view of every kind that has replicas. */
export const scale = (d: OperationDeps): OperationVerbs => ({ get: get(d), update: update(d), patch: patch(d) });

function scaleOf(object: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = (object['spec'] ?? {}) as { replicas?: number; selector?: LabelSelectorObject };
  const { replicas = 0 } = (object['status'] ?? {}) as { replicas?: number };
  const selector = selectorText(spec.selector);
  return {
    kind: SCALE.kind,
    apiVersion: 'autoscaling/v1',
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
    const object = await d.reader.get(stored, request.namespace, request.name, at);
    await answerKind(d, ctx, SCALE, scaleOf(object.parse() as ApiObject)); // we encoded it
  };

const update =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const wanted = await readKind(d, ctx, [SCALE]);
    await rescale(d, ctx, request, 'UpdateOptions', () => wanted);
  };

const patch =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const fields = new FieldValidation(ctx);
    const applyPatch = await readPatch(d, ctx, 'autoscaling/v1.Scale', fields);
    await rescale(d, ctx, request, 'PatchOptions', (present) => {
      const patched = applyPatch(present as unknown as Json);
      if (typeof patched !== 'object' || patched === null || Array.isArray(patched)) {
        throw badRequest('The patch leaves no object');
      }
      return decodeKind(d.catalog.types, patched as Record<string, unknown>, [SCALE], fields.onUnknown);
    });
  };

async function rescale(
  d: OperationDeps,
  ctx: Context,
  request: ResourceRequest,
  options: string,
  next: (present: ApiObject) => ApiObject,
): Promise<void> {
  const served = servedOf(d, request);
  const { object, state } = await changeStored(d, ctx, request, served, {
    by: fieldManager(d, ctx, request, options),
    dryRun: dryRunParameter(ctx.state.query),
    next: (present): Wanted => {
      const shown = present.served();
      return { object: withReplicas(shown, next(scaleOf(shown))) };
    },
  });
  await answerKind(d, ctx, SCALE, scaleOf(state ?? (object.parse() as ApiObject)));
}

/** @throws {StatusError} Invalid, BadRequest; what it says of name, uid and version is checked as for any write */
function withReplicas(object: ApiObject, wanted: ApiObject): ApiObject {
  const { replicas = 0 } = (wanted['spec'] ?? {}) as { replicas?: number };
  const { name = object.metadata.name, uid, resourceVersion } = wanted.metadata;
  if (name !== object.metadata.name) throw badRequest(`the name of the object (${name ?? ''}) does not match the name on the URL (${object.metadata.name ?? ''})`); // prettier-ignore
  if (replicas < 0) {
    throw invalid(SCALE, name ?? '', [field.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]);
  }
  const metadata = {
    ...object.metadata,
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: resourceVersion ?? '',
  };
  return { ...object, metadata, spec: { ...(object['spec'] as object | undefined), replicas } };
}
