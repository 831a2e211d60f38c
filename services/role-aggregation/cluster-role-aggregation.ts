import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import { aggregatedRules, sameRules, writtenRule, type SelectableRole } from '../machinery/rbac/aggregation.js';
import { rulesOf } from '../machinery/rbac/policy-rule.js';
import type { ClusterRole } from '../machinery/types/generated/rbac.v1.js';

/** Owner of `rules` in the roles that are filled. */
const FIELD_MANAGER = 'clusterrole-aggregation-controller';
/** Index of the roles that gather rules, under one value. */
const GATHERING = 'gathering';
const YES = 'yes';

/**
 * Fills `rules` of every ClusterRole that has an aggregationRule with the rules of the roles that it selects (spec 2, section
 * 7). A key is the name of such a role. Which roles gather from which may change with any label, so every change of a role
 * has all that gather looked at; what a look costs is the comparison.
 */
export function openRoleAggregation(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const types = builtInTypes(vocabulary);
  const roles = informers.of(types.clusterRoles);
  roles.index(GATHERING, ({ aggregationRule }) => (aggregationRule === undefined ? [] : [YES]));
  const lookAtAll = (): void => {
    for (const { metadata } of roles.store.by(GATHERING, YES)) queue.add(metadata.name);
  };
  roles.handle({ added: lookAtAll, updated: lookAtAll, deleted: lookAtAll });
  return {
    informers: [roles],
    workers: 5,
    reconcile: async (name, signal) => {
      const role = roles.store.get(name);
      const rules = role === undefined ? undefined : missingRules(role, roles.store.list());
      if (role === undefined || rules === undefined) return undefined;
      // With the version that was looked at: rules gathered from an old state do not replace those of a newer one.
      const metadata = { name, resourceVersion: role.metadata.resourceVersion };
      const { kind, apiVersion } = role;
      try {
        const o = { fieldManager: FIELD_MANAGER, force: true };
        await client.resource(types.clusterRoles).apply({ kind, apiVersion, metadata, rules }, o, signal);
      } catch (err) {
        if (!isApiError(err, 'Conflict', 'NotFound')) throw err; // the change that was in the way brings it back
      }
      return undefined;
    },
  };
}

/** The rules that a role should have; undefined when it has them, or when they are its own. */
export function missingRules(
  role: Live<ClusterRole>,
  all: readonly Live<ClusterRole>[],
): NonNullable<ClusterRole['rules']> | undefined {
  const { aggregationRule } = role;
  const rules = aggregatedRules({ name: role.metadata.name, aggregationRule }, all.map(selectable));
  return rules === undefined || sameRules(rules, rulesOf(role)) ? undefined : rules.map(writtenRule);
}

const selectable = (role: Live<ClusterRole>): SelectableRole => ({
  name: role.metadata.name,
  labels: role.metadata.labels ?? {},
  rules: rulesOf(role),
});
