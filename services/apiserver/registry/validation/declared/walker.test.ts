import assert from 'node:assert/strict';
import type { FieldCheck, FieldDeclaration, TypeDeclaration } from '../../../../machinery/types/declarations.js';
import { typeGraph } from '../../../../machinery/types/graph.js';
import { At } from '../checks/at.js';
import type { Problems } from '../types.js';
import type { AnyRule } from './walker.js';
import { DeclaredChecks } from './walker.js';

type Declared = Readonly<Record<string, TypeDeclaration>>;

/** What is wrong with a value of type `g/v1.Root`: places and messages. */
function problemsOf(types: Declared, value: object, rules: Readonly<Record<string, AnyRule>> = {}): readonly string[] {
  const problems: Problems = [];
  const checks = new DeclaredChecks(new Map(Object.entries(rules)));
  const type = typeGraph(new Map(Object.entries(types))).of('g/v1.Root');
  checks.visit(type, () => true)?.(At.root(problems), value as Readonly<Record<string, unknown>>);
  return problems.map(({ field, message }) => `${field}: ${message}`);
}

const field = (check: FieldCheck, type = 'string', more: Partial<FieldDeclaration> = {}): Declared => ({
  'g/v1.Root': { fields: [{ name: 'a', type, check, ...more }] },
});

describe('DeclaredChecks', () => {
  const CASES: readonly (readonly [
    what: string,
    types: Declared,
    right: readonly unknown[],
    wrong: unknown,
    problem: string,
  ])[] = [
    ['required', field({ required: true }), ['x'], '', 'a: Required value'],
    ['required, with a detail', field({ required: 'why' }), ['x'], undefined, 'a: Required value: why'],
    ['required lists', field({ required: true }, 'string', { list: true }), [['x']], [], 'a: Required value'],
    ['required numbers', field({ required: true, form: 'port' }, 'int32'), [1], 0, 'a: Required value'],
    ['enum', field({ enum: ['y', 'x'] }), ['x', ''], 'z', 'a: Unsupported value: "z": supported values: "y", "x"'],
    [
      'empty texts',
      field({ enum: ['x'], empty: 'asked' }),
      ['x'],
      '',
      'a: Unsupported value: "": supported values: "x"',
    ],
    [
      'min',
      field({ min: 0 }, 'int32'),
      [0, 1, undefined],
      -1,
      'a: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'min and max',
      field({ min: 1, max: 3 }, 'int32'),
      [1, 3],
      4,
      'a: Invalid value: 4: must be between 1 and 3, inclusive',
    ],
    ['why', field({ max: 3, why: 'is too much' }, 'int32'), [3], 4, 'a: Invalid value: 4: is too much'],
    ['zeros of what is absent', field({ min: 1, why: 'w' }, 'int32'), [1], undefined, 'a: Invalid value: 0: w'],
    ['maxBytes', field({ maxBytes: 3 }), ['abc', 'é'], 'éé', 'a: Too long: must have at most 3 bytes'],
    [
      'ports',
      field({ form: 'port' }, 'int32'),
      [1, 65535],
      65536,
      'a: Invalid value: 65536: must be between 1 and 65535, inclusive',
    ],
    [
      'ports by name',
      field({ form: 'portOrName' }, 'intOrString'),
      [80, 'http'],
      'a--b',
      'a: Invalid value: "a--b": must not contain consecutive hyphens',
    ],
    [
      'counts',
      field({ form: 'count' }, 'intOrString'),
      [0, '101%'],
      -1,
      'a: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'shares',
      field({ form: 'share' }, 'intOrString'),
      [2, '100%'],
      '101%',
      'a: Invalid value: "101%": must not be greater than 100%',
    ],
    [
      'quantities',
      field({ form: 'notNegativeQuantity' }, 'quantity'),
      ['0', '1Gi'],
      '-1',
      'a: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'plain quantities',
      field({ form: 'plainQuantity' }, 'quantity'),
      ['0'],
      '-1',
      'a: Invalid value: "-1": must be a valid resource quantity',
    ],
    [
      'positive quantities',
      field({ form: 'positiveQuantity' }, 'quantity'),
      ['1'],
      '0',
      'a: Invalid value: "0": must be greater than zero',
    ],
    [
      'labels',
      field({ form: 'labels' }, 'string', { map: true }),
      [{ a: 'b' }],
      { a: 'x'.repeat(64) },
      `a: Invalid value: "${'x'.repeat(64)}": must be no more than 63 characters`,
    ],
    [
      'annotations',
      field({ form: 'annotations' }, 'string', { map: true }),
      [{ 'A/b': '' }],
      { 'a/b/c': '' },
      'a: Invalid value: "a/b/c": a qualified name must consist',
    ],
    [
      'drivers',
      field({ form: 'driver' }),
      ['CSI.example.com'],
      'x'.repeat(64),
      'a: Too long: must have at most 63 bytes',
    ],
    [
      'maxItems',
      field({ maxItems: 1, items: { enum: ['x'] } }, 'string', { list: true }),
      [['x']],
      ['y', 'z'],
      'a: Too many: 2: must have at most 1 items',
    ],
    [
      'alone',
      field({ alone: 'verbs' }, 'string', { list: true }),
      [['*'], ['a', 'b']],
      ['*', 'a'],
      `a: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other verbs`,
    ],
    [
      'items',
      field({ items: { enum: ['x'] } }, 'string', { list: true }),
      [['x'], null],
      ['x', 'y'],
      'a[1]: Unsupported value: "y": supported values: "x"',
    ],
    [
      'items, at the list',
      field({ items: { enum: ['x'], at: 'list' } }, 'string', { list: true }),
      [['x']],
      ['y'],
      'a: Unsupported value: "y": supported values: "x"',
    ],
    [
      'unique items',
      field({ unique: '' }, 'string', { list: true }),
      [
        ['x', 'y'],
        ['', ''],
      ],
      ['x', 'x'],
      'a[1]: Duplicate value: "x"',
    ],
    [
      'unique items, empty ones too',
      field({ unique: '', empty: 'asked' }, 'string', { list: true }),
      [['']],
      ['', ''],
      'a[1]: Duplicate value: ""',
    ],
  ];
  for (const [what, types, right, wrong, problem] of CASES) {
    it(`checks ${what}`, () => {
      for (const value of right) assert.deepEqual(problemsOf(types, { a: value }), [], JSON.stringify(value));
      const found = problemsOf(types, { a: wrong });
      assert.equal(found.length, 1, found.join());
      assert.ok(found[0]?.startsWith(problem), found[0]);
    });
  }

  it('refuses a rule for texts that nobody has written', () => {
    assert.throws(() => problemsOf(field({ rule: 'no-such-rule' }), { a: 'x' }), /no-such-rule/);
  });

  const RULES: readonly (readonly [rule: string, wrong: string])[] = [
    ['absolute-path', 'a'],
    ['any-or-subdomain', 'A'],
    ['condition-reason', '-'],
    ['data-key', 'a b'],
    ['descending-path', '/a/..'],
    ['dns1035-label', '1'],
    ['dns1123-label', 'a.b'],
    ['dns1123-subdomain', 'A'],
    ['env-var-name', '1'],
    ['host', 'a.*'],
    ['http-header-name', 'a b'],
    ['ip', '1'],
    ['label-value', '-'],
    ['local-path', '/a'],
    ['path-segment', 'a/b'],
    ['percentage', '1'],
    ['port-name', '-a'],
    ['public-ip', '127.0.0.1'],
    ['qualified-name', 'a b'],
    ['unreserved-path', '..a'],
    ['wwn', 'x'],
  ];
  for (const [rule, wrong] of RULES) {
    it(`asks ${rule}`, () => {
      assert.match(problemsOf(field({ rule }), { a: wrong })[0] ?? '', /^a: Invalid value: /);
      assert.deepEqual(problemsOf(field({ rule }), { a: '' }), [], 'what may be left out may be empty');
    });
  }

  it('asks nothing of what is absent and nullable, or has a default', () => {
    for (const types of [
      field({ rule: 'dns1123-label', min: 1 }, 'string', { nullable: true }),
      field({ min: 1, empty: 'skipped' }, 'int32'),
      field({ required: true, empty: 'skipped' }, 'string', { list: true }),
    ]) {
      assert.deepEqual(problemsOf(types, {}), []);
    }
    assert.equal(problemsOf(field({ rule: 'dns1123-label' }, 'string', { nullable: true }), { a: '' }).length, 1);
    assert.equal(problemsOf(field({ rule: 'dns1123-label' }, 'string', { alwaysEmit: true }), {}).length, 1);
  });

  it('asks several checks whatever came of those before, and one until there is no use in more', () => {
    const both = {
      'g/v1.Root': {
        fields: [
          {
            name: 'a',
            type: 'string',
            alwaysEmit: true as const,
            check: [{ required: true as const }, { rule: 'dns1123-label' }],
          },
        ],
      },
    };
    assert.equal(problemsOf(both, {}).length, 2);
    assert.equal(problemsOf(field({ required: true, rule: 'dns1123-label' }), {}).length, 1);
  });

  const NESTED: Declared = {
    'g/v1.Root': {
      fields: [
        { name: 'one', type: 'g/v1.Inner' },
        { name: 'list', type: 'g/v1.Inner', list: true },
        { name: 'map', type: 'g/v1.Inner', map: true },
        { name: 'maybe', type: 'g/v1.Inner', nullable: true },
        { name: 'none', type: 'g/v1.Inner', check: 'none' },
        { name: 'again', type: 'g/v1.Root', nullable: true },
      ],
    },
    'g/v1.Inner': { fields: [{ name: 'a', type: 'string', check: { required: true } }] },
  };

  it('goes to every place of a type, in the order of the declaration', () => {
    const value = { map: { k: {} }, list: [{ a: 'x' }, {}], none: {}, again: { one: { a: 'x' }, maybe: {} } };
    assert.deepEqual(problemsOf(NESTED, value), [
      'one.a: Required value',
      'list[1].a: Required value',
      'map[k].a: Required value',
      'again.maybe.a: Required value',
    ]);
  });

  it('asks the rules of types after their fields, or before those that are not first', () => {
    const types: Declared = {
      'g/v1.Root': {
        checkedFirst: ['c'],
        fields: ['a', 'b', 'c'].map((name) => ({ name, type: 'string', check: { required: true as const } })),
      },
    };
    const rule: AnyRule = { first: (at) => at.required('first'), last: (at) => at.required('last') };
    assert.deepEqual(
      problemsOf(types, {}, { 'g/v1.Root': rule }).map((problem) => problem.split(':', 1)[0]),
      ['c', 'first', 'a', 'b', 'last'],
    );
  });

  it('asks the rules of inlined types of the type that they are part of', () => {
    const types: Declared = {
      'g/v1.Root': { fields: [{ name: 'p', type: 'g/v1.Part', inline: true, within: { a: { required: 'here' } } }] },
      'g/v1.Part': { fields: [{ name: 'a', type: 'string' }] },
    };
    assert.deepEqual(problemsOf(types, {}, { 'g/v1.Part': (at: At) => at.required('rule') }), [
      'a: Required value: here',
      'rule: Required value',
    ]);
  });

  it('asks what is asked in one place of members of a shared type', () => {
    const types: Declared = {
      'g/v1.Root': {
        fields: [
          { name: 'ref', type: 'g/v1.Ref', nullable: true, within: { name: { required: true } } },
          { name: 'other', type: 'g/v1.Ref', nullable: true },
        ],
      },
      'g/v1.Ref': { fields: [{ name: 'name', type: 'string' }] },
    };
    assert.deepEqual(problemsOf(types, { ref: {}, other: {} }), ['ref.name: Required value']);
    assert.deepEqual(problemsOf(types, {}), []);
  });

  it('wants exactly one of the members that exclude each other, and looks into the first', () => {
    const types: Declared = {
      'g/v1.Root': {
        oneOf: { except: ['name'], none: 'one of them', more: 'one alone' },
        fields: [
          { name: 'name', type: 'string' },
          { name: 'a', type: 'g/v1.Inner', nullable: true },
          { name: 'b', type: 'g/v1.Inner', nullable: true },
        ],
      },
      'g/v1.Inner': NESTED['g/v1.Inner'] ?? {},
    };
    assert.deepEqual(problemsOf(types, { name: 'x' }), [': Required value: one of them']);
    assert.deepEqual(problemsOf(types, { a: {}, b: {} }), ['a.a: Required value', 'b: Forbidden: one alone']);
    assert.deepEqual(problemsOf(types, { b: { a: 'x' } }), []);
  });

  it('compares what is immutable, where both states have a place for it', () => {
    const types: Declared = {
      'g/v1.Root': {
        fields: [
          { name: 'a', type: 'string', check: { immutable: true } },
          { name: 'in', type: 'g/v1.In' },
          { name: 'list', type: 'g/v1.In', list: true },
        ],
      },
      'g/v1.In': { fields: [{ name: 'b', type: 'string', list: true, check: { immutable: true } }] },
    };
    const type = typeGraph(new Map(Object.entries(types))).of('g/v1.Root');
    const problems: Problems = [];
    const compare = new DeclaredChecks(new Map()).compare(type, () => true);
    compare?.(
      At.root(problems),
      { a: 'x', in: { b: ['x'] }, list: [{ b: ['y'] }] },
      { in: { b: ['x', 'y'] }, list: [] },
    );
    assert.deepEqual(
      problems.map(({ field: place, message }) => `${place}: ${message}`),
      ['a: Invalid value: "x": field is immutable', 'in.b: Invalid value: ["x"]: field is immutable'],
    );
  });

  it('has nothing to do for types without checks', () => {
    const types = typeGraph(
      new Map(Object.entries<TypeDeclaration>({ 'g/v1.Root': { fields: [{ name: 'a', type: 'string' }] } })),
    );
    const checks = new DeclaredChecks(new Map());
    assert.equal(
      checks.visit(types.of('g/v1.Root'), () => true),
      undefined,
    );
    assert.equal(
      checks.compare(types.of('g/v1.Root'), () => true),
      undefined,
    );
  });
});
