import type { ApiObject } from '../meta/object.js';
import type {
  Pod,
  PodAffinityTerm,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../types/generated/core.v1.js';
import { qualityOfService } from './quality-of-service.js';

const isTerminating = ({ spec }: Pod): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0;
const isBestEffort = (pod: Pod): boolean => qualityOfService(pod as unknown as ApiObject) === 'BestEffort';

function crossesNamespaces({ spec: { affinity = {} } = {} }: Pod): boolean {
  const { podAffinity = {}, podAntiAffinity = {} } = affinity;
  const terms = [podAffinity, podAntiAffinity].flatMap((side) => [
    ...(side.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(side.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some((term: PodAffinityTerm | undefined) => {
    const { namespaces = [], namespaceSelector } = term ?? {};
    return namespaces.length > 0 || namespaceSelector !== undefined;
  });
}

const SCOPES: ReadonlyMap<string, (pod: Pod) => boolean> = new Map([
  ['Terminating', isTerminating],
  ['NotTerminating', (pod: Pod): boolean => !isTerminating(pod)],
  ['BestEffort', isBestEffort],
  ['NotBestEffort', (pod: Pod): boolean => !isBestEffort(pod)],
  ['CrossNamespacePodAffinity', crossesNamespaces],
  ['PriorityClass', (pod: Pod): boolean => priorityClassOf(pod) !== ''],
]);

const priorityClassOf = ({ spec }: Pod): string => spec?.priorityClassName ?? '';

type Requirement = ScopedResourceSelectorRequirement;

const PRIORITY_OPERATORS: ReadonlyMap<string, (priorityClass: string, values: readonly string[]) => boolean> = new Map([
  ['In', (name: string, values: readonly string[]): boolean => name !== '' && values.includes(name)],
  ['NotIn', (name: string, values: readonly string[]): boolean => !values.includes(name)],
  ['Exists', (name: string): boolean => name !== ''],
  ['DoesNotExist', (name: string): boolean => name === ''],
]);

/** Everything that a quota asks of the pods that it counts: its scopes and those of its selector. */
export const scopesOf = ({ scopes = [], scopeSelector }: ResourceQuotaSpec): readonly Requirement[] => [
  ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(scopeSelector?.matchExpressions ?? []),
];

/** Whether a pod is what one of these asks for; an unknown scope has no pods. */
export function inScope(pod: Pod, { scopeName = '', operator = '', values = [] }: Requirement): boolean {
  if (scopeName === 'PriorityClass') return PRIORITY_OPERATORS.get(operator)?.(priorityClassOf(pod), values) ?? false;
  return SCOPES.get(scopeName)?.(pod) ?? false;
}
