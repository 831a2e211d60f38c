import type { ApiObject } from '../meta/object.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import type { Spoke } from './spoke.js';
import { isTree, treesOf, treeOf, type Tree } from './tree.js';

const isEmpty = (selector: Tree): boolean =>
  Object.keys(treeOf(selector['matchLabels'])).length === 0 && treesOf(selector['matchExpressions']).length === 0;

/** Is it the selector with this one requirement and nothing else? */
function requiresOnly(selector: Tree, key: string, operator: string): boolean {
  const [first, ...more] = treesOf(selector['matchExpressions']);
  const isIt =
    first?.['key'] === key &&
    first['operator'] === operator &&
    !(Array.isArray(first['values']) && first['values'].length > 0);
  return isIt && more.length === 0 && Object.keys(treeOf(selector['matchLabels'])).length === 0;
}

const requirement = (key: string, operator: string): Tree => ({ matchExpressions: [{ key, operator }] });

/**
 * An empty selector means no pod in policy/v1beta1 and every pod of the namespace in policy/v1. What the other version
 * means by it is written here as a requirement on a label that no pod has: that it exists (none), or does not (all).
 */
export function disruptionBudgetSpokes({ emptyBudgetSelectorKey: key }: Vocabulary): readonly Spoke[] {
  const swapEmpty =
    (emptyBecomes: string, becomesEmpty: string) =>
    (object: ApiObject): ApiObject => {
      const spec = object['spec'];
      const selector = isTree(spec) ? spec['selector'] : undefined;
      if (!isTree(spec) || !isTree(selector)) return { ...object }; // unset means no pod in both
      if (isEmpty(selector)) return { ...object, spec: { ...spec, selector: requirement(key, emptyBecomes) } };
      if (requiresOnly(selector, key, becomesEmpty)) return { ...object, spec: { ...spec, selector: {} } };
      return { ...object };
    };
  return [
    {
      group: 'policy',
      version: 'v1beta1',
      kind: 'PodDisruptionBudget',
      toHub: swapEmpty('Exists', 'DoesNotExist'),
      fromHub: swapEmpty('DoesNotExist', 'Exists'),
    },
  ];
}
