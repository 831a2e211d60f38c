import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { requestFor } from '../testing/request.js';
import type { UserInfo } from '../../request/request.js';
import { decide } from '../../authorization/stage.js';
import { rbacAuthorizer } from '../../authorization/rbac/rbac-authorizer.js';
import { rbacEscalation } from './escalation.js';
import { on, rule } from '../../../machinery/rbac/testing/rules.js';
import {
  aUser,
  bind,
  bindEverywhere,
  bindInside,
  clusterRole,
  GROUP,
  RbacScene,
  RESOURCES,
  role,
  user,
  type RbacObject,
} from '../../authorization/rbac/testing/rbac-scene.js';

const alice = user('alice', 'devs', 'system:authenticated');
const WHO = 'user "alice" (groups=["devs" "system:authenticated"])';
const pods = on('get', 'pods');
const everything = [on('*', '*'), rule({ verbs: ['*'], nonResourceURLs: ['*'] })].map((r) =>
  r.apiGroups.length === 0 ? r : { ...r, apiGroups: ['*'] },
);

interface Write {
  readonly next: RbacObject;
  readonly old?: RbacObject;
  readonly by?: UserInfo;
  readonly labels?: Record<string, string>;
  readonly finalizers?: string[];
}

const stored = ({ kind, name, namespace, ...members }: RbacObject): ApiObject => ({
  kind,
  apiVersion: `${GROUP}/v1`,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  ...members,
});

/** What becomes of a write where these objects are: `undefined`, or the refusal. */
async function write(
  there: readonly RbacObject[],
  { next, old, by = alice, ...more }: Write,
): Promise<StatusError | undefined> {
  const { index } = new RbacScene(...there);
  let fresh = false;
  const plugin = rbacEscalation({
    group: GROUP,
    index,
    decide: (who, attributes) => decide([rbacAuthorizer(index, GROUP)], who, attributes),
    reader: {
      whenFresh: () => {
        fresh = true;
        return Promise.resolve();
      },
    },
  });
  const object = stored(next);
  Object.assign(object.metadata, more);
  const resource = { group: GROUP, version: 'v1', resource: RESOURCES[next.kind], kind: next.kind };
  const request = requestFor(resource, object, {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    namespace: next.namespace ?? '',
    oldObject: old === undefined ? undefined : stored(old),
    user: by,
  });
  try {
    await plugin.validate?.(request);
    return undefined;
  } catch (err) {
    assert.ok(err instanceof StatusError);
    assert.ok(fresh, 'refused by an old state');
    return err;
  }
}

const holding = (...rules: readonly unknown[]): readonly RbacObject[] => [
  clusterRole('mine', ...rules),
  bindEverywhere('mine', 'mine', aUser('alice')),
];
const holdingIn = (namespace: string, ...rules: readonly unknown[]): readonly RbacObject[] => [
  clusterRole('mine', ...rules),
  bindInside(namespace, 'mine', 'mine', aUser('alice')),
];
const may = (verb: string, resource: string, ...resourceNames: string[]): unknown =>
  rule({ verbs: [verb], apiGroups: [GROUP], resources: [resource], resourceNames });
const gathering = (...rules: readonly unknown[]): RbacObject => ({
  ...clusterRole('x', ...rules),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'true' } }] },
});

describe('rbacEscalation()', () => {
  const refused: readonly (readonly [why: string, there: readonly RbacObject[], write: Write])[] = [
    ['a role with what he does not have', [], { next: role('one', 'x', pods) }],
    ['a role with more than he has', holding(on('get', 'pods', 'a')), { next: role('one', 'x', pods) }],
    ['a role where he does not have it', holdingIn('two', pods), { next: role('one', 'x', pods) }],
    ['a role of the cluster with what he has in a namespace', holdingIn('one', pods), { next: clusterRole('x', pods) }],
    [
      'a role with every verb, having those that are known',
      holding(on('get,list', 'pods')),
      { next: role('one', 'x', on('*', 'pods')) },
    ],
    ['a change of rules', [], { next: role('one', 'x', pods), old: role('one', 'x') }],
    [
      'a change that leaves what he does not have',
      [],
      { next: role('one', 'x', pods), old: role('one', 'x', pods, on('get', 'nodes')) },
    ],
    [
      'a label, which may put the rules into others',
      [],
      { next: clusterRole('x', pods), old: clusterRole('x', pods), labels: { a: 'true' } },
    ],
    [
      'escalation with the right for another name',
      holding(may('escalate', 'roles', 'y')),
      { next: role('one', 'x', pods), old: role('one', 'x') },
    ],
    [
      'escalation with the right for this name, of what is new',
      holding(may('escalate', 'roles', 'x')),
      { next: role('one', 'x', pods) },
    ],
    [
      'escalation with the right for cluster roles',
      holding(may('escalate', 'clusterroles')),
      { next: role('one', 'x', pods) },
    ],
    [
      'escalation with the right elsewhere',
      holdingIn('two', may('escalate', 'roles')),
      { next: role('one', 'x', pods) },
    ],
    ['escalation with the right to bind', holding(may('bind', 'roles')), { next: role('one', 'x', pods) }],
    ['a role that gathers', holding(pods), { next: gathering(pods) }],
    ['a role that begins to gather', holding(pods), { next: gathering(pods), old: clusterRole('x', pods) }],
    ['a role that gathers no more', holding(pods), { next: clusterRole('x', pods), old: gathering(pods) }],
    ['a role that gathers, having all paths and no resources', holding(everything[1]), { next: gathering() }],
    ['a binding of what he does not have', [role('one', 'x', pods)], { next: bind('one', 'b', 'x', aUser('bob')) }],
    ['a binding to himself', [role('one', 'x', pods)], { next: bind('one', 'b', 'x', aUser('alice')) }],
    [
      'a binding of a role that has grown',
      [...holding(pods), role('one', 'x', pods, on('get', 'nodes'))],
      { next: bind('one', 'b', 'x') },
    ],
    [
      'a binding of a cluster role where he does not have it',
      [...holdingIn('two', pods), clusterRole('x', pods)],
      { next: bindInside('one', 'b', 'x') },
    ],
    [
      'a binding everywhere of what he has in a namespace',
      [...holdingIn('one', pods), clusterRole('x', pods)],
      { next: bindEverywhere('b', 'x') },
    ],
    [
      'more subjects in a binding',
      [role('one', 'x', pods)],
      { next: bind('one', 'b', 'x', aUser('bob')), old: bind('one', 'b', 'x') },
    ],
    [
      'a binding with the right for another name',
      [...holding(may('bind', 'roles', 'y')), role('one', 'x', pods)],
      { next: bind('one', 'b', 'x') },
    ],
    [
      'a binding with the right for cluster roles',
      [...holding(may('bind', 'clusterroles')), role('one', 'x', pods)],
      { next: bind('one', 'b', 'x') },
    ],
    [
      'a binding with the right elsewhere',
      [...holdingIn('two', may('bind', 'roles')), role('one', 'x', pods)],
      { next: bind('one', 'b', 'x') },
    ],
    [
      'a binding with the right to escalate',
      [...holding(may('escalate', 'roles')), role('one', 'x', pods)],
      { next: bind('one', 'b', 'x') },
    ],
    [
      'more than can be compared',
      holding(pods),
      { next: role('one', 'x', rule({ verbs: names(300), apiGroups: names(300), resources: names(300) })) },
    ],
  ];
  for (const [why, there, change] of refused) {
    it(`refuses ${why}`, async () => {
      const refusal = await write(there, change);
      assert.equal(refusal?.code, 403);
      const { kind, name } = change.next;
      assert.ok(refusal.message.startsWith(`${RESOURCES[kind]}.${GROUP} "${name}" is forbidden: `), refusal.message);
      assert.deepEqual(refusal.details, { name, group: GROUP, kind: RESOURCES[kind] });
    });
  }

  const allowed: readonly (readonly [why: string, there: readonly RbacObject[], write: Write])[] = [
    ['a role without rules', [], { next: role('one', 'x') }],
    ['a role with what he has', holding(on('*', 'pods')), { next: role('one', 'x', pods) }],
    ['a role with what he has there', holdingIn('one', pods), { next: role('one', 'x', pods) }],
    [
      'a role with what several roles give him',
      [...holding(pods), ...holdingIn('one', on('list', 'pods'))].concat(clusterRole('mine', pods, on('list', 'pods'))),
      { next: role('one', 'x', on('get,list', 'pods')) },
    ],
    [
      'anything to the first administrators',
      [],
      { next: clusterRole('x', ...everything), by: user('root', 'system:masters') },
    ],
    ['a write that changes nothing', [], { next: role('one', 'x', pods), old: role('one', 'x', pods) }],
    [
      'a finalizer more or less',
      [],
      { next: role('one', 'x', pods), old: role('one', 'x', pods), finalizers: ['a/b'] },
    ],
    [
      'fewer rules, all of which he has',
      holding(pods),
      { next: role('one', 'x', pods), old: role('one', 'x', pods, on('get', 'nodes')) },
    ],
    ['escalation with the right', holding(may('escalate', 'roles')), { next: role('one', 'x', pods) }],
    ['escalation with the right there', holdingIn('one', may('escalate', 'roles')), { next: role('one', 'x', pods) }],
    [
      'escalation of the name that he has the right for',
      holding(may('escalate', 'roles', 'x')),
      { next: role('one', 'x', pods), old: role('one', 'x') },
    ],
    ['a role that gathers, with everything', holding(...everything), { next: gathering() }],
    [
      'a role that gathers, with the right to escalate',
      holding(may('escalate', 'clusterroles')),
      { next: gathering() },
    ],
    ['a binding of what he has', [...holding(pods), role('one', 'x', pods)], { next: bind('one', 'b', 'x') }],
    [
      'a binding with the right',
      [...holding(may('bind', 'clusterroles', 'x')), clusterRole('x', ...everything)],
      { next: bindInside('one', 'b', 'x') },
    ],
    [
      'a binding with the right there',
      [...holdingIn('one', may('bind', 'clusterroles', 'x')), clusterRole('x', ...everything)],
      { next: bindInside('one', 'b', 'x') },
    ],
    [
      'a binding of what is not there, with the right',
      holding(may('bind', 'roles', 'x')),
      { next: bind('one', 'b', 'x') },
    ],
    [
      'a binding of a role with paths, by who has it in that namespace',
      [...holdingIn('one', ...everything), clusterRole('x', ...everything)],
      { next: bindInside('one', 'b', 'x') },
    ],
  ];
  for (const [why, there, change] of allowed) {
    it(`allows ${why}`, async () => assert.equal(await write(there, change), undefined));
  }

  it('says what is missing', async () => {
    const next = role('one', 'x', on('get,list', 'pods,nodes'), on('get', 'secrets', 'a'));
    const refusal = await write(holding(pods), { next });
    assert.equal(
      refusal?.message,
      `roles.${GROUP} "x" is forbidden: ${WHO} is attempting to grant RBAC permissions not currently held:\n` +
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
    );
  });

  it('does not say it at any length', async () => {
    const refusal = await write([], { next: role('one', 'x', on('get', names(1_000).join(','))) });
    assert.match(refusal?.message ?? '', /\nand 900 more$/);
  });

  it('says what gathering takes', async () => {
    const refusal = await write([], { next: gathering() });
    assert.match(refusal?.message ?? '', /must have cluster-admin privileges to use the aggregationRule$/);
  });

  it('does not find a role that is not there', async () => {
    for (const [next, resource] of [
      [bind('one', 'b', 'gone'), 'roles'],
      [bindEverywhere('b', 'gone'), 'clusterroles'],
    ] as const) {
      const refusal = await write([], { next });
      assert.deepEqual([refusal?.code, refusal?.message], [404, `${resource}.${GROUP} "gone" not found`]);
    }
  });
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `n${i}`);
}
