import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { UserInfo } from '../../request/request.js';
import type { Attributes, Decision } from '../authorizer.js';
import { rbacAuthorizer } from './rbac-authorizer.js';
import { bindingOf } from './bindings.js';
import { rulesOf } from '../../../machinery/rbac/policy-rule.js';
import { covers } from './rules.js';
import { rule } from '../../../machinery/rbac/testing/rules.js';
import { GROUP, RbacScene, user, type RbacKind, type RbacObject } from './testing/rbac-scene.js';

const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const few = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 3 });

const NAMESPACES = ['n1', 'n2'] as const;
const NAMES = ['a', 'b', 'c'] as const;

const rules = few(
  fc
    .record({
      verbs: few(some('get', 'list', '*')),
      apiGroups: few(some('', 'apps', '*')),
      resources: few(some('pods', 'pods/log', '*/log', '*')),
      resourceNames: few(some('x', 'y', '')),
      nonResourceURLs: few(some('/m', '/m*', '/m/x', '*')),
    })
    .map(rule),
);
const subjects = few(
  fc.oneof(
    fc.record({ kind: some('User', 'Group', 'Pod'), apiGroup: some(GROUP, ''), name: some('u', 'v', '') }),
    fc.record({ kind: some('ServiceAccount'), namespace: some('n1', ''), name: some('u') }),
  ),
);
const members: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    rules,
    subjects,
    roleRef: fc.record({ apiGroup: some(GROUP), kind: some('Role', 'ClusterRole'), name: some(...NAMES) }),
  }),
  some({}, { rules: null, subjects: [null], roleRef: 'x' }),
);
const place = fc.record({
  kind: some<RbacKind>('Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'),
  inside: some(...NAMESPACES),
  name: some(...NAMES),
});
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never;

type Step =
  | { readonly do: 'put'; readonly at: Place; readonly members: object }
  | { readonly do: 'remove' | 'load'; readonly at: Place };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: some('put' as const), at: place, members }) },
  { weight: 3, arbitrary: fc.record({ do: some('remove' as const), at: place }) },
  { weight: 1, arbitrary: fc.record({ do: some('load' as const), at: place }) },
);

const asked: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    kind: some('resource' as const),
    verb: some('get', 'list'),
    group: some('', 'apps'),
    version: some('v1'),
    resource: some('pods', 'nodes'),
    subresource: some('', 'log'),
    namespace: some('', ...NAMESPACES),
    name: some('', 'x'),
  }),
  fc.record({ kind: some('path' as const), verb: some('get'), path: some('/m', '/m/x', '/n') }),
);
const USERS = [user('u'), user('v', 'u', 'v'), user('system:serviceaccount:n1:u', 'v'), user('', '')];

/** What is there, as a map of objects: the slow and simple way to decide. */
class Naive {
  readonly #objects = new Map<string, RbacObject>();

  key({ kind, inside, name }: Place): string {
    return kind.startsWith('Cluster') ? `${kind}//${name}` : `${kind}/${inside}/${name}`;
  }
  set(at: Place, object: RbacObject | undefined): void {
    if (object === undefined) this.#objects.delete(this.key(at));
    else this.#objects.set(this.key(at), object);
  }
  of(kind: RbacKind): RbacObject[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind);
  }

  allows(who: UserInfo, question: Attributes): boolean {
    return (['ClusterRoleBinding', 'RoleBinding'] as const).some((kind) =>
      this.of(kind).some((object) => this.#grants(object, who, question)),
    );
  }

  #grants(object: RbacObject, { name, groups }: UserInfo, question: Attributes): boolean {
    const namespace = object.namespace ?? '';
    if (namespace !== '' && (question.kind === 'path' || question.namespace !== namespace)) return false;
    const binding = bindingOf(object, GROUP, namespace);
    const holds = binding?.holders.some((h) => (h.known === 'users' ? h.name === name : groups.includes(h.name)));
    if (binding === undefined || holds !== true) return false;
    const { roleRef } = binding;
    const at: Place = { kind: roleRef.kind, inside: namespace as Place['inside'], name: roleRef.name as Place['name'] };
    return rulesOf(this.#objects.get(this.key(at))).some((given) => covers(given, question));
  }
}

function objectAt({ kind, inside, name }: Place, rest: object): RbacObject {
  return { kind, name, ...(kind.startsWith('Cluster') ? {} : { namespace: inside }), ...rest };
}

function take(scene: RbacScene, naive: Naive, next: Step): void {
  const object = objectAt(next.at, next.do === 'put' ? next.members : {});
  if (next.do === 'put') {
    scene.put(object);
    naive.set(next.at, object);
  } else if (next.do === 'remove') {
    scene.remove(object);
    naive.set(next.at, undefined);
  } else {
    scene.load(object.kind, ...naive.of(object.kind));
  }
}

describe('rbacAuthorizer() over any sequence of changes', () => {
  it('decides as a look at every binding and every rule would', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        (steps, questions) => {
          const scene = new RbacScene();
          const naive = new Naive();
          const authorizer = rbacAuthorizer(scene.index, GROUP);
          for (const next of steps) {
            take(scene, naive, next);
            for (const who of USERS) {
              for (const question of questions) {
                const { decision } = authorizer.authorize(who, question) as Decision;
                assert.equal(decision === 'allow', naive.allows(who, question));
              }
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps nothing of what is gone', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const scene = new RbacScene();
        const naive = new Naive();
        for (const next of steps) take(scene, naive, next);
        for (const kind of ['RoleBinding', 'ClusterRoleBinding', 'Role', 'ClusterRole'] as const) scene.load(kind);
        assert.deepEqual(scene.index.sizes(), { roles: 0, bindings: 0, subjects: 0, namespaces: 0 });
      }),
      { numRuns: 100 },
    );
  });
});
