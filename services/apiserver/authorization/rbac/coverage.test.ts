import assert from 'node:assert/strict';
import { EVERYTHING, heldBy, missingRights, shownList, shownRule, TooManyRights } from './coverage.js';
import type { PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { on, rule } from '../../../machinery/rbac/testing/rules.js';

const missing = (held: readonly PolicyRule[], ...wanted: readonly PolicyRule[]): readonly string[] =>
  missingRights(heldBy(held), wanted).map(shownRule);

const paths = (verbs: string, ...nonResourceURLs: string[]): PolicyRule =>
  rule({ verbs: verbs.split(','), nonResourceURLs });
const PODS = '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}';

describe('missingRights()', () => {
  const lacking: readonly (readonly [why: string, held: readonly PolicyRule[], wanted: PolicyRule, missing: string])[] =
    [
      ['nothing is held', [], on('get', 'pods'), PODS],
      ['another verb is held', [on('list', 'pods')], on('get', 'pods'), PODS],
      ['one of two verbs is held', [on('get', 'pods')], on('get,list', 'pods'), PODS.replace('get', 'list')],
      [
        'every verb is wanted and each known one held',
        [on('get,list,watch', 'pods')],
        on('*', 'pods'),
        PODS.replace('get', '*'),
      ],
      ['every resource is wanted', [on('get', 'pods')], on('get', '*'), PODS.replace('pods', '*')],
      [
        'every group is wanted',
        [on('get', 'pods')],
        rule({ verbs: ['get'], apiGroups: ['*'], resources: ['pods'] }),
        PODS.replace('""', '"*"'),
      ],
      ['one name is held and all are wanted', [on('get', 'pods', 'x')], on('get', 'pods'), PODS],
      [
        'another name is held',
        [on('get', 'pods', 'x')],
        on('get', 'pods', 'y'),
        PODS.replace(', Verbs', ', ResourceNames:["y"], Verbs'),
      ],
      ['a name is empty, which might mean all', [on('get', 'pods', '')], on('get', 'pods', ''), PODS],
      ['the parent is held', [on('get', 'pods')], on('get', 'pods/log'), PODS.replace('pods', 'pods/log')],
      ['the sub-resource is held', [on('get', 'pods/log')], on('get', 'pods'), PODS],
      [
        'one of all sub-resources of the kind is held',
        [on('get', 'pods/scale')],
        on('get', '*/scale'),
        PODS.replace('pods', '*/scale'),
      ],
      [
        'all resources are held, and a path is wanted',
        [on('*', '*')],
        paths('get', '/m'),
        '{NonResourceURLs:["/m"], Verbs:["get"]}',
      ],
      ['a path above is held', [paths('get', '/m')], paths('get', '/m/*'), '{NonResourceURLs:["/m/*"], Verbs:["get"]}'],
      [
        'a path is held and all are wanted',
        [paths('get', '/m')],
        paths('get', '*'),
        '{NonResourceURLs:["*"], Verbs:["get"]}',
      ],
      [
        'a path below is held and the one above wanted',
        [paths('get', '/m/*')],
        paths('get', '/m'),
        '{NonResourceURLs:["/m"], Verbs:["get"]}',
      ],
    ];
  for (const [why, held, wanted, tells] of lacking) {
    it(`tells what is missing when ${why}`, () => assert.deepEqual(missing(held, wanted), [tells]));
  }

  const covered: readonly (readonly [why: string, held: readonly PolicyRule[], wanted: PolicyRule])[] = [
    ['nothing is wanted', [], rule({ verbs: ['*'] })],
    ['the same is held', [on('get', 'pods')], on('get', 'pods')],
    [
      'several rules hold it together',
      [on('get', 'pods'), on('list', 'pods,nodes'), on('get', 'nodes')],
      on('get,list', 'pods,nodes'),
    ],
    ['names are wanted one by one', [on('get', 'pods', 'x'), on('get', 'pods', 'y')], on('get', 'pods', 'x', 'y')],
    ['all names are held', [on('get', 'pods')], on('get', 'pods', 'x')],
    ['every sub-resource of the kind is held', [on('get', '*/scale')], on('get', 'deployments/scale')],
    [
      'everything is held',
      EVERYTHING,
      rule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'], nonResourceURLs: ['*'] }),
    ],
    ['a path below is held', [paths('get', '/m/*')], paths('get', '/m/x/*')],
  ];
  for (const [why, held, wanted] of covered) {
    it(`misses nothing when ${why}`, () => assert.deepEqual(missing(held, wanted), []));
  }

  it('joins the verbs of one resource, and of one name', () => {
    assert.deepEqual(missing([], on('get,list', 'pods'), on('watch', 'pods'), on('get', 'pods', 'x')), [
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "watch"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["get"]}',
    ]);
  });

  const many = Array.from({ length: 300 }, (_, i) => `x${i}`);
  const million = rule({ verbs: many, apiGroups: many, resources: many });

  it('refuses to take millions of combinations apart', () => {
    assert.throws(() => missing([on('*', '*')], million), TooManyRights);
  });
  it('takes fewer combinations apart the more rules there are to hold them against', () => {
    const wanted = rule({ verbs: many, apiGroups: many.slice(0, 50), resources: ['pods'] });
    assert.equal(missing([on('get', 'pods')], wanted).length, 50);
    assert.throws(() => missing(many.slice(0, 200).flatMap((name) => many.map((verb) => on(verb, 'pods', name))), wanted), TooManyRights); // prettier-ignore
    const paths = rule({ verbs: ['get'], nonResourceURLs: Array.from({ length: 60_000 }, (_, i) => `/${i}*`) });
    assert.throws(() => missing([paths], wanted), TooManyRights);
  });
  it('needs not to, for who holds everything', () => assert.deepEqual(missing(EVERYTHING, million), []));
});

describe('shownRule()', () => {
  it('shows what there is, in the order that clients know', () => {
    const all = { verbs: ['a', 'b'], apiGroups: ['c'], resources: ['d'], resourceNames: ['e'], nonResourceURLs: ['f'] };
    const shown = '{APIGroups:["c"], Resources:["d"], NonResourceURLs:["f"], ResourceNames:["e"], Verbs:["a" "b"]}';
    assert.equal(shownRule(all), shown);
    assert.equal(shownRule(rule({})), '{}');
  });
});

describe('shownList()', () => {
  it('quotes each', () => {
    assert.equal(shownList([]), '[]');
    assert.equal(shownList(['a', 'b"c\n']), '["a" "b\\"c\\n"]');
  });
});
