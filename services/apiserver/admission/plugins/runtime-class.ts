import { isDeepStrictEqual } from 'node:util';
import { getOwn } from '../../../machinery/meta/own.js';
import type { RuntimeClass } from '../../../machinery/types/generated/node.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { derived, type AdmissionObjects } from '../objects.js';
import { specOf, type PodSpec } from '../pods/pod.js';
import { mergeTolerations } from '../pods/tolerations.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { refused } from '../refusal.js';

export interface RuntimeClassDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present'>;
}

type Read = (request: AdmissionRequest, spec: PodSpec) => Promise<RuntimeClass | undefined>;

/** Pods cost what their runtime costs, and go where it is (spec 2, 4.4). */
export function runtimeClass({ vocabulary, objects }: RuntimeClassDeps): AdmissionPlugin {
  const classes = { group: vocabulary.groups.node, resource: 'runtimeclasses' };
  const parsed = derived((object) => object as RuntimeClass);
  const read: Read = async (request, { runtimeClassName: name = '' }) => {
    if (name === '') return undefined;
    const found = await objects.present(classes, '', name, request);
    if (found === undefined) throw refused(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    return parsed(found);
  };
  const concerned = ({ object, subresource }: AdmissionRequest): PodSpec | undefined =>
    object === undefined || subresource !== '' ? undefined : specOf(object);
  return {
    operations: ['CREATE'],
    resources: ['pods'],
    mutate: (request) => {
      const spec = concerned(request);
      if ((spec?.runtimeClassName ?? '') === '' || spec === undefined) return undefined;
      return read(request, spec).then((found) => {
        if (found !== undefined) apply(request, spec, found);
      });
    },
    validate: (request) => {
      const spec = concerned(request);
      if (spec?.overhead === undefined) return undefined;
      return read(request, spec).then((found) => {
        if (found?.overhead != null) return;
        throw refused(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      });
    },
  };
}

function apply(request: AdmissionRequest, spec: PodSpec, { overhead, scheduling }: RuntimeClass): void {
  if (overhead != null) {
    const { podFixed = {} } = overhead;
    if (spec.overhead !== undefined && !isDeepStrictEqual(spec.overhead, podFixed)) {
      throw refused(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    spec.overhead = { ...podFixed };
  }
  if (scheduling == null) return;
  const { nodeSelector = {}, tolerations = [] } = scheduling;
  select(request, spec, nodeSelector);
  if (tolerations.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], structuredClone(tolerations));
}

function select(request: AdmissionRequest, spec: PodSpec, wanted: Readonly<Record<string, string>>): void {
  const own = spec.nodeSelector ?? {};
  for (const [key, value] of Object.entries(wanted)) {
    const other = getOwn(own, key) as string | undefined;
    if (other === undefined || other === value) continue;
    const said = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
    throw refused(request, `conflict: ${said}; pod.spec.nodeSelector[${key}] = ${other}`);
  }
  if (Object.keys(wanted).length > 0) spec.nodeSelector = { ...own, ...wanted };
}
