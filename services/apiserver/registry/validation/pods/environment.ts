import { qualifiedName } from '../../../../machinery/meta/names.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkRule, countOf } from '../checks/members.js';
import type { TypeRule } from '../types.js';

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];
/** Those that a file in a volume may hold. */
export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** Fields that a path may name at all, whether or not they can be had where it stands. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

/** `map['key']` in its parts; undefined for paths that end otherwise. */
function subscripted(path: string): readonly [map: string, key: string] | undefined {
  const start = path.indexOf("['");
  return start > 0 && path.endsWith("']") ? [path.slice(0, start), path.slice(start + 2, -2)] : undefined;
}

/** Maps of which one value may be taken: what a key must be. */
const SUBSCRIPTED: ReadonlyMap<string, (key: string) => string> = new Map([
  ['metadata.annotations', (key: string) => key.toLowerCase()],
  ['metadata.labels', (key: string) => key],
]);

export function checkFieldRef(
  at: At,
  { apiVersion = 'v1', fieldPath = '' }: core.ObjectFieldSelector,
  fields: readonly string[],
): void {
  if (fieldPath === '') {
    at.required('fieldPath');
    return;
  }
  const failed = (why: string): void => at.invalid('fieldPath', fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion !== 'v1') {
    failed(`unsupported pod version: ${apiVersion}`);
    return;
  }
  const parts = subscripted(fieldPath);
  if (parts !== undefined) {
    const [map, key] = parts;
    const keyOf = SUBSCRIPTED.get(map);
    if (keyOf === undefined) {
      failed(`field label does not support subscript: ${fieldPath}`);
      return;
    }
    checkRule(at, '', keyOf(key), qualifiedName);
    return;
  }
  if (!KNOWN_FIELDS.has(fieldPath)) {
    failed(`field label not supported: ${fieldPath}`);
    return;
  }
  const path = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!fields.includes(path)) at.notSupported('fieldPath', path, fields);
}

const CONTAINER_RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;
const SIZES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const sizes = (what: string): string => `only divisor's values ${SIZES.join(', ')} are supported with the ${what}`;

/** What an amount may be given in, by the resource that it is of. */
const DIVISORS: readonly (readonly [resource: RegExp, divisors: readonly string[], problem: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [/\.memory$/, SIZES, sizes('memory resource')],
  [/\.ephemeral-storage$/, SIZES, sizes('local ephemeral storage resource')],
  [HUGE_PAGES, SIZES, sizes('hugepages resource')],
];

export function checkResourceFieldRef(
  at: At,
  ref: core.ResourceFieldSelector,
  isInVolume: 'volume' | 'container',
): void {
  const { containerName = '', resource = '', divisor = '0' } = ref;
  if (isInVolume === 'volume' && containerName === '') at.required('containerName');
  else if (resource === '') at.required('resource');
  else if (!CONTAINER_RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) {
    at.notSupported('resource', resource, CONTAINER_RESOURCES);
  }
  if (divisor === '0') return;
  const rule = DIVISORS.find(([pattern]) => pattern.test(resource));
  if (rule !== undefined && !rule[1].includes(divisor)) at.invalid('divisor', resource, rule[2]);
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

function checkValueFrom(at: At, from: core.EnvVarSource, value: string): void {
  const { fieldRef, resourceFieldRef } = from;
  if (fieldRef !== undefined) checkFieldRef(at.child('fieldRef'), fieldRef, ENV_FIELDS);
  if (resourceFieldRef !== undefined) {
    checkResourceFieldRef(at.child('resourceFieldRef'), resourceFieldRef, 'container');
  }
  const count = Object.keys(from).length; // newer sources count, too
  if (count === 0) {
    const names = SOURCES.map((source) => `\`${source}\``);
    at.invalid('', '', `must specify one of: ${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`);
  } else if (value !== '') {
    at.invalid('', '', 'may not be specified when `value` is not empty');
  } else if (count > 1) {
    at.invalid('', '', 'may not have more than one field specified at a time');
  }
}

export const checkEnvVar: TypeRule<core.EnvVar> = (at, { value = '', valueFrom }) => {
  if (valueFrom !== undefined) checkValueFrom(at.child('valueFrom'), valueFrom, value);
};

/** What is wrong with one source is told of the whole list: so it always was. */
export function checkEnvFrom(at: At, { envFrom = [] }: core.EphemeralContainerCommon): void {
  for (const source of envFrom) {
    const count = countOf(source, ['configMapRef', 'secretRef']);
    if (count === 0) at.invalid('envFrom', '', 'must specify one of: `configMapRef` or `secretRef`');
    if (count > 1) at.invalid('envFrom', '', 'may not have more than one field specified at a time');
  }
}
