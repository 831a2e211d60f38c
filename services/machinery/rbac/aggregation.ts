import { labelSelectorOf, type LabelSelector, type LabelSelectorObject } from '../selectors/label-selector.js';
import { memberOf, type PolicyRule } from './policy-rule.js';

/** A role as it counts for others that take its rules in. */
export interface SelectableRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
}

/**
 * The wanted `rules` of a role whose aggregationRule gathers those of others: the rules of all roles that one of
 * its selectors matches, other than itself, selector by selector and in the order of the roles' names; each rule once. A
 * selector that cannot be read selects nothing.
 *
 * @param role As stored. @param all Every role of the cluster, in any order.
 * @returns undefined for a role without an aggregationRule: its rules are its own.
 */
export function aggregatedRules(
  role: { readonly name: string; readonly aggregationRule: unknown },
  all: Iterable<SelectableRole>,
): readonly PolicyRule[] | undefined {
  const selectors = selectorsOf(role.aggregationRule);
  if (selectors === undefined) return undefined;
  const others = [...all].filter(({ name }) => name !== role.name).sort((a, b) => (a.name < b.name ? -1 : 1));
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors) {
    for (const other of others) {
      if (!selector.matches(other.labels)) continue;
      for (const rule of other.rules) rules.set(ruleText(rule), rules.get(ruleText(rule)) ?? rule);
    }
  }
  return [...rules.values()];
}

function selectorsOf(aggregationRule: unknown): readonly LabelSelector[] | undefined {
  if (aggregationRule === undefined || aggregationRule === null) return undefined;
  const selectors = memberOf(aggregationRule, 'clusterRoleSelectors');
  return Array.isArray(selectors) ? selectors.flatMap((selector: unknown) => readable(selector) ?? []) : [];
}

/** Empty it selects everything, so what is no selector must not be taken for an empty one. */
function readable(selector: unknown): LabelSelector | undefined {
  const labels = memberOf(selector, 'matchLabels') ?? {};
  const expressions = memberOf(selector, 'matchExpressions') ?? [];
  if (!isObject(selector) || !isObject(labels) || !Array.isArray(expressions)) return undefined;
  try {
    return labelSelectorOf(selector as LabelSelectorObject); // throws for what is left
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** One text for rules that say the same in the same order. */
const ruleText = (rule: PolicyRule): string => JSON.stringify(writtenRule(rule));

export const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && JSON.stringify(a.map(writtenRule)) === JSON.stringify(b.map(writtenRule));

/** A rule as it is stored: without its empty lists. */
export function writtenRule({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): object {
  return {
    verbs,
    ...(apiGroups.length === 0 ? {} : { apiGroups }),
    ...(resources.length === 0 ? {} : { resources }),
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
    ...(nonResourceURLs.length === 0 ? {} : { nonResourceURLs }),
  };
}
