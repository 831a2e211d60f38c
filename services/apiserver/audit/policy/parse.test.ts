import assert from 'node:assert/strict';
import { parsePolicy } from './parse.js';

const VERSION = 'audit.k8s.io/v1';
const policy = (rest: object): unknown => ({ apiVersion: VERSION, kind: 'Policy', ...rest });
const withRule = (rule: object): unknown => policy({ rules: [{ level: 'Metadata', ...rule }] });

const REFUSED: readonly (readonly [what: string, value: unknown, message: string])[] = [
  ['no object', [], 'the file: is no object'],
  [
    'another version',
    { ...(policy({}) as object), apiVersion: 'audit.k8s.io/v1beta1' },
    'apiVersion: is "audit.k8s.io/v1beta1", not "audit.k8s.io/v1"',
  ],
  ['no version', { kind: 'Policy' }, 'apiVersion: is nothing, not "audit.k8s.io/v1"'],
  ['another kind', { apiVersion: VERSION, kind: 'Event' }, 'kind: is "Event", not "Policy"'],
  ['an unknown member', policy({ rule: [] }), 'the file: has an unknown member "rule"'],
  ['no rules', policy({}), 'rules: is empty: nothing would ever be told'],
  ['rules that are no list', policy({ rules: {} }), 'rules: {} is no list'],
  ['a rule that is no object', policy({ rules: ['Metadata'] }), 'rules[0]: is no object'],
  ['an unknown member of a rule', withRule({ user: [] }), 'rules[0]: has an unknown member "user"'],
  [
    'a rule without level',
    policy({ rules: [{}] }),
    'rules[0].level: nothing is none of None, Metadata, Request, RequestResponse',
  ],
  [
    'an unknown level',
    withRule({ level: 'metadata' }),
    'rules[0].level: "metadata" is none of None, Metadata, Request, RequestResponse',
  ],
  [
    'an unknown stage',
    policy({ omitStages: ['Received'], rules: [] }),
    'omitStages[0]: "Received" is none of RequestReceived, ResponseStarted, ResponseComplete, Panic',
  ],
  [
    'an unknown stage of a rule',
    withRule({ omitStages: ['Panic', 'x'] }),
    'rules[0].omitStages[1]: "x" is none of RequestReceived, ResponseStarted, ResponseComplete, Panic',
  ],
  ['users that are no list', withRule({ users: 'bob' }), 'rules[0].users: "bob" is no list'],
  ['a verb that is no string', withRule({ verbs: ['get', 1] }), 'rules[0].verbs[1]: 1 is no string'],
  [
    'an unknown member of resources',
    withRule({ resources: [{ groups: [''] }] }),
    'rules[0].resources[0]: has an unknown member "groups"',
  ],
  [
    'a version in the place of a group',
    withRule({ resources: [{ group: 'apps/v1' }] }),
    'rules[0].resources[0].group: "apps/v1" is no name of a group',
  ],
  [
    'names without resources',
    withRule({ resources: [{ resourceNames: ['a'] }] }),
    'rules[0].resources[0].resourceNames: names mean nothing without resources',
  ],
  [
    'a path without a slash',
    withRule({ nonResourceURLs: ['healthz'] }),
    'rules[0].nonResourceURLs[0]: "healthz" does not begin with a slash',
  ],
  [
    'a star inside a path',
    withRule({ nonResourceURLs: ['/api*/v1'] }),
    'rules[0].nonResourceURLs[0]: "/api*/v1" has a * that is not its end',
  ],
  [
    'paths and resources',
    withRule({ nonResourceURLs: ['/x'], resources: [{ group: '' }] }),
    'rules[0].nonResourceURLs: a rule is about paths or about resources and namespaces, not both',
  ],
  [
    'paths and namespaces',
    withRule({ nonResourceURLs: ['/x'], namespaces: ['a'] }),
    'rules[0].nonResourceURLs: a rule is about paths or about resources and namespaces, not both',
  ],
  [
    'managed fields that are no boolean',
    withRule({ omitManagedFields: 'yes' }),
    'rules[0].omitManagedFields: "yes" is neither true nor false',
  ],
];

describe('parsePolicy()', () => {
  for (const [what, value, message] of REFUSED) {
    it(`refuses ${what}, and names the member`, () => {
      assert.throws(() => parsePolicy(value, VERSION), { message });
    });
  }

  it('reads what rules say, and what holds for all of them', () => {
    const value = policy({
      metadata: { name: 'mine' },
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'None', users: ['a'], userGroups: ['b'], verbs: ['get'], omitManagedFields: false },
        {
          level: 'Request',
          resources: [{ resources: ['pods/*'], resourceNames: ['x'] }],
          omitStages: ['Panic', 'RequestReceived'],
        },
        { level: 'Metadata', nonResourceURLs: ['*', '/healthz*'], namespaces: null },
      ],
    });
    const [first, second, third, ...rest] = parsePolicy(value, VERSION).rules;
    assert.deepEqual(first, {
      level: 'None',
      users: ['a'],
      userGroups: ['b'],
      verbs: ['get'],
      resources: [],
      namespaces: [],
      nonResourceURLs: [],
      omitStages: ['RequestReceived'],
      omitManagedFields: false,
    });
    assert.deepEqual(second?.resources, [{ group: '', resources: ['pods/*'], resourceNames: ['x'] }]);
    assert.deepEqual([second.omitStages, second.omitManagedFields], [['RequestReceived', 'Panic'], true]);
    assert.deepEqual(third?.nonResourceURLs, ['*', '/healthz*']);
    assert.deepEqual(rest, []);
  });
});
