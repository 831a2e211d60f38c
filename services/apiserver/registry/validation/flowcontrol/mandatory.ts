/*
 * The objects that are always there, as the specification has them: what administrators send passes by all limits, and
 * requests that no other schema matches get a little.
 */

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const group = (name: string): object => ({ kind: 'Group', group: { name } });

export const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

/** Specs by name. */
export const MANDATORY_FLOW_SCHEMAS: ReadonlyMap<string, object> = new Map<string, object>([
  [
    EXEMPT,
    {
      priorityLevelConfiguration: { name: EXEMPT },
      matchingPrecedence: 1,
      rules: [{ subjects: [group('system:masters')], ...EVERYTHING }],
    },
  ],
  [
    CATCH_ALL,
    {
      priorityLevelConfiguration: { name: CATCH_ALL },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...EVERYTHING }],
    },
  ],
]);

export const MANDATORY_PRIORITY_LEVELS: ReadonlyMap<string, object> = new Map<string, object>([
  [EXEMPT, { type: 'Exempt' }],
  [CATCH_ALL, { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } }],
]);
