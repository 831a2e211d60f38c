import assert from 'node:assert/strict';
import type { UserInfo } from '../../request/request.js';
import type { Attributes, ResourceAttributes } from '../authorizer.js';
import { abacAuthorizer } from './abac-authorizer.js';
import { parsePolicies } from './policies.js';

const VERSION = 'abac.authorization.platform.io/v1beta1';
const line = (spec: object): string => JSON.stringify({ apiVersion: VERSION, kind: 'Policy', spec });
const policies = (...specs: object[]): ReturnType<typeof parsePolicies> =>
  parsePolicies(specs.map(line).join('\n'), 'policies', VERSION);

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });
const resource = (o: Partial<ResourceAttributes> = {}): Attributes => ({
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'here',
  name: '',
  ...o,
});
const path = (of: string, verb = 'get'): Attributes => ({ kind: 'path', verb, path: of });

describe('parsePolicies()', () => {
  const good = line({ user: 'a', resource: '*' });
  for (const [what, bad, message] of [
    ['what is no JSON', '{"secret":', /^Error: policies:3: is no JSON$/],
    ['what is no object', '["a"]', /^Error: policies:3: is no JSON object$/],
    ['no version', '{"kind":"Policy","spec":{}}', /^Error: policies:3: apiVersion must be/],
    ['an older version', '{"user":"alice"}', /^Error: policies:3: apiVersion must be/],
    ['another kind', `{"apiVersion":"${VERSION}","kind":"Rule","spec":{}}`, /^Error: policies:3: kind must be Policy$/],
    ['no spec', `{"apiVersion":"${VERSION}","kind":"Policy"}`, /^Error: policies:3: spec must be an object$/],
    ['a misspelt member', line({ user: 'a', readOnly: true }), /^Error: policies:3: spec.readOnly is no member/],
    ['a member of a prototype', `{"apiVersion":"${VERSION}","kind":"Policy","spec":{"__proto__":{"user":"*"}}}`, /^Error: policies:3: spec.__proto__ is no member/], // prettier-ignore
    ['a list of users', line({ user: ['a'] }), /^Error: policies:3: spec.user must be a string$/],
    ['a word for a truth', line({ readonly: 'true' }), /^Error: policies:3: spec.readonly must be a boolean$/],
  ] as const) {
    it(`refuses ${what} and says where`, () => {
      assert.throws(() => parsePolicies(`${good}\n# note\n${bad}\n`, 'policies', VERSION), message);
    });
  }

  it('leaves out empty lines and notes', () => {
    assert.equal(parsePolicies(`\n# a note\n  ${good}\r\n\n`, 'policies', VERSION).length, 1);
  });
});

describe('abacAuthorizer()', () => {
  const refused: readonly (readonly [what: string, specs: object[], who: UserInfo, attributes: Attributes])[] = [
    ['everything without policies', [], user('a'), resource()],
    ['a policy for nobody', [{ namespace: '*', resource: '*', apiGroup: '*' }], user('a'), resource()],
    ['a user with an empty name', [{ user: 'a', namespace: '*', resource: '*' }], user(''), resource()],
    ['another user', [{ user: 'a', namespace: '*', resource: '*' }], user('A'), resource()],
    ['a look-alike', [{ user: 'admin', namespace: '*', resource: '*' }], user('аdmin'), resource()],
    ['a user who is not in the group', [{ user: 'a', group: 'g', namespace: '*', resource: '*' }], user('a', 'h'), resource()], // prettier-ignore
    ['a member who is not the user', [{ user: 'a', group: 'g', namespace: '*', resource: '*' }], user('b', 'g'), resource()], // prettier-ignore
    ['another namespace', [{ user: 'a', namespace: 'there', resource: '*' }], user('a'), resource()],
    ['a namespace where none is given', [{ user: 'a', resource: '*' }], user('a'), resource()],
    ['all namespaces where one is given', [{ user: 'a', namespace: 'here', resource: '*' }], user('a'), resource({ namespace: '' })], // prettier-ignore
    ['another resource', [{ user: 'a', namespace: '*', resource: 'pods' }], user('a'), resource({ resource: 'nodes' })],
    ['another group', [{ user: 'a', namespace: '*', resource: '*' }], user('a'), resource({ group: 'apps' })],
    [
      'writing',
      [{ user: 'a', namespace: '*', resource: '*', readonly: true }],
      user('a'),
      resource({ verb: 'create' }),
    ],
    ['a path by a policy for resources', [{ user: 'a', namespace: '*', resource: '*', apiGroup: '*' }], user('a'), path('/version')], // prettier-ignore
    ['a resource by a policy for paths', [{ user: 'a', nonResourcePath: '*' }], user('a'), resource()],
    ['a path beside', [{ user: 'a', nonResourcePath: '/api/*' }], user('a'), path('/apis')],
    ['a path above', [{ user: 'a', nonResourcePath: '/api/*' }], user('a'), path('/api')],
    ['posting to a path', [{ user: 'a', nonResourcePath: '*', readonly: true }], user('a'), path('/api', 'post')],
    ['a name like a member of a prototype', [{ user: 'a', namespace: '*', resource: '*' }], user('constructor', '__proto__'), resource()], // prettier-ignore
  ];
  for (const [what, specs, who, attributes] of refused) {
    it(`refuses ${what}`, async () => {
      const answer = await abacAuthorizer(policies(...specs)).authorize(who, attributes);
      assert.deepEqual(answer, { decision: 'noOpinion', reason: 'No policy matched.' });
    });
  }

  const allowed: readonly (readonly [what: string, spec: object, who: UserInfo, attributes: Attributes])[] = [
    ['a user', { user: 'a', namespace: '*', resource: '*' }, user('a'), resource({ verb: 'delete' })],
    ['everybody', { user: '*', namespace: '*', resource: '*' }, user('b'), resource()],
    ['a group', { group: 'g', namespace: 'here', resource: 'pods' }, user('b', 'f', 'g'), resource()],
    ['any group', { group: '*', namespace: 'here', resource: 'pods' }, user('b'), resource()],
    ['a user in a group', { user: 'a', group: 'g', namespace: '*', resource: '*' }, user('a', 'g'), resource()],
    ['nobody in particular', { group: 'system:unauthenticated', nonResourcePath: '/version' }, user('system:anonymous', 'system:unauthenticated'), path('/version')], // prettier-ignore
    ['reading', { user: 'a', namespace: '*', resource: '*', readonly: true }, user('a'), resource({ verb: 'watch' })],
    ['any group of resources', { user: 'a', namespace: '*', resource: '*', apiGroup: '*' }, user('a'), resource({ group: 'apps' })], // prettier-ignore
    ['a sub-resource with its resource', { user: 'a', namespace: '*', resource: 'pods' }, user('a'), resource({ subresource: 'log' })], // prettier-ignore
    ['paths below', { user: 'a', nonResourcePath: '/api/*' }, user('a'), path('/api/v1')],
    ['the scope of the cluster', { user: 'a', resource: 'nodes' }, user('a'), resource({ resource: 'nodes', namespace: '' })], // prettier-ignore
  ];
  for (const [what, spec, who, attributes] of allowed) {
    it(`allows ${what}`, async () => {
      const authorizer = abacAuthorizer(policies({ user: 'other' }, spec));
      assert.equal((await authorizer.authorize(who, attributes)).decision, 'allow');
    });
  }

  it('lists what a user may do in a namespace', () => {
    const authorizer = abacAuthorizer(
      policies(
        { user: 'a', namespace: 'here', resource: 'pods', readonly: true },
        { group: 'g', namespace: '*', resource: '*', apiGroup: 'apps' },
        { user: 'a', namespace: 'there', resource: 'secrets' },
        { user: '*', nonResourcePath: '/version' },
      ),
    );
    assert.deepEqual(authorizer.rulesFor?.(user('a', 'g'), 'here'), {
      resourceRules: [
        { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'], resourceNames: [] },
        { verbs: ['*'], apiGroups: ['apps'], resources: ['*'], resourceNames: [] },
      ],
      pathRules: [{ verbs: ['*'], nonResourceURLs: ['/version'] }],
      incomplete: false,
    });
  });
});
