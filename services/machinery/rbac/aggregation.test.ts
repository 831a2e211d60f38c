import assert from 'node:assert/strict';
import { aggregatedRules, sameRules, writtenRule, type SelectableRole } from './aggregation.js';
import { on, rule } from './testing/rules.js';

const other = (name: string, labels: SelectableRole['labels'], ...rules: SelectableRole['rules']): SelectableRole => ({
  name,
  labels,
  rules,
});
const selecting = (...clusterRoleSelectors: unknown[]): { name: string; aggregationRule: unknown } => ({
  name: 'all',
  aggregationRule: { clusterRoleSelectors },
});
const a = { matchLabels: { a: 'true' } };
const b = { matchLabels: { b: 'true' } };
const [pods, nodes, secrets] = [on('get', 'pods'), on('get', 'nodes'), on('get', 'secrets')];

describe('aggregatedRules()', () => {
  it('has nothing to say on a role that gathers none', () => {
    for (const aggregationRule of [undefined, null]) {
      assert.equal(aggregatedRules({ name: 'x', aggregationRule }, [other('y', {}, pods)]), undefined);
    }
  });

  for (const [why, role] of [
    ['no selectors', selecting()],
    ['no list of selectors', { name: 'all', aggregationRule: { clusterRoleSelectors: a } }],
    [
      'selectors that cannot be read',
      selecting('a', 1, [], { matchExpressions: 1 }, { matchLabels: 'a' }, { matchLabels: { 'a b': 'c' } }),
    ],
    ['a selector that is null', selecting(null)],
    ['another value of the label', selecting({ matchLabels: { a: 'True' } })],
  ] as const) {
    it(`gathers nothing with ${why}`, () =>
      assert.deepEqual(aggregatedRules(role, [other('y', { a: 'true' }, pods)]), []));
  }

  it('gathers by name and not by the order of the roles, selector by selector', () => {
    const all = [other('z', { a: 'true' }, nodes), other('m', { b: 'true' }, secrets), other('c', { a: 'true' }, pods)];
    assert.deepEqual(aggregatedRules(selecting(a, b), all), [pods, nodes, secrets]);
    assert.deepEqual(aggregatedRules(selecting(b, a), [...all].reverse()), [secrets, pods, nodes]);
  });

  it('has each rule once', () => {
    const all = [other('c', { a: 'true', b: 'true' }, pods, nodes, pods), other('d', { b: 'true' }, nodes, secrets)];
    assert.deepEqual(aggregatedRules(selecting(a, b), all), [pods, nodes, secrets]);
  });

  it('leaves out the role itself', () => {
    assert.deepEqual(
      aggregatedRules(selecting(a), [other('all', { a: 'true' }, secrets), other('c', { a: 'true' }, pods)]),
      [pods],
    );
  });

  it('takes all others with an empty selector', () => {
    assert.deepEqual(aggregatedRules(selecting({}), [other('c', {}, pods)]), [pods]);
  });
});

describe('sameRules()', () => {
  it('compares order, too', () => {
    assert.equal(sameRules([pods, nodes], [pods, nodes]), true);
    assert.equal(sameRules([pods, nodes], [nodes, pods]), false);
    assert.equal(sameRules([pods], [pods, nodes]), false);
  });
});

describe('writtenRule()', () => {
  it('leaves empty lists out', () => {
    assert.deepEqual(writtenRule(rule({ verbs: ['get'], nonResourceURLs: ['/x'] })), {
      verbs: ['get'],
      nonResourceURLs: ['/x'],
    });
  });
});
