import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At, shownList } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import type { List } from '../checks/members.js';
import { each } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';

interface PolicyRule {
  readonly verbs?: List<string>;
  readonly apiGroups?: List<string>;
  readonly resources?: List<string>;
  readonly resourceNames?: List<string>;
  readonly nonResourceURLs?: List<string>;
}

const isEmpty = (list: List<string>): boolean => (list ?? []).length === 0;

function checkPolicyRule(rule: PolicyRule, at: At, isNamespaced: boolean): void {
  const { verbs, apiGroups, resources, resourceNames } = rule;
  const urls = rule.nonResourceURLs ?? [];
  if (isEmpty(verbs)) at.required('verbs', 'verbs must contain at least one value');
  if (urls.length > 0) {
    const shown = shownList(urls);
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    if (isNamespaced) at.invalidShown('nonResourceURLs', shown, 'namespaced rules cannot apply to non-resource URLs');
    if (![apiGroups, resources, resourceNames].every(isEmpty)) at.invalidShown('nonResourceURLs', shown, why);
    return;
  }
  if (isEmpty(apiGroups)) at.required('apiGroups', 'resource rules must supply at least one api group');
  if (isEmpty(resources)) at.required('resources', 'resource rules must supply at least one resource');
}

function checkRules(object: ApiObject, problems: Problems, isNamespaced: boolean): void {
  each(At.root(problems), 'rules', object['rules'] as List<PolicyRule>, (rule, at) => {
    checkPolicyRule(rule, at, isNamespaced);
  });
}

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

function checkAggregation(at: At, { clusterRoleSelectors: selectors = [] }: AggregationRule): void {
  if (selectors.length === 0) {
    at.required('clusterRoleSelectors', 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  each(at, 'clusterRoleSelectors', selectors, (selector, selectorAt) => {
    const before = at.problems.length;
    checkLabelSelector(selectorAt, '', selector);
    if (at.problems.length > before) selectorAt.invalid('', selector, 'invalid label selector.');
  });
}

export const roles: KindValidation = {
  object: (role, problems) => checkRules(role, problems, true),
};

export const clusterRoles: KindValidation = {
  object: (role, problems) => {
    checkRules(role, problems, false);
    const aggregation = role['aggregationRule'] as AggregationRule | undefined;
    if (aggregation !== undefined) checkAggregation(At.root(problems, 'aggregationRule'), aggregation);
  },
};
