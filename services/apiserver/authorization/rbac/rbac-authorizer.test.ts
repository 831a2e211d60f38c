import assert from 'node:assert/strict';
import type { UserInfo } from '../../request/request.js';
import type { Attributes, Decision } from '../authorizer.js';
import { rbacAuthorizer } from './rbac-authorizer.js';
import { on, rule } from '../../../machinery/rbac/testing/rules.js';
import {
  aGroup,
  anAccount,
  ask,
  askPath,
  aUser,
  bind,
  bindEverywhere,
  bindInside,
  clusterRole,
  GROUP,
  RbacScene,
  role,
  user,
  type RbacObject,
} from './testing/rbac-scene.js';

const READER = role('one', 'reader', on('get', 'pods'));
const VIEWER = clusterRole('viewer', on('get', 'pods'), rule({ verbs: ['get'], nonResourceURLs: ['/metrics'] }));
const GET = ask('get', 'pods', 'one', 'x');
const alice = user('alice', 'devs');

const decideIn = (scene: RbacScene, who: UserInfo, asked: Attributes): Decision =>
  rbacAuthorizer(scene.index, GROUP).authorize(who, asked) as Decision; // it answers at once

const decide = (objects: readonly RbacObject[], who: UserInfo, asked: Attributes): Decision =>
  decideIn(new RbacScene(...objects), who, asked);

describe('rbacAuthorizer()', () => {
  const bound = (...subjects: readonly unknown[]): readonly RbacObject[] => [
    READER,
    bind('one', 'b', 'reader', ...subjects),
  ];
  const account = user('system:serviceaccount:one:builder', 'system:serviceaccounts', 'system:serviceaccounts:one');

  const refused: readonly (readonly [why: string, objects: readonly RbacObject[], who: UserInfo, asked: Attributes])[] =
    [
      ['whom nothing is bound to', [READER, VIEWER], alice, GET],
      ['another user', bound(aUser('bob')), alice, GET],
      ['another case of a name', bound(aUser('Alice')), alice, GET],
      ['a look-alike of a name', bound(aUser('аlice')), alice, GET], // Cyrillic
      ['another form of the same letters', bound(aUser('jos\u00e9')), user('jose\u0301'), GET],
      ['a name with a space at its end', bound(aUser('alice ')), alice, GET],
      ['a user who is called like a group', bound(aGroup('alice')), alice, GET],
      ['a group that is called like a user', bound(aUser('devs')), alice, GET],
      ['a star as a user', bound(aUser('*')), alice, GET],
      [
        'a beginning of system:, which means nothing here',
        bound(aUser('system:'), aGroup('system:')),
        user('system:x', 'system:y'),
        GET,
      ],
      ['nobody with no name', bound(aUser(''), aGroup('')), user('', ''), GET],
      ['a member of the first administrators, to whom nothing is bound', bound(), user('x', 'system:masters'), GET],
      ['a subject of another kind', bound({ kind: 'Pod', name: 'alice' }, { name: 'alice' }), alice, GET],
      ['another case of a kind', bound({ kind: 'user', apiGroup: GROUP, name: 'alice' }), alice, GET],
      ['a user of another group of kinds', bound({ kind: 'User', apiGroup: 'apps', name: 'alice' }), alice, GET],
      ['a group of another group of kinds', bound({ kind: 'Group', apiGroup: 'x', name: 'devs' }), alice, GET],
      [
        'an account of another group of kinds',
        bound({ ...anAccount('one', 'builder'), apiGroup: GROUP }),
        account,
        GET,
      ],
      ['an account of another namespace', bound(anAccount('two', 'builder')), account, GET],
      ['an account whose name goes on', bound(anAccount('one', 'build')), account, GET],
      ['an account with a colon', bound(anAccount('one:x', 'y')), user('system:serviceaccount:one:x:y'), GET],
      [
        'an account without a namespace, bound in the cluster',
        [VIEWER, bindEverywhere('b', 'viewer', { kind: 'ServiceAccount', name: 'builder' })],
        user('system:serviceaccount::builder'),
        GET,
      ],
      ['half a subject', bound(null, 'alice', 1, [], {}, { kind: 'User', name: ['alice'] }), alice, GET],
      ['subjects that are no list', [READER, { ...bind('one', 'b', 'reader'), subjects: aUser('alice') }], alice, GET],
      ['another namespace', bound(aUser('alice')), alice, ask('get', 'pods', 'two', 'x')],
      ['all namespaces', bound(aUser('alice')), alice, ask('get', 'pods', '', 'x')],
      ['another verb', bound(aUser('alice')), alice, ask('delete', 'pods', 'one', 'x')],
      [
        'a role of another namespace',
        [READER, bind('two', 'b', 'reader', aUser('alice'))],
        alice,
        ask('get', 'pods', 'two', 'x'),
      ],
      [
        'a role of a namespace, bound in the cluster',
        [
          READER,
          {
            ...bindEverywhere('b', 'reader', aUser('alice')),
            roleRef: { apiGroup: GROUP, kind: 'Role', name: 'reader' },
          },
        ],
        alice,
        GET,
      ],
      [
        'a role by the way to it',
        [
          READER,
          { ...bindEverywhere('b', 'one/reader', aUser('alice')) },
          bindInside('two', 'b', 'one/reader', aUser('alice')),
        ],
        alice,
        GET,
      ],
      ['half a roleRef', [READER, { ...bind('one', 'b', '', aUser('alice')), roleRef: { kind: 'Role' } }], alice, GET],
      [
        'a roleRef of another group',
        [
          READER,
          { ...bind('one', 'b', '', aUser('alice')), roleRef: { apiGroup: 'apps', kind: 'Role', name: 'reader' } },
        ],
        alice,
        GET,
      ],
      [
        'a role with rules of another shape',
        [role('one', 'reader', 'all', { verbs: '*' }), bind('one', 'b', 'reader', aUser('alice'))],
        alice,
        GET,
      ],
      [
        'paths of a role in a namespace',
        [
          role('one', 'reader', rule({ verbs: ['*'], nonResourceURLs: ['*'] })),
          bind('one', 'b', 'reader', aUser('alice')),
        ],
        alice,
        askPath('get', '/metrics'),
      ],
      [
        'paths of a cluster role that is bound in a namespace',
        [VIEWER, bindInside('one', 'b', 'viewer', aUser('alice'))],
        alice,
        askPath('get', '/metrics'),
      ],
      [
        'the cluster for a cluster role that is bound in a namespace',
        [VIEWER, bindInside('one', 'b', 'viewer', aUser('alice'))],
        alice,
        ask('get', 'pods'),
      ],
    ];
  for (const [why, objects, who, asked] of refused) {
    it(`has no opinion on ${why}`, () => assert.equal(decide(objects, who, asked).decision, 'noOpinion'));
  }

  const allowed: readonly (readonly [
    why: string,
    objects: readonly RbacObject[],
    who: UserInfo,
    asked: Attributes,
    reason: string,
  ])[] = [
    ['a user', bound(aUser('alice')), alice, GET, 'RoleBinding "b/one" of Role "reader" to User "alice"'],
    ['a group', bound(aGroup('devs')), alice, GET, 'RoleBinding "b/one" of Role "reader" to Group "devs"'],
    [
      'an account',
      bound(anAccount('one', 'builder')),
      account,
      GET,
      'RoleBinding "b/one" of Role "reader" to ServiceAccount "builder/one"',
    ],
    [
      'an account of the namespace of the binding',
      bound({ kind: 'ServiceAccount', name: 'builder' }),
      account,
      GET,
      'RoleBinding "b/one" of Role "reader" to ServiceAccount "builder/one"',
    ],
    [
      'an account by the name of its user',
      bound(aUser(account.name)),
      account,
      GET,
      `RoleBinding "b/one" of Role "reader" to User "${account.name}"`,
    ],
    [
      'subjects whose group is left out',
      bound({ kind: 'User', name: 'alice' }),
      alice,
      GET,
      'RoleBinding "b/one" of Role "reader" to User "alice"',
    ],
    [
      'a cluster role in a namespace',
      [VIEWER, bindInside('one', 'b', 'viewer', aUser('alice'))],
      alice,
      GET,
      'RoleBinding "b/one" of ClusterRole "viewer" to User "alice"',
    ],
    [
      'a cluster role everywhere',
      [VIEWER, bindEverywhere('b', 'viewer', aGroup('devs'))],
      alice,
      ask('get', 'pods', 'two', 'x'),
      'ClusterRoleBinding "b" of ClusterRole "viewer" to Group "devs"',
    ],
    [
      'a path',
      [VIEWER, bindEverywhere('b', 'viewer', aUser('alice'))],
      alice,
      askPath('get', '/metrics'),
      'ClusterRoleBinding "b" of ClusterRole "viewer" to User "alice"',
    ],
    [
      'the sound half of a binding',
      bound(null, aUser('alice')),
      alice,
      GET,
      'RoleBinding "b/one" of Role "reader" to User "alice"',
    ],
  ];
  for (const [why, objects, who, asked, reason] of allowed) {
    it(`allows ${why}, and says by what`, () => {
      assert.deepEqual(decide(objects, who, asked), { decision: 'allow', reason: `RBAC: allowed by ${reason}` });
    });
  }

  describe('when roles are missing', () => {
    const missing = (...names: readonly string[]): RbacScene =>
      new RbacScene(...names.map((name) => bindEverywhere(name, name, aUser('alice'))));

    it('says which one', () => {
      assert.deepEqual(decideIn(missing('x'), alice, GET), {
        decision: 'noOpinion',
        reason: `RBAC: clusterrole.${GROUP} "x" not found`,
      });
    });

    it('says which ones, once each', () => {
      const scene = missing('x', 'y');
      scene.put(bind('one', 'b', 'z', aUser('alice')), bindEverywhere('again', 'x', aGroup('devs')));
      assert.equal(
        decideIn(scene, alice, GET).reason,
        `RBAC: [clusterrole.${GROUP} "x" not found, clusterrole.${GROUP} "y" not found, role.${GROUP} "z" not found]`,
      );
    });

    it('does not go on for ever', () => {
      const reason = decideIn(missing(...Array.from({ length: 1_000 }, (_, i) => `x${i}`)), alice, GET).reason;
      assert.ok(reason.length < 2_000, `${reason.length} characters`);
    });

    it('still allows what other roles do', () => {
      const scene = missing('x');
      scene.put(READER, bind('one', 'b', 'reader', aUser('alice')));
      assert.equal(decideIn(scene, alice, GET).decision, 'allow');
    });
  });

  describe('in step with changes', () => {
    let scene: RbacScene;
    let authorize: (asked?: Attributes) => Decision['decision'];
    beforeEach(() => {
      scene = new RbacScene(READER, bind('one', 'b', 'reader', aUser('alice')));
      const authorizer = rbacAuthorizer(scene.index, GROUP);
      authorize = (asked = GET) => (authorizer.authorize(alice, asked) as Decision).decision;
      assert.equal(authorize(), 'allow'); // and remembered
    });

    const steps: readonly (readonly [what: string, step: (s: RbacScene) => void, after: Decision['decision']])[] = [
      ['a binding that is deleted', (s) => s.remove({ kind: 'RoleBinding', namespace: 'one', name: 'b' }), 'noOpinion'],
      ['a role that is deleted', (s) => s.remove(READER), 'noOpinion'],
      ['a role that loses its rules', (s) => s.put(role('one', 'reader')), 'noOpinion'],
      ['a binding that loses its subject', (s) => s.put(bind('one', 'b', 'reader', aUser('bob'))), 'noOpinion'],
      [
        'a binding that cannot be read any more',
        (s) => s.put({ kind: 'RoleBinding', namespace: 'one', name: 'b' }),
        'noOpinion',
      ],
      ['bindings that are loaded anew', (s) => s.load('RoleBinding'), 'noOpinion'],
      ['roles that are loaded anew', (s) => s.load('Role'), 'noOpinion'],
      ['what concerns others', (s) => s.put(bind('one', 'other', 'reader', aUser('bob'))), 'allow'],
      [
        'a role that is made again',
        (s) => {
          s.remove(READER);
          s.put(READER);
        },
        'allow',
      ],
      [
        'a second binding whose first one goes',
        (s) => {
          s.put(bind('one', 'c', 'reader', aGroup('devs')));
          s.remove({ kind: 'RoleBinding', namespace: 'one', name: 'b' });
        },
        'allow',
      ],
      [
        'the same subject twice, and once',
        (s) => {
          s.put(bind('one', 'b', 'reader', aUser('alice'), aUser('alice')));
          s.put(bind('one', 'b', 'reader', aUser('alice')));
        },
        'allow',
      ],
    ];
    for (const [what, step, after] of steps) {
      it(`decides ${after} after ${what}`, () => {
        step(scene);
        assert.equal(authorize(), after);
      });
    }
  });

  it('remembers nothing of one question for another that has the same text', () => {
    const scene = new RbacScene(clusterRole('r', on('*', 'pods')), bindEverywhere('b', 'r', aUser('alice')));
    const authorizer = rbacAuthorizer(scene.index, GROUP);
    const verdict = (verb: string, group: string): string =>
      (authorizer.authorize(alice, { ...ask(verb, 'pods', 'one', 'x'), group }) as Decision).decision;
    assert.equal(verdict('geta', ''), 'allow');
    assert.equal(verdict('get', 'a'), 'noOpinion');
    const name = (resource: string, subresource: string): string =>
      (authorizer.authorize(alice, { ...ask('get', '', 'one', 'x'), resource, subresource }) as Decision).decision;
    assert.equal(name('pods', ''), 'allow');
    assert.equal(name('po', 'ds'), 'noOpinion');
  });

  describe('rulesFor()', () => {
    const authorizer = rbacAuthorizer(
      new RbacScene(
        READER,
        VIEWER,
        bind('one', 'b', 'reader', aUser('alice'), aGroup('devs')),
        bindEverywhere('b', 'viewer', aGroup('devs')),
        bindInside('two', 'b', 'gone', aUser('alice')),
        clusterRole('paths', rule({ verbs: ['get'], nonResourceURLs: ['/inside'] })),
        bindInside('one', 'paths', 'paths', aUser('alice')),
      ).index,
      GROUP,
    );
    const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] };
    const pathRules = [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }];

    it('lists what is granted in the namespace and in the cluster, each role once', () => {
      assert.deepEqual(authorizer.rulesFor?.(alice, 'one'), {
        resourceRules: [pods, pods],
        pathRules,
        incomplete: false,
      });
    });
    it('tells of roles that are missing', () => {
      assert.deepEqual(authorizer.rulesFor?.(alice, 'two'), {
        resourceRules: [pods],
        pathRules,
        incomplete: false,
        error: `clusterrole.${GROUP} "gone" not found`,
      });
    });
    it('lists nothing for others', () => {
      assert.deepEqual(authorizer.rulesFor?.(user('bob'), 'one'), {
        resourceRules: [],
        pathRules: [],
        incomplete: false,
      });
    });
  });
});
