import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, shownList, eachEntry, IMMUTABLE } from '../checks/at.js';
import { type Quantities, type ResourceChecks, isQuotaResource, resourceChecks } from '../checks/quantities.js';
import type { KindValidation } from '../types.js';

const COMPUTE: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]);
const ofPods = (resource: string): boolean => resource === 'pods' || COMPUTE.has(resource);
const ofPodCounts = (resource: string): boolean => resource === 'pods';

/** What each scope can be asked of. */
const SCOPES: ReadonlyMap<string, (resource: string) => boolean> = new Map([
  ['Terminating', ofPods],
  ['NotTerminating', ofPods],
  ['NotBestEffort', ofPods],
  ['PriorityClass', ofPods],
  ['CrossNamespacePodAffinity', ofPods],
  ['BestEffort', ofPodCounts],
]);
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const isMisapplied = (scope: string, resource: string): boolean =>
  isQuotaResource(resource) && SCOPES.get(scope)?.(resource) === false;

const conflicts = (scopes: readonly string[]): number =>
  CONFLICTS.filter(([a, b]) => scopes.includes(a) && scopes.includes(b)).length;

function checkScopes(at: At, { scopes = [], hard = {} }: ResourceQuotaSpec): void {
  const shown = shownList(scopes);
  const resources = Object.keys(hard);
  for (const scope of new Set(scopes)) {
    if (!SCOPES.has(scope)) at.invalidShown('scopes', shown, 'unsupported scope');
    else
      for (const resource of resources) {
        if (isMisapplied(scope, resource)) at.invalidShown('scopes', shown, 'unsupported scope applied to resource');
      }
  }
  for (let n = conflicts(scopes); n > 0; n--) at.invalidShown('scopes', shown, 'conflicting scopes');
}

const MUST_EXIST =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function checkOperator(
  at: At,
  { scopeName = '', operator = '', values = [] }: ScopedResourceSelectorRequirement,
): void {
  // Priority classes alone have names to choose from.
  if (scopeName !== 'PriorityClass' && SCOPES.has(scopeName) && operator !== 'Exists') {
    at.invalid('operator', operator, MUST_EXIST);
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return;
    at.required('values', "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return;
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    at.invalidShown('values', shownList(values), why);
  } else {
    at.invalid('operator', operator, 'not a valid selector operator');
  }
}

function checkScopeSelector(at: At, { scopeSelector, hard = {} }: ResourceQuotaSpec): void {
  if (scopeSelector === undefined) return;
  const { matchExpressions = [] } = scopeSelector;
  const resources = Object.keys(hard);
  // Problems of all expressions are reported at the list: so they always were.
  const listAt = at.child('scopeSelector').child('matchExpressions');
  for (const requirement of matchExpressions) {
    const { scopeName = '' } = requirement;
    if (!SCOPES.has(scopeName)) listAt.invalid('scopeName', scopeName, 'unsupported scope');
    checkOperator(listAt, requirement);
  }
  const scopes = matchExpressions.map(({ scopeName = '' }) => scopeName);
  const shown = JSON.stringify(scopeSelector);
  for (const scope of new Set(scopes)) {
    if (SCOPES.has(scope) && resources.some((resource) => isMisapplied(scope, resource))) {
      listAt.invalidShown('', shown, 'unsupported scope applied to resource');
    }
  }
  for (let n = conflicts(scopes); n > 0; n--) listAt.invalidShown('', shownList(scopes), 'conflicting scopes');
}

function checkQuantities(at: At, member: string, quantities: Quantities | undefined, resources: ResourceChecks): void {
  eachEntry(at, member, quantities, (quantity, name, quantityAt) => {
    resources.quotaName(quantityAt, name);
    resources.amount(quantityAt, name, quantity);
  });
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const inA = new Set(a);
  const inB = new Set(b);
  return inA.size === inB.size && a.every((item) => inB.has(item));
}

export function resourceQuotas(vocabulary: Vocabulary): KindValidation<ResourceQuota> {
  const resources = resourceChecks(vocabulary);
  return {
    object: ({ spec = {} }, problems) => {
      const at = At.root(problems, 'spec');
      checkQuantities(at, 'hard', spec.hard, resources);
      checkScopes(at, spec);
      checkScopeSelector(at, spec);
    },
    update: ({ spec: { scopes = [] } = {} }, old, problems) => {
      if (isSameSet(scopes, old.spec?.scopes ?? [])) return;
      At.root(problems, 'spec').invalidShown('scopes', shownList(scopes), IMMUTABLE);
    },
    parts: {
      status: ({ status = {} }, _old, problems) => {
        const at = At.root(problems, 'status');
        checkQuantities(at, 'hard', status.hard, resources);
        checkQuantities(at, 'used', status.used, resources);
      },
    },
  };
}
