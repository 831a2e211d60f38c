import assert from 'node:assert/strict';
import type { Attributes, Authorizer, ResourceAttributes } from '../authorization/authorizer.js';
import type { UserInfo } from '../request/request.js';
import { startScene, type Reply, type Scene } from './testing/scene.js';
import type { Authenticator } from './authenticator.js';

const BOSS: UserInfo = { name: 'boss', uid: '1', groups: ['bosses'], extra: { from: ['test'] } };

describe('impersonation()', () => {
  const asked: string[] = [];
  /** The questions that are answered with yes, as `line` writes them; undefined: all. */
  let allowed: readonly string[] | undefined;
  let scene: Scene;

  const line = ({ verb, group, resource, subresource, namespace, name }: ResourceAttributes): string =>
    [verb, group, subresource === '' ? resource : `${resource}/${subresource}`, namespace, name].join(' ');
  const authorizer: Authorizer = {
    name: 'test',
    authorize: (user: UserInfo, attributes: Attributes) => {
      assert.equal(user.name, 'boss', 'who really asks is the one who needs the right');
      const question = attributes.kind === 'resource' ? line(attributes) : attributes.path;
      asked.push(question);
      return { decision: (allowed?.includes(question) ?? true) ? 'allow' : 'noOpinion', reason: '' };
    },
  };
  const boss: Authenticator = { name: 'boss', authenticate: () => ({ user: BOSS }) };

  before(async () => {
    scene = await startScene({ authenticators: [boss], authorizers: [authorizer] });
  });
  beforeEach(() => {
    asked.length = 0;
    allowed = undefined;
  });
  after(() => scene.close());

  type Headers = readonly (readonly [string, string])[];
  const as = (...headers: Headers): Promise<Reply> => scene.ask({ headers });

  const refused: readonly (readonly [what: string, headers: Headers])[] = [
    ['a group without a user', [['Impersonate-Group', 'system:masters']]],
    ['an extra attribute without a user', [['Impersonate-Extra-scopes', 'a']]],
    ['a uid without a user', [['Impersonate-Uid', '1']]],
    ['an empty user', [['Impersonate-User', '']]],
    ['an empty user with a group', [['Impersonate-User', ''], ['Impersonate-Group', 'system:masters']]], // prettier-ignore
    ['two users', [['Impersonate-User', 'a'], ['Impersonate-User', 'b']]], // prettier-ignore
    ['two users in other cases', [['Impersonate-User', 'a'], ['impersonate-USER', 'b']]], // prettier-ignore
    ['two uids', [['Impersonate-User', 'a'], ['Impersonate-Uid', '1'], ['Impersonate-Uid', '2']]], // prettier-ignore
    ['an empty group', [['Impersonate-User', 'a'], ['Impersonate-Group', '']]], // prettier-ignore
    ['headers that mean nothing', [['Impersonate-User', 'a'], ['Impersonate-Groups', 'b']]], // prettier-ignore
    ['an extra attribute without a key', [['Impersonate-User', 'a'], ['Impersonate-Extra-', 'b']]], // prettier-ignore
    ['a name that is no UTF-8', [['Impersonate-User', '\xe4']]],
    ['more attributes than anybody has', [['Impersonate-User', 'a'], ...Array.from({ length: 100 }, (_, i) => ['Impersonate-Group', `g${i}`] as const)]], // prettier-ignore
  ];
  for (const [what, headers] of refused) {
    it(`refuses ${what} before anybody is asked`, async () => {
      const { code } = await as(...headers);
      assert.deepEqual([code, asked], [400, []]);
    });
  }

  const FULL: Headers = [
    ['Impersonate-User', 'jane'],
    ['Impersonate-Uid', '7'],
    ['Impersonate-Group', 'dev, ops'],
    ['impersonate-group', 'system:masters'],
    ['Impersonate-Extra-Acme.com%2FScopes', 'view'],
    ['Impersonate-Extra-acme.com%2fscopes', 'edit'],
  ];
  const RIGHTS = [
    'impersonate  users  jane',
    'impersonate authentication.platform.io uids  7',
    'impersonate  groups  dev, ops',
    'impersonate  groups  system:masters',
    'impersonate authentication.platform.io userextras/acme.com/scopes  view',
    'impersonate authentication.platform.io userextras/acme.com/scopes  edit',
  ];

  it('asks for each attribute, and acts as the other one with just these', async () => {
    const { body, code } = await as(...FULL);
    assert.equal(code, 200);
    assert.deepEqual(asked, RIGHTS);
    assert.deepEqual(body.user, {
      name: 'jane',
      uid: '7',
      groups: ['dev, ops', 'system:masters', 'system:authenticated'],
      extra: { 'acme.com/scopes': ['view', 'edit'] },
    });
    assert.equal(body.impersonator?.name, 'boss');
    assert.deepEqual(Object.keys(body.headers ?? {}).filter((name) => name.startsWith('impersonate')), []); // prettier-ignore
  });

  for (const missing of RIGHTS) {
    it(`refuses without the right to ${missing}`, async () => {
      allowed = RIGHTS.filter((right) => right !== missing);
      const { code, body } = await as(...FULL);
      assert.equal(code, 403);
      assert.match(body.message ?? '', /User "boss" cannot impersonate resource/);
    });
  }

  const users: readonly (readonly [headers: Headers, groups: readonly string[], right: string])[] = [
    [[['Impersonate-User', 'jane']], ['system:authenticated'], 'impersonate  users  jane'],
    [[['Impersonate-User', 'system:anonymous']], ['system:unauthenticated'], 'impersonate  users  system:anonymous'],
    [
      [['Impersonate-User', 'jane'], ['Impersonate-Group', 'system:unauthenticated']], // prettier-ignore
      ['system:unauthenticated'],
      'impersonate  users  jane',
    ],
    [
      [['Impersonate-User', 'system:serviceaccount:a:b']],
      ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
      'impersonate  serviceaccounts a b',
    ],
    [
      [['Impersonate-User', 'system:serviceaccount:a:b'], ['Impersonate-Group', 'c']], // prettier-ignore
      ['c', 'system:authenticated'],
      'impersonate  serviceaccounts a b',
    ],
    [
      [['Impersonate-User', 'system:serviceaccount:a:b:c']],
      ['system:authenticated'],
      'impersonate  users  system:serviceaccount:a:b:c',
    ],
    [[['Impersonate-User', 'System:serviceaccount:a:b']], ['system:authenticated'], 'impersonate  users  System:serviceaccount:a:b'], // prettier-ignore
  ];
  for (const [headers, groups, right] of users) {
    it(`puts ${JSON.stringify(headers)} into the groups ${groups.join(', ')}`, async () => {
      const { body } = await as(...headers);
      assert.deepEqual(body.user?.groups, groups);
      assert.equal(asked[0], right);
    });
  }

  it('takes a name that only looks like another one for another one', async () => {
    allowed = ['impersonate  users  admin'];
    const lookAlike = Buffer.from('аdmin').toString('latin1'); // with a Cyrillic letter
    assert.equal((await as(['Impersonate-User', lookAlike])).code, 403);
    assert.equal((await as(['Impersonate-User', 'Admin'])).code, 403);
    assert.equal((await as(['Impersonate-User', 'admin'])).code, 200);
  });

  it('leaves requests alone that impersonate nobody', async () => {
    const { body } = await as(['X-Impersonate-User', 'jane']);
    assert.equal(body.user?.name, 'boss');
    assert.equal(body.impersonator, undefined);
  });
});
