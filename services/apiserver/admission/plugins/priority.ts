import type { ApiObject } from '../../../machinery/meta/object.js';
import type { PriorityClass } from '../../../machinery/types/generated/scheduling.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { derived, type AdmissionObjects, type StoredName } from '../objects.js';
import { specOf, type PodSpec } from '../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { refused } from '../refusal.js';

export interface PriorityDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present' | 'derivedFromAll' | 'list'>;
}

interface Class {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const PREEMPTS = 'PreemptLowerPriority';
/** Of pods in a cluster without a default class. */
const UNCLASSED: Class = { name: '', value: 0, preemptionPolicy: PREEMPTS };

const classOf = ({ metadata, value, preemptionPolicy }: PriorityClass): Class => ({
  name: metadata?.name ?? '',
  value: value ?? 0,
  preemptionPolicy: preemptionPolicy ?? PREEMPTS,
});

/** Pods have the priority of the class that they name, or of the default one, of which there is one at most (spec 2, 4.4). */
export function priority({ vocabulary, objects }: PriorityDeps): AdmissionPlugin {
  const classes: StoredName = { group: vocabulary.groups.scheduling, resource: 'priorityclasses' };
  const read = derived((object) => classOf(object as PriorityClass));
  const defaultClass = objects.derivedFromAll(classes, (all) => leastDefault(all, read));
  const named = async (request: AdmissionRequest, name: string): Promise<Class> => {
    const found = await objects.present(classes, '', name, request);
    if (found === undefined) throw refused(request, `no PriorityClass with name ${name} was found`);
    return read(found);
  };
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', `priorityclasses.${vocabulary.groups.scheduling}`],
    mutate: async (request) => {
      const { object, oldObject, operation, subresource, resource } = request;
      if (object === undefined || subresource !== '' || resource.resource !== 'pods') return;
      const spec = specOf(object);
      const { priorityClassName = '' } = spec;
      if (operation === 'UPDATE') keep(spec, oldObject);
      else
        give(
          request,
          spec,
          priorityClassName === '' ? (defaultClass() ?? UNCLASSED) : await named(request, priorityClassName),
        );
    },
    validate: (request) => {
      const { object, resource } = request;
      if (object?.['globalDefault'] !== true || resource.resource === 'pods') return;
      const other = defaultClass()?.name ?? object.metadata.name;
      if (other === object.metadata.name) return;
      throw refused(request, `PriorityClass ${other ?? ''} is already marked as default. Only one default can exist`);
    },
  };
}

/** Of several defaults, made at the same time by two servers, the least important. */
function leastDefault(all: readonly CachedObject[], read: (of: CachedObject) => Class): Class | undefined {
  const defaults = all.filter((one) => (one.parse() as { readonly globalDefault?: boolean }).globalDefault === true);
  return defaults.map(read).sort((a, b) => a.value - b.value)[0];
}

function give(request: AdmissionRequest, spec: PodSpec, of: Class): void {
  const { priority: given, preemptionPolicy: policy } = spec;
  const by = 'from the given PriorityClass name';
  if (given !== undefined && given !== of.value) {
    const computed = `priority admission controller computed ${of.value} ${by}`;
    throw refused(request, `the integer value of priority (${given}) must not be provided in pod spec; ${computed}`);
  }
  if (policy !== undefined && policy !== of.preemptionPolicy) {
    const computed = `priority admission controller computed ${of.preemptionPolicy} ${by}`;
    throw refused(
      request,
      `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; ${computed}`,
    );
  }
  if (of.name !== '') spec.priorityClassName = of.name;
  spec.priority = of.value;
  spec.preemptionPolicy = of.preemptionPolicy;
}

/** A client that knows nothing of priorities does not take them away. */
function keep(spec: PodSpec, old: ApiObject | undefined): void {
  const { priority: value, preemptionPolicy } = old === undefined ? {} : specOf(old);
  if (value !== undefined) spec.priority ??= value;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
}
