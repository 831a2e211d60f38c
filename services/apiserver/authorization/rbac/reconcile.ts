import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { writtenRule } from '../../../machinery/rbac/aggregation.js';
import { heldBy, missingRights } from './coverage.js';
import { memberOf, rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';

/** The step for a stored object of the policy: nothing, store it so, or make it anew. */
export type Reconciled = { readonly do: 'nothing' | 'replace' } | { readonly do: 'put'; readonly object: ApiObject };

const NOTHING: Reconciled = { do: 'nothing' };

/**
 * The step that brings an object of the policy in line. It gets back what it lacks; what it has beyond the policy stays.
 *
 * @param present As stored; not changed. @param wanted As the policy has it, with all defaults.
 * @param autoupdate The annotation with which an operator keeps an object as it is.
 */
export function reconciled(present: ApiObject, wanted: ApiObject, autoupdate: string): Reconciled {
  if (present.metadata.annotations?.[autoupdate] === 'false') return NOTHING;
  if (wanted['roleRef'] !== undefined) return reconciledBinding(present, wanted);
  return changed(present, { ...withMetadata(present, wanted), ...roleMembers(present, wanted) });
}

function reconciledBinding(present: ApiObject, wanted: ApiObject): Reconciled {
  if (!isDeepStrictEqual(present['roleRef'], wanted['roleRef'])) return { do: 'replace' };
  const there = listOf(present, 'subjects');
  const missing = listOf(wanted, 'subjects').filter((subject) => !there.some((s) => isDeepStrictEqual(s, subject)));
  const subjects = missing.length === 0 ? {} : { subjects: [...there, ...missing] };
  return changed(present, { ...withMetadata(present, wanted), ...subjects });
}

const changed = (present: ApiObject, next: ApiObject): Reconciled =>
  isDeepStrictEqual(present, next) ? NOTHING : { do: 'put', object: next };

/** Labels and annotations that an operator has changed stay as he wants them. */
function withMetadata(present: ApiObject, wanted: ApiObject): ApiObject {
  const { metadata } = present;
  return {
    ...present,
    metadata: {
      ...metadata,
      labels: { ...wanted.metadata.labels, ...metadata.labels },
      annotations: { ...wanted.metadata.annotations, ...metadata.annotations },
    },
  };
}

/** The rules of a role that gathers them are not restored here: they follow from its selectors. */
function roleMembers(present: ApiObject, wanted: ApiObject): object {
  const { aggregationRule } = wanted;
  if (aggregationRule !== undefined) {
    const there = listOf(present['aggregationRule'], 'clusterRoleSelectors');
    const missing = listOf(aggregationRule, 'clusterRoleSelectors').filter(
      (selector) => !there.some((s) => isDeepStrictEqual(s, selector)),
    );
    return missing.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...there, ...missing] } };
  }
  const rules = rulesOf(present);
  const missing = missingRules(rules, rulesOf(wanted));
  const own = present['aggregationRule'] === undefined ? {} : { aggregationRule: undefined };
  return missing.length === 0 ? own : { ...own, rules: [...rules, ...missing].map(writtenRule) };
}

/** Those of which a part is not covered. */
function missingRules(present: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  if (isDeepStrictEqual(present, wanted)) return []; // at nearly every start
  const held = heldBy(present);
  return wanted.filter((rule) => missingRights(held, [rule]).length > 0);
}

function listOf(holder: unknown, name: string): readonly unknown[] {
  const list = memberOf(holder, name);
  return Array.isArray(list) ? list : [];
}
