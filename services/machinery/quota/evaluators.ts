import type { ApiObject } from '../meta/object.js';
import { qualified, type ResourceName } from '../meta/status.js';
import type { PersistentVolumeClaim, Pod, ResourceQuotaSpec, Service } from '../types/generated/core.v1.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import { NO_AMOUNTS, type Amounts } from './amounts.js';
import { podEvaluator } from './pods.js';
import { inScope, scopesOf } from './scopes.js';

/** Says what the objects of one resource use up of a quota. */
export interface Evaluator {
  /** Whether a name of a quota is about this resource. */
  counts(name: string): boolean;
  /** What one object uses, of all names that there are. */
  usage(object: ApiObject): Amounts;
  /** Quotas may choose among the objects; absent: a quota that chooses counts none of them. */
  readonly hasScopes?: true;
  /** More than before needs room in the quota on updates too, not only on creation. */
  readonly checksUpdates: boolean;
  /** All objects use the same, so that no update changes anything. */
  readonly isConstant?: true;
  /** Names of a quota that a new object has to mention, with the parts of it that do not. */
  missing?(object: ApiObject, hard: Iterable<string>): ReadonlyMap<string, readonly string[]>;
}

/** Finds the evaluator of a resource; made once for each. */
export class Evaluators {
  readonly #special: ReadonlyMap<string, Evaluator>;
  readonly #counting = new Map<string, Evaluator>();

  constructor(vocabulary: Vocabulary) {
    const { labelPrefixes, groups, annotations } = vocabulary;
    this.#special = new Map([
      ['pods', podEvaluator((name) => !name.includes('/') || name.includes(labelPrefixes.own))],
      ['services', SERVICES],
      ['persistentvolumeclaims', claimEvaluator(groups.storage, annotations.betaStorageClass)],
    ]);
  }

  /** @param of The group that its objects are stored in, and its plural name. */
  of(of: ResourceName): Evaluator {
    const name = qualified(of);
    const special = this.#special.get(name);
    if (special !== undefined) return special;
    let counting = this.#counting.get(name);
    if (counting === undefined) this.#counting.set(name, (counting = countEvaluator(name)));
    return counting;
  }

  /** The resource that a name of a quota counts; undefined for a name that counts nothing. */
  counted(name: string): ResourceName | undefined {
    for (const [resource, evaluator] of this.#special) if (evaluator.counts(name)) return { group: '', resource };
    if (PLAIN.has(name)) return { group: '', resource: name };
    if (!name.startsWith(COUNT)) return undefined;
    const [resource = '', ...group] = name.slice(COUNT.length).split('.');
    return { group: group.join('.'), resource };
  }
}

const COUNT = 'count/';
/** Resources that quotas have counted under their own name for longer than there is `count/`. */
const PLAIN: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);

function countEvaluator(resource: string): Evaluator {
  const names = PLAIN.has(resource) ? [resource, COUNT + resource] : [COUNT + resource];
  const one: Amounts = new Map(names.map((name) => [name, '1']));
  return { counts: (name) => one.has(name), usage: () => one, checksUpdates: false, isConstant: true };
}

const SERVICE_NAMES = ['services', 'count/services', 'services.nodeports', 'services.loadbalancers'];

const SERVICES: Evaluator = {
  counts: (name) => SERVICE_NAMES.includes(name),
  usage: (service) => serviceUsage(service as Service),
  checksUpdates: true,
};

function serviceUsage({
  spec: { type = '', ports = [], allocateLoadBalancerNodePorts = true } = {},
}: Service): Amounts {
  const usage = new Map([
    ['services', '1'],
    ['count/services', '1'],
  ]);
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', '1');
  if (type === 'NodePort' || type === 'LoadBalancer') {
    const always = type === 'NodePort' || allocateLoadBalancerNodePorts;
    const nodePorts = always ? ports : ports.filter(({ nodePort = 0 }) => nodePort !== 0);
    usage.set('services.nodeports', String(nodePorts.length));
  }
  return usage;
}

const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';

/** Claims count for all, and for the quota of their storage class. */
function claimEvaluator(storageGroup: string, classAnnotation: string): Evaluator {
  const ofClass = `.storageclass.${storageGroup}/`;
  const isOfClass = (name: string): boolean => name.endsWith(ofClass + CLAIMS) || name.endsWith(ofClass + STORAGE);
  return {
    counts: (name) => name === CLAIMS || name === COUNT + CLAIMS || name === STORAGE || isOfClass(name),
    usage: (object) => {
      const { metadata, spec = {} } = object as ApiObject & PersistentVolumeClaim;
      const storageClass = metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '';
      const asked = spec.resources?.requests?.['storage'];
      const prefixes = storageClass === '' ? [''] : ['', storageClass + ofClass];
      const usage = new Map([[COUNT + CLAIMS, '1']]);
      for (const prefix of prefixes) {
        usage.set(prefix + CLAIMS, '1');
        if (asked !== undefined) usage.set(prefix + STORAGE, asked);
      }
      return usage;
    },
    checksUpdates: true,
  };
}

/** What an object uses of one quota: of the names that the quota has, and nothing when it is not in its scopes. */
export function usageOf(evaluator: Evaluator, quota: ResourceQuotaSpec, object: ApiObject | undefined): Amounts {
  if (object === undefined || !isCounted(evaluator, quota, object)) return NO_AMOUNTS;
  const { hard = {} } = quota;
  const usage = [...evaluator.usage(object)].filter(([name]) => Object.hasOwn(hard, name));
  return usage.length === 0 ? NO_AMOUNTS : new Map(usage);
}

/** Whether an object is in the scopes of a quota. */
export function isCounted({ hasScopes }: Evaluator, quota: ResourceQuotaSpec, object: ApiObject): boolean {
  const scopes = scopesOf(quota);
  return scopes.length === 0 || (hasScopes === true && scopes.every((scope) => inScope(object as Pod, scope)));
}
