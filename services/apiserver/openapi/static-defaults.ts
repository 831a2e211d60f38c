import type { DefaultRule, RulesOf } from '../../machinery/defaulting/rules.js';
import { facet, type Type } from '../../machinery/types/graph.js';

/** The default of a member of a type; undefined where it depends on the object. */
export type StaticDefaults = (type: Type, field: string) => unknown;

/**
 * The constants among the rules of defaulting. Those about a member further down (`spec.replicas`) depend on what the
 * type stands in, and a schema cannot say that.
 */
export function staticDefaults(rulesOf: RulesOf): StaticDefaults {
  const constantsOf = facet(({ key }) => constants(rulesOf(key)));
  return (type, field) => constantsOf(type).get(field);
}

/** Members that one rule is about, and no condition. A second rule is there because it depends. */
function constants(rules: readonly DefaultRule[]): ReadonlyMap<string, unknown> {
  const names = rules.map(({ path }) => (typeof path === 'string' ? path : path.join('.')));
  return new Map(
    rules.flatMap((rule, i) => {
      const name = names[i] ?? '';
      const isOnlyOne = names.indexOf(name) === names.lastIndexOf(name);
      return isOnlyOne && isConstant(rule) ? [[name, rule.value] as const] : [];
    }),
  );
}

/** There is nothing in the rule but a member of the type itself and its value. */
const isConstant = ({ path, value, ...conditions }: DefaultRule): boolean =>
  value !== undefined && typeof path === 'string' && !path.includes('.') && Object.keys(conditions).length === 0;
