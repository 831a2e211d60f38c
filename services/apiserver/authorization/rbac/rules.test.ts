import assert from 'node:assert/strict';
import type { Attributes } from '../authorizer.js';
import { CompiledRole, questionOf } from './compiled-role.js';
import { rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { covers } from './rules.js';
import { on, rule } from '../../../machinery/rbac/testing/rules.js';
import { ask, askPath } from './testing/rbac-scene.js';
import { processorMs } from '../../../machinery/testing/processor-time.js';

type Case = readonly [why: string, rule: PolicyRule, asked: Attributes];

const REFUSED: readonly Case[] = [
  ['no rule at all', rule({}), ask('get', 'pods', 'a', 'x')],
  ['no verbs', on('', 'pods'), ask('get', 'pods', 'a', 'x')],
  ['another verb', on('list', 'pods'), ask('get', 'pods', 'a', 'x')],
  ['another case of the verb', on('Get', 'pods'), ask('get', 'pods', 'a', 'x')],
  ['another case of the resource', on('get', 'Pods'), ask('get', 'pods', 'a', 'x')],
  ['a look-alike of the resource', on('get', 'рods'), ask('get', 'pods', 'a', 'x')], // Cyrillic
  ['another group', rule({ verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }), ask('get', 'pods')],
  ['no group', rule({ verbs: ['get'], resources: ['pods'] }), ask('get', 'pods')],
  ['a beginning of the resource', on('get', 'pod'), ask('get', 'pods')],
  ['a pattern that is none', on('get', 'pod*'), ask('get', 'pods')],
  ['a pattern of verbs', on('g*', 'pods'), ask('get', 'pods')],
  ['a sub-resource for its parent', on('get', 'pods/log'), ask('get', 'pods', 'a', 'x')],
  ['a parent for its sub-resource', on('get', 'pods'), ask('get', 'pods/log', 'a', 'x')],
  ['any sub-resource', on('get', 'pods/*'), ask('get', 'pods/log', 'a', 'x')],
  ['another sub-resource of all', on('get', '*/status'), ask('get', 'pods/scale', 'a', 'x')],
  ['an end of a sub-resource', on('get', '*/og'), ask('get', 'pods/log', 'a', 'x')],
  ['a sub-resource of all for what has none', on('get', '*/'), ask('get', 'pods', 'a', 'x')],
  ['another name', on('get', 'pods', 'y'), ask('get', 'pods', 'a', 'x')],
  ['another case of the name', on('get', 'pods', 'X'), ask('get', 'pods', 'a', 'x')],
  ['a name for creating', on('create', 'pods', 'x'), ask('create', 'pods', 'a')],
  ['a name for listing', on('list', 'pods', 'x'), ask('list', 'pods', 'a')],
  ['a name for watching', on('watch', 'pods', 'x'), ask('watch', 'pods', 'a')],
  ['a name for deleting all', on('deletecollection', 'pods', 'x'), ask('deletecollection', 'pods', 'a')],
  ['an empty name for listing', on('list', 'pods', ''), ask('list', 'pods', 'a')],
  ['a star as a name', on('get', 'pods', '*'), ask('get', 'pods', 'a', 'x')],
  ['deleting for deleting all', on('delete', 'pods'), ask('deletecollection', 'pods', 'a')],
  ['resources for a path', on('*', '*'), askPath('get', '/metrics')],
  ['paths for a resource', rule({ verbs: ['*'], nonResourceURLs: ['*'] }), ask('get', 'pods')],
  ['another path', rule({ verbs: ['get'], nonResourceURLs: ['/healthz'] }), askPath('get', '/healthz/ping')],
  ['a path with a slash more', rule({ verbs: ['get'], nonResourceURLs: ['/healthz'] }), askPath('get', '/healthz/')],
  ['what a path begins with', rule({ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }), askPath('get', '/healthz')],
  ['a star inside a path', rule({ verbs: ['get'], nonResourceURLs: ['/a*b'] }), askPath('get', '/axb')],
  ['another case of a path', rule({ verbs: ['get'], nonResourceURLs: ['/Metrics'] }), askPath('get', '/metrics')],
  ['another method of a path', rule({ verbs: ['get'], nonResourceURLs: ['/metrics'] }), askPath('post', '/metrics')],
];

const ALLOWED: readonly Case[] = [
  ['the same', on('get', 'pods'), ask('get', 'pods', 'a', 'x')],
  ['one of several', on('list,get', 'nodes,pods'), ask('get', 'pods', 'a', 'x')],
  ['every verb', on('*', 'pods'), ask('nonsense', 'pods', 'a', 'x')],
  ['every resource', on('get', '*'), ask('get', 'pods', 'a', 'x')],
  ['every resource and its sub-resources', on('get', '*'), ask('get', 'pods/log', 'a', 'x')],
  [
    'every group',
    rule({ verbs: ['get'], apiGroups: ['*'], resources: ['pods'] }),
    ask('get', 'pods', 'a', 'x', 'apps'),
  ],
  ['a sub-resource', on('get', 'pods/log'), ask('get', 'pods/log', 'a', 'x')],
  ['a sub-resource of all', on('get', '*/scale'), ask('get', 'deployments/scale', 'a', 'x')],
  ['a name', on('get', 'pods', 'y', 'x'), ask('get', 'pods', 'a', 'x')],
  ['a name for a list that asks for it', on('list', 'pods', 'x'), ask('list', 'pods', 'a', 'x')],
  ['a path', rule({ verbs: ['get'], nonResourceURLs: ['/healthz'] }), askPath('get', '/healthz')],
  ['a path below', rule({ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }), askPath('get', '/healthz/ping')],
  ['the slash before a star', rule({ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }), askPath('get', '/healthz/')],
  ['every path', rule({ verbs: ['*'], nonResourceURLs: ['*'] }), askPath('get', '/metrics')],
  ['several stars', rule({ verbs: ['get'], nonResourceURLs: ['/a**'] }), askPath('get', '/a')],
  ['a star that is asked for', rule({ verbs: ['get'], nonResourceURLs: ['/a*b'] }), askPath('get', '/a*b')],
];

describe('covers()', () => {
  for (const [why, given, asked] of REFUSED) it(`refuses ${why}`, () => assert.equal(covers(given, asked), false));
  for (const [why, given, asked] of ALLOWED) it(`allows ${why}`, () => assert.equal(covers(given, asked), true));
});

describe('CompiledRole', () => {
  const allows = (rules: readonly PolicyRule[], asked: Attributes): boolean =>
    new CompiledRole(rules).allows(questionOf(asked));

  for (const [why, given, asked] of REFUSED) it(`refuses ${why}`, () => assert.equal(allows([given], asked), false));
  for (const [why, given, asked] of ALLOWED) it(`allows ${why}`, () => assert.equal(allows([given], asked), true));

  it('does not join what different rules say', () => {
    const rules = [on('get', 'pods', 'x'), on('delete', 'pods', 'y'), on('list', 'nodes')];
    assert.equal(allows(rules, ask('delete', 'pods', 'a', 'x')), false);
    assert.equal(allows(rules, ask('get', 'pods', 'a', 'y')), false);
    assert.equal(allows(rules, ask('list', 'pods', 'a')), false);
    assert.equal(allows(rules, ask('delete', 'pods', 'a', 'y')), true);
  });

  it('does not join the verbs of different paths', () => {
    const rules = [
      rule({ verbs: ['get'], nonResourceURLs: ['/a', '/b*'] }),
      rule({ verbs: ['post'], nonResourceURLs: ['/a/*'] }),
    ];
    assert.equal(allows(rules, askPath('post', '/a')), false);
    assert.equal(allows(rules, askPath('post', '/b')), false);
    assert.equal(allows(rules, askPath('get', '/a/x')), false);
    assert.equal(allows(rules, askPath('post', '/a/x')), true);
  });

  it('takes a rule for each of thousands of names', () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => on('get', 'secrets', `s-${i}`));
    const role = new CompiledRole(rules);
    const question = questionOf(ask('get', 'secrets', 'a', 'no'));
    const tookMs = processorMs(() => {
      for (let i = 0; i < 20_000; i++) role.allows(question);
    });
    assert.ok(tookMs < 500); // going through the rules would be seconds
    assert.equal(role.allows(questionOf(ask('get', 'secrets', 'a', 's-19999'))), true);
  });

  it('is no larger than its text when its members multiply', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `x${i}`);
    const role = new CompiledRole([rule({ verbs: many, apiGroups: many, resources: many, resourceNames: many })]);
    assert.equal(role.allows(questionOf(ask('x1', 'x2', '', 'x3', 'x4'))), true);
    assert.equal(role.allows(questionOf(ask('x1', 'x2', '', 'y', 'x4'))), false);
  });
});

describe('rulesOf()', () => {
  const sound = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

  for (const [why, rules] of [
    ['that are no list', { 0: sound }],
    ['that are text', 'get'],
    ['that are null', null],
    ['with something else among them', ['get', null, 1, [sound]]],
    ['with verbs of another shape', [{ ...sound, verbs: 'get' }]],
    ['with a verb that is no text', [{ ...sound, verbs: ['get', 1] }]],
    ['with names of another shape, which would restrict it', [{ ...sound, resourceNames: 'x' }]],
    ['with names that are null', [{ ...sound, resourceNames: null }]],
    ['with a resource that is null', [{ ...sound, resources: [null] }]],
  ] as const) {
    it(`finds none in rules ${why}`, () => assert.deepEqual(rulesOf({ rules }), []));
  }

  it('finds none in what is no object', () => {
    for (const role of [undefined, null, 'x', 1, []]) assert.deepEqual(rulesOf(role), []);
  });

  it('keeps the sound ones', () => {
    assert.deepEqual(rulesOf({ rules: [{ ...sound, verbs: null }, sound] }), [on('get', 'pods')]);
  });

  it('reads no members that are inherited', () => {
    assert.deepEqual(rulesOf(JSON.parse('{"__proto__":{"rules":[{"verbs":["*"]}]}}')), []);
  });
});
