import type { PolicyRule } from '../../../services/machinery/types/generated/rbac.v1.js';
import { scenarios, types, type Look, type ScenarioContext } from './scenario.js';

const rule = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] });

/** Labels by which a role is part of another one; nothing else is. */
const partOf = (c: ScenarioContext, of = 'whole'): Readonly<Record<string, string>> => ({
  'example.com/part-of': c.named(of),
});

const whole = (c: ScenarioContext, name = 'whole', labels = {}): Promise<unknown> =>
  c.create(types.clusterRoles, {
    metadata: { name: c.named(name), labels },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: partOf(c, name) }] },
  });

const part = (c: ScenarioContext, name: string, ...resources: readonly string[]): Promise<unknown> =>
  c.create(types.clusterRoles, { metadata: { name: c.named(name), labels: partOf(c) }, rules: resources.map(rule) });

const rulesOf =
  (c: ScenarioContext, name = 'whole'): Look =>
  async () => {
    const { rules, metadata } = await c.comes(types.clusterRoles, c.named(name));
    const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => Object.hasOwn(fieldsV1 ?? {}, 'f:rules'));
    return { rules, owners: owners.map(({ manager, operation }) => `${manager ?? ''} ${operation ?? ''}`) };
  };

const united = (...resources: readonly string[]): object => ({
  rules: resources.map(rule),
  owners: ['clusterrole-aggregation-controller Apply'],
});

const counts = (c: ScenarioContext, wanted: number): Promise<unknown> =>
  c.comes(types.clusterRoles, c.named('whole'), '', ({ rules }) => (rules ?? []).length === wanted);

export const ROLES = scenarios('roles', [
  {
    name: 'one takes in the rules of its parts, in the order of their names, each once',
    expected: united('a', 'shared', 'b'),
    run: async (c) => {
      await part(c, 'part-b', 'shared', 'b');
      await part(c, 'part-a', 'a', 'shared');
      await whole(c);
      return rulesOf(c);
    },
  },
  {
    name: 'one takes in what changes in its parts, and loses those that go',
    expected: united('changed'),
    run: async (c) => {
      await whole(c);
      await part(c, 'part-a', 'a');
      await part(c, 'part-b', 'b');
      await part(c, 'part-c', 'c');
      await counts(c, 3);
      const [first, second, third] = await Promise.all(
        ['part-a', 'part-b', 'part-c'].map((name) => c.comes(types.clusterRoles, c.named(name))),
      );
      if (first === undefined || second === undefined || third === undefined) throw new Error('They are there');
      await c.patch(types.clusterRoles, first, { rules: [rule('changed')] });
      await c.patch(types.clusterRoles, second, { metadata: { labels: null } });
      await c.delete(types.clusterRoles, third);
      return rulesOf(c);
    },
  },
  {
    name: 'one that is part of another one passes on what it takes in',
    expected: united('a'),
    run: async (c) => {
      await whole(c, 'above');
      await whole(c, 'whole', partOf(c, 'above'));
      await part(c, 'part-a', 'a');
      return rulesOf(c, 'above');
    },
  },
  {
    name: 'rules that others write into one do not stay',
    expected: united('a'),
    run: async (c) => {
      await part(c, 'part-a', 'a');
      await whole(c);
      await counts(c, 1);
      await c.patch(types.clusterRoles, await c.comes(types.clusterRoles, c.named('whole')), { rules: [rule('x'), rule('y')] }); // prettier-ignore
      return rulesOf(c);
    },
  },
]);
