import assert from 'node:assert/strict';
import { KindUnderTest } from '../testing/cases.js';
import { LABEL, SUBDOMAIN } from '../testing/words.js';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './mandatory.js';

const group = 'flowcontrol.apiserver.k8s.io';
const apiVersion = `${group}/v1beta2`;

describe('validation of flow schemas', () => {
  const kind = new KindUnderTest({ group, resource: 'flowschemas', type: `${group}/v1beta2.FlowSchema` });
  const schema = {
    apiVersion,
    kind: 'FlowSchema',
    metadata: { name: 'x' },
    spec: {
      priorityLevelConfiguration: { name: 'workload-low' },
      matchingPrecedence: 500,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [
            { kind: 'User', user: { name: 'alice' } },
            { kind: 'Group', group: { name: '*' } },
            { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'default' } },
          ],
          resourceRules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz', '/api/*', '/'] }],
        },
      ],
    },
  };
  const S = 'spec.rules.0.subjects';
  const AS = 'spec.rules[0].subjects';
  const R = 'spec.rules.0.resourceRules.0';
  const AR = 'spec.rules[0].resourceRules[0]';
  const N = 'spec.rules.0.nonResourceRules.0';
  const AN = 'spec.rules[0].nonResourceRules[0]';
  const VERBS = '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"';
  kind.acceptsManifest('a schema', schema);
  for (const [name, spec] of MANDATORY_FLOW_SCHEMAS) {
    kind.acceptsManifest(`the mandatory ${name}`, { apiVersion, kind: 'FlowSchema', metadata: { name }, spec });
  }
  kind.accepts(schema, [
    { 'spec.rules': undefined, 'spec.distinguisherMethod': undefined },
    { [`${R}.clusterScope`]: true, [`${R}.namespaces`]: undefined },
  ]);
  kind.refuses(schema, [
    [{ 'spec.matchingPrecedence': -1 }, 'spec.matchingPrecedence', 'Invalid value: -1: must be a positive value'],
    [
      { 'spec.matchingPrecedence': 10_001 },
      'spec.matchingPrecedence',
      'Invalid value: 10001: must not be greater than 10000',
    ],
    [
      { 'spec.matchingPrecedence': 1 },
      'spec.matchingPrecedence',
      "Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ],
    [
      { 'spec.distinguisherMethod.type': 'ByVerb' },
      'spec.distinguisherMethod.type',
      'Unsupported value: {"type":"ByVerb"}: supported values: "ByNamespace", "ByUser"',
    ],
    [
      { 'spec.priorityLevelConfiguration.name': '' },
      'spec.priorityLevelConfiguration.name',
      'Required value: must reference a priority level',
    ],
    [
      { 'spec.priorityLevelConfiguration.name': 'A' },
      'spec.priorityLevelConfiguration.name',
      `Invalid value: "A": ${SUBDOMAIN}`,
    ],
    [
      { 'spec.rules': [{}] },
      'spec.rules[0].subjects',
      'Required value: subjects must contain at least one value',
      'spec.rules[0]',
      'Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
    ],
    [
      { [S]: [{ kind: 'Pod' }] },
      `${AS}[0].kind`,
      'Unsupported value: "Pod": supported values: "Group", "ServiceAccount", "User"',
    ],
    [
      { [S]: [{ kind: 'User', group: { name: 'a' }, serviceAccount: { name: 'a', namespace: 'a' } }] },
      `${AS}[0].user`,
      "Required value: user is required when subject kind is 'User'",
      `${AS}[0].serviceAccount`,
      "Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
      `${AS}[0].group`,
      "Forbidden: group is forbidden when subject kind is not 'Group'",
    ],
    [{ [`${S}.0.user.name`]: '' }, `${AS}[0].user.name`, 'Required value'],
    [{ [`${S}.1.group.name`]: '' }, `${AS}[1].group.name`, 'Required value'],
    [
      { [`${S}.2.serviceAccount`]: { name: 'A', namespace: '' } },
      `${AS}[2].serviceAccount.name`,
      `Invalid value: "A": ${SUBDOMAIN}`,
      `${AS}[2].serviceAccount.namespace`,
      'Required value: must specify namespace for service account',
    ],
    [{ [`${R}.verbs`]: [] }, `${AR}.verbs`, 'Required value: verbs must contain at least one value'],
    [
      { [`${R}.verbs`]: ['*', 'get'] },
      `${AR}.verbs`,
      `Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs`,
    ],
    [{ [`${R}.verbs`]: ['read'] }, `${AR}.verbs`, `Unsupported value: []string{"read"}: supported values: ${VERBS}`],
    [
      { [`${R}.apiGroups`]: [] },
      `${AR}.apiGroups`,
      'Required value: resource rules must supply at least one api group',
    ],
    [
      { [`${R}.apiGroups`]: ['*', ''] },
      `${AR}.apiGroups`,
      `Invalid value: []string{"*", ""}: if '*' is present, must not specify other api groups`,
    ],
    [{ [`${R}.resources`]: [] }, `${AR}.resources`, 'Required value: resource rules must supply at least one resource'],
    [
      { [`${R}.namespaces`]: [] },
      `${AR}.namespaces`,
      'Required value: resource rules that are not cluster scoped must supply at least one namespace',
    ],
    [
      { [`${R}.namespaces`]: ['A'] },
      `${AR}.namespaces[0]`,
      `Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; ${LABEL}`,
    ],
    [
      { [`${N}.nonResourceURLs`]: [] },
      `${AN}.nonResourceURLs`,
      'Required value: nonResourceURLs must contain at least one value',
    ],
    [
      { [`${N}.nonResourceURLs`]: ['', 'a', '/a b', '/a//b', '/*/a', '/a*'] },
      `${AN}.nonResourceURLs[0]`,
      'Invalid value: "": must not be empty',
      `${AN}.nonResourceURLs[1]`,
      'Invalid value: "a": must start with slash',
      `${AN}.nonResourceURLs[2]`,
      'Invalid value: "/a b": must not contain white-space',
      `${AN}.nonResourceURLs[3]`,
      'Invalid value: "/a//b": must not contain double slash',
      `${AN}.nonResourceURLs[4]`,
      'Invalid value: "/*/a": wildcard can only do suffix matching',
      `${AN}.nonResourceURLs[5]`,
      'Invalid value: "/a*": wildcard can only do suffix matching',
    ],
  ]);

  it('keeps the mandatory ones as they are', () => {
    const exempt = { apiVersion, kind: 'FlowSchema', metadata: { name: 'exempt' }, spec: schema.spec };
    const [problem] = kind.onCreate(exempt);
    assert.equal(problem?.field, 'spec');
    assert.match(problem.message, /: spec of 'exempt' must equal the fixed value$/);
  });

  kind.refusesPart('status', schema, [
    [
      { 'status.conditions': [{ type: 'Dangling' }, { type: 'Dangling' }] },
      'status.conditions[1].type',
      'Duplicate value: "Dangling"',
    ],
    [{ 'status.conditions': [{}] }, 'status.conditions[0].type', 'Required value: must not be empty'],
  ]);
});

describe('validation of priority levels', () => {
  const kind = new KindUnderTest({
    group,
    resource: 'prioritylevelconfigurations',
    type: `${group}/v1beta2.PriorityLevelConfiguration`,
  });
  const queuing = { queues: 128, handSize: 6, queueLengthLimit: 50 };
  const level = {
    apiVersion,
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'x' },
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 10, limitResponse: { type: 'Queue', queuing } } },
  };
  const L = 'spec.limited.limitResponse';
  const Q = `${L}.queuing`;
  kind.acceptsManifest('a level', level);
  for (const [name, spec] of MANDATORY_PRIORITY_LEVELS) {
    kind.acceptsManifest(`the mandatory ${name}`, { ...level, metadata: { name }, spec });
  }
  kind.accepts(level, [{ [L]: { type: 'Reject' } }, { [`${Q}.handSize`]: 8, [`${Q}.queues`]: 181 }]);
  kind.refuses(level, [
    [
      { spec: { type: 'Exempt' } },
      'spec.type',
      `Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`,
    ],
    [{ 'spec.type': 'Free' }, 'spec.type', 'Unsupported value: "Free": supported values: "Exempt", "Limited"'],
    [{ 'spec.limited': undefined }, 'spec.limited', 'Required value: must not be empty when type is Limited'],
    [
      { 'spec.limited.assuredConcurrencyShares': -1 },
      'spec.limited.assuredConcurrencyShares',
      'Invalid value: -1: must be positive',
    ],
    [{ [`${L}.type`]: 'Wait' }, `${L}.type`, 'Unsupported value: "Wait": supported values: "Queue", "Reject"'],
    [{ [`${L}.type`]: 'Reject' }, Q, 'Forbidden: must be nil if limited.limitResponse.type is not Limited'],
    [{ [Q]: undefined }, Q, 'Required value: must not be empty if limited.limitResponse.type is Limited'],
    [{ [`${Q}.queueLengthLimit`]: -1 }, `${Q}.queueLengthLimit`, 'Invalid value: -1: must be positive'],
    [
      { [`${Q}.queues`]: 10_000_001, [`${Q}.handSize`]: 1 },
      `${Q}.queues`,
      'Invalid value: 10000001: must not be greater than 10000000',
    ],
    [{ [`${Q}.handSize`]: -1 }, `${Q}.handSize`, 'Invalid value: -1: must be positive'],
    [{ [`${Q}.queues`]: 5 }, `${Q}.handSize`, 'Invalid value: 6: should not be greater than queues (5)'],
    [
      { [`${Q}.handSize`]: 8, [`${Q}.queues`]: 182 },
      `${Q}.handSize`,
      'Invalid value: 8: required entropy bits of deckSize 182 and handSize 8 should not be greater than 60',
    ],
    [
      { 'metadata.name': 'exempt', 'spec.type': 'Exempt' },
      'spec.limited',
      'Forbidden: must be nil if the type is not Limited',
      'spec',
      `Invalid value: ${JSON.stringify({ ...level.spec, type: 'Exempt' })}: spec of 'exempt' must equal the fixed value`,
    ],
  ]);
});
