import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { PathRequest, RequestInfo, RequestVerb, ResourceRequest, UserInfo } from '../../request/request.js';
import { POD as GET_POD, RULE } from '../testing/play.js';
import { decideBy, NOBODY } from './decide.js';
import type { GroupResources, PolicyRule } from './parse.js';

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });
const rule = (over: Partial<PolicyRule>): PolicyRule => ({ ...RULE, level: 'Metadata', ...over });
const about = (over: Partial<GroupResources>): GroupResources => ({
  group: '',
  resources: [],
  resourceNames: [],
  ...over,
});
const resource = (over: Partial<ResourceRequest>): ResourceRequest => ({ ...GET_POD, ...over });
const path = (at: string, verb = 'get'): PathRequest => ({ kind: 'path', verb, path: at });

const ALICE = user('alice', 'devs', 'system:authenticated');
const POD = resource({});
const LOG = resource({ subresource: 'log' });

interface Case {
  readonly rule: Partial<PolicyRule>;
  readonly meets: readonly RequestInfo[];
  readonly misses: readonly RequestInfo[];
  readonly as?: UserInfo;
}

const CASES: Readonly<Record<string, Case>> = {
  'nothing at all': { rule: {}, meets: [POD, LOG, path('/healthz')], misses: [] },
  'another user': { rule: { users: ['bob'] }, meets: [], misses: [POD, path('/healthz')] },
  'the user': { rule: { users: ['bob', 'alice'] }, meets: [POD, path('/healthz')], misses: [] },
  'another group': { rule: { userGroups: ['ops'] }, meets: [], misses: [POD] },
  'one of the groups': { rule: { userGroups: ['ops', 'devs'] }, meets: [POD, path('/x')], misses: [] },
  'user and group, of which one is another': {
    rule: { users: ['alice'], userGroups: ['ops'] },
    meets: [],
    misses: [POD],
  },
  'a user, when nobody is known': {
    rule: { users: ['alice'] },
    meets: [],
    misses: [POD],
    as: NOBODY,
  },
  verbs: {
    rule: { verbs: ['list', 'get'] },
    meets: [POD, path('/x')],
    misses: [resource({ verb: 'watch' }), path('/x', 'post')],
  },
  'a namespace': {
    rule: { namespaces: ['default'] },
    meets: [POD],
    misses: [resource({ namespace: 'x' }), resource({ namespace: '' }), path('/x')],
  },
  'the scope of the cluster': {
    rule: { namespaces: [''] },
    meets: [resource({ namespace: '', resource: 'nodes' })],
    misses: [POD, path('/x')],
  },
  'a group': { rule: { resources: [about({})] }, meets: [POD, LOG], misses: [resource({ group: 'apps' }), path('/x')] },
  'a resource': {
    rule: { resources: [about({ resources: ['pods'] })] },
    meets: [POD],
    misses: [LOG, resource({ resource: 'podtemplates' })],
  },
  'a sub-resource': {
    rule: { resources: [about({ resources: ['pods/log'] })] },
    meets: [LOG],
    misses: [POD, resource({ subresource: 'status' })],
  },
  'any sub-resource': {
    rule: { resources: [about({ resources: ['pods/*'] })] },
    meets: [LOG, POD],
    misses: [resource({ resource: 'nodes' })],
  },
  'a sub-resource of any': {
    rule: { resources: [about({ resources: ['*/log'] })] },
    meets: [LOG],
    misses: [POD, resource({ subresource: 'status' })],
  },
  'any resource': {
    rule: { resources: [about({ resources: ['*'] })] },
    meets: [POD, LOG],
    misses: [resource({ group: 'apps' })],
  },
  'a name': {
    rule: { resources: [about({ resources: ['pods'], resourceNames: ['a'] })] },
    meets: [POD],
    misses: [resource({ name: 'b' }), resource({ name: '', verb: 'list' })],
  },
  'names of one resource and all of another': {
    rule: { resources: [about({ resources: ['pods'], resourceNames: ['a'] }), about({ resources: ['nodes'] })] },
    meets: [POD, resource({ resource: 'nodes', name: 'z' })],
    misses: [resource({ name: 'b' })],
  },
  'names of two entries': {
    rule: {
      resources: [
        about({ resources: ['pods'], resourceNames: ['a'] }),
        about({ resources: ['*'], resourceNames: ['b'] }),
      ],
    },
    meets: [POD, resource({ name: 'b' }), resource({ resource: 'nodes', name: 'b' })],
    misses: [resource({ name: 'c' }), resource({ resource: 'nodes', name: 'a' })],
  },
  'a path': {
    rule: { nonResourceURLs: ['/healthz'] },
    meets: [path('/healthz')],
    misses: [path('/healthz/x'), path('/'), POD],
  },
  'the beginning of a path': {
    rule: { nonResourceURLs: ['/health*'] },
    meets: [path('/healthz'), path('/health')],
    misses: [path('/heal'), POD],
  },
  'all paths': { rule: { nonResourceURLs: ['*'] }, meets: [path('/'), path('/x')], misses: [POD] },
};

describe('decideBy()', () => {
  for (const [what, { rule: over, meets, misses, as = ALICE }] of Object.entries(CASES)) {
    it(`knows who meets a rule about ${what}`, () => {
      const decide = decideBy({ rules: [rule(over)] });
      const levels = (infos: readonly RequestInfo[]): string[] => infos.map((info) => decide(as, info).level);
      assert.deepEqual(
        levels(misses),
        misses.map(() => 'None'),
      );
      assert.deepEqual(
        levels(meets),
        meets.map(() => 'Metadata'),
      );
    });
  }

  it('takes the first rule that is met, with all that it says', () => {
    const decide = decideBy({
      rules: [
        rule({ level: 'None', users: ['bob'] }),
        rule({ level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: true }),
        rule({ level: 'RequestResponse' }),
      ],
    });
    assert.deepEqual(decide(ALICE, POD), { level: 'Request', omits: new Set(['Panic']), omitManagedFields: true });
    assert.equal(decide(user('bob'), POD).level, 'None');
    assert.equal(decide(ALICE, resource({ verb: 'list' })).level, 'RequestResponse');
  });

  it('does not take one request for another that is spelled alike', () => {
    const decide = decideBy({ rules: [rule({ resources: [about({ resources: ['*/b'] })] })] });
    assert.equal(decide(ALICE, resource({ resource: 'pods', subresource: 'a b' })).level, 'None');
    assert.equal(decide(ALICE, resource({ resource: 'pods a', subresource: 'b' })).level, 'Metadata');
  });

  it('remembers a bounded number of questions, and answers the rest as well', () => {
    const decide = decideBy({ rules: [rule({ resources: [about({ resources: ['r7'] })] })] });
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 2_000; i++) {
        assert.equal(decide(ALICE, resource({ resource: `r${i}` })).level, i === 7 ? 'Metadata' : 'None');
      }
    }
  });

  it('decides as going through the rules one by one does', () => {
    const word = fc.constantFrom('a', 'b', '');
    const words = fc.array(word, { maxLength: 2 });
    const entries = fc.array(
      fc.record({
        group: word,
        resources: fc.array(fc.constantFrom('a', 'b', '*', 'a/b', '*/b', 'a/*'), { maxLength: 2 }),
        resourceNames: words,
      }),
      { maxLength: 2 },
    );
    const rules = fc.array(
      fc.record({
        level: fc.constantFrom<PolicyRule['level']>('None', 'Metadata', 'Request', 'RequestResponse'),
        users: words,
        userGroups: words,
        verbs: fc.array(fc.constantFrom('get', 'list'), { maxLength: 1 }),
        resources: entries,
        namespaces: words,
      }),
      { maxLength: 5 },
    );
    const info = fc.record({
      verb: fc.constantFrom<RequestVerb>('get', 'list'),
      group: word,
      namespace: word,
      resource: word,
      subresource: word,
      name: word,
    });
    fc.assert(
      fc.property(rules, fc.array(info, { minLength: 1, maxLength: 4 }), word, words, (all, infos, name, groups) => {
        const given = all.map((it) => rule(it));
        const decide = decideBy({ rules: given });
        const who = user(name, ...groups);
        for (const it of [...infos, ...infos]) {
          const asked = resource(it);
          const met = given.find((one) => meets(one, who, asked));
          assert.equal(decide(who, asked).level, met?.level ?? 'None');
        }
      }),
    );
  });
});

/** The plain reading of a rule. */
function meets(r: PolicyRule, who: UserInfo, q: ResourceRequest): boolean {
  const whole = q.subresource === '' ? q.resource : `${q.resource}/${q.subresource}`;
  const isNamed = (spec: string): boolean =>
    ['*', whole, `${q.resource}/*`].includes(spec) || (q.subresource !== '' && spec === `*/${q.subresource}`);
  return (
    (r.users.length === 0 || r.users.includes(who.name)) &&
    (r.userGroups.length === 0 || who.groups.some((group) => r.userGroups.includes(group))) &&
    (r.verbs.length === 0 || r.verbs.includes(q.verb)) &&
    (r.namespaces.length === 0 || r.namespaces.includes(q.namespace)) &&
    (r.resources.length === 0 ||
      r.resources.some(
        (e) =>
          e.group === q.group &&
          (e.resources.length === 0 || e.resources.some(isNamed)) &&
          (e.resourceNames.length === 0 || e.resourceNames.includes(q.name)),
      ))
  );
}
