import assert from 'node:assert/strict';
import fc from 'fast-check';
import { done } from '../work/work.js';
import { SLICE } from './code.js';
import { expression, LIBRARIES, type Expression } from './expression.js';
import { Functions } from './functions.js';
import { DYN, INT, type CelType } from './types.js';
import { BudgetError, CelError, CelMap, type Value } from './values.js';

const VARIABLES = new Map<string, CelType>([
  ['n', INT],
  ['any', DYN],
]);
const BUDGET = 1_000_000;

/** How often an evaluation yields until it is over, one way or the other. */
function yieldsOf(it: Expression, values: Readonly<Record<string, Value>> = {}, budget = BUDGET): number {
  const work = it.steps(values, budget);
  for (let count = 0; ; count++) {
    try {
      if (work.next().done === true) return count;
    } catch (err) {
      assert.ok(err instanceof CelError || err instanceof BudgetError, String(err));
      return count;
    }
  }
}

describe('Expression.steps()', () => {
  it('yields after so many steps at most, as long as the budget lasts', () => {
    let ticks = 0;
    const counting = new Functions([...LIBRARIES, { 'tick(): bool': () => (ticks++, true) }]);
    const rows = 'lists.range(1000)';
    const it = expression(`${rows}.all(i, ${rows}.all(j, tick()))`, new Map(), { functions: counting });
    const work = it.steps({}, BUDGET);
    const perYield: number[] = [];
    assert.throws(() => {
      while (work.next().done !== true) perYield.push(ticks - perYield.reduce((sum, n) => sum + n, 0));
    }, BudgetError);
    // Each of them costs two steps: one for the element, one for the call. A range costs a thousand at once.
    assert.ok(perYield.length >= 0.8 * (BUDGET / SLICE), `${perYield.length} yields`);
    assert.ok(Math.max(...perYield) <= SLICE / 2 + 1, `${Math.max(...perYield)} ticks`);
  });

  const LONG = 'lists.range(20000).all(i, i >= 0)';
  const NUMBERS = 'lists.range(20000).map(i, i)';
  const inside: readonly string[] = [
    LONG,
    'lists.range(20000).exists(i, i < 0)',
    'lists.range(20000).exists_one(i, i == 3)',
    'lists.range(20000).filter(i, i < 3)',
    'lists.range(20000).map(i, i > 20000, i)',
    'lists.range(20000).map(i, i)',
    'lists.range(20000).transformList(i, v, i + v)',
    'lists.range(20000).transformMap(i, v, i + v)',
    'lists.range(20000).transformMapEntry(i, v, {i: v})',
    'lists.range(20000).all(i, i / 0 == 1)',
    `[1].all(x, ${LONG})`,
    `[1].map(x, ${LONG}, x)`,
    `[1].filter(x, ${LONG})`,
    `${NUMBERS}.all(x, true)`,
    `!${LONG}`,
    `${NUMBERS}.size() == 1`,
    `[${LONG}]`,
    `[?optional.of(${LONG})]`,
    `{${LONG}: 1}`,
    `{1: ${LONG}}`,
    `{?1: optional.of(${LONG})}`,
    `{?${LONG}: optional.of(1)}`,
    `{"a": ${LONG}}.a`,
    `has({"a": ${LONG}}.a)`,
    `${LONG} && true`,
    `true && ${LONG}`,
    `${LONG} || false`,
    `false || ${LONG}`,
    `${LONG} ? 1 : 2`,
    `true ? ${LONG} : false`,
    `false ? true : ${LONG}`,
    `optional.of(${LONG}).optMap(v, v)`,
    `optional.of(1).optMap(v, ${LONG})`,
    `optional.of(1).optFlatMap(v, optional.of(${LONG}))`,
    `optional.of(${LONG}).orValue(true)`,
    `optional.none().orValue(${LONG})`,
    `optional.none().or(optional.of(${LONG}))`,
    `cel.bind(v, ${LONG}, v)`,
    `cel.bind(v, 1, ${LONG} && v == 1)`,
  ];
  describe('yields where the loop stands inside of', () => {
    for (const source of inside) {
      it(source, () => {
        const count = yieldsOf(expression(source, VARIABLES));
        assert.ok(count >= 3, `${count} yields`);
      });
    }
  });

  it('does not yield where there is little to do, or nothing of it is asked for', () => {
    for (const source of ['1 + 2', '[1, 2].all(i, i > 0)', `false && ${LONG}`, `true ? 1 : ${NUMBERS}[0]`]) {
      assert.equal(yieldsOf(expression(source, VARIABLES)), 0, source);
    }
  });

  it('ends when the budget is spent, in a loop and beside one', () => {
    for (const source of [
      LONG,
      `${LONG} || true`,
      `[${LONG}, true]`,
      `false || ${LONG} || true`,
      'lists.range(20000).all(i, i / 0 == 1)',
      `lists.range(9000).all(i, ${LONG.replace('20000', '3')} && i / 0 == 1)`,
    ]) {
      assert.throws(() => done(expression(source, VARIABLES).steps({}, 30_000)), BudgetError, source);
    }
    assert.throws(() => done(expression('1 + 2 + 3', VARIABLES).steps({}, 1)), BudgetError);
  });

  it('gives the same, and the same rest of the budget, as at once', () => {
    for (const source of inside.filter((it) => !it.includes('/ 0'))) {
      const it = expression(source, VARIABLES);
      assert.deepEqual(done(it.steps({}, BUDGET)), it.evaluate({}, BUDGET), source);
    }
  });

  it('counts the nodes around a loop as others', () => {
    const cost = (source: string): number => BUDGET - done(expression(source, VARIABLES).steps({}, BUDGET)).left;
    for (const [around, more] of [
      ['[$]', 2],
      ['!$', 1],
      ['{1: $}', 2],
      ['$ && true', 1],
      ['$ ? 1 : 2', 1],
      ['{"a": $}.a', 3],
    ] as const) {
      assert.equal(cost(around.replace('$', LONG)) - cost(LONG), more, around);
    }
  });

  it('tells of an item that is no optional value before it evaluates those after it', () => {
    for (const last of ['1 / 0', '[1].map(i, i / 0)[0]']) {
      const it = expression(`[?dyn(1), ${last}]`, VARIABLES);
      assert.throws(() => done(it.steps({}, BUDGET)), /no such overload: int where an optional is wanted/);
    }
  });

  it('may be left in the middle, and begun anew', () => {
    const it = expression(LONG, VARIABLES);
    const left = it.steps({}, BUDGET);
    left.next();
    left.return(undefined as never);
    assert.equal(done(it.steps({}, BUDGET)).value, true);
  });

  it('does not mix up evaluations that are under way at the same time', () => {
    const it = expression('lists.range(9000).map(i, i * n)[8999]', VARIABLES);
    const [one, two] = [it.steps({ n: 1n }, BUDGET), it.steps({ n: 2n }, BUDGET)];
    one.next();
    two.next();
    assert.deepEqual([done(one).value, done(two).value], [8999n, 17_998n]);
  });

  it('finds the members of some variables out in steps', () => {
    const source = {
      size: 1,
      keys: () => ['late'],
      get: () => assert.fail('in one go'),
      *found(name: string) {
        yield;
        yield;
        return name === 'late' ? 5n : undefined;
      },
    };
    const asked = (text: string) => expression(text, new Map([['any', DYN]]), { found: new Set(['any']) });
    const any = CelMap.over(source);
    for (const [text, value, yields] of [
      ['any.late + any.late', 10n, 4],
      ['has(any.late) && !has(any.never)', true, 4],
      ['any.?never.orValue(7)', 7n, 2],
      ['[1].all(i, any.late == 5)', true, 2],
      ['[{"late": 6}].map(any, any.late)[0]', 6n, 0], // another of that name
    ] as const) {
      assert.equal(yieldsOf(asked(text), { any }), yields, text);
      assert.equal(done(asked(text).steps({ any }, BUDGET)).value, value, text);
    }
    assert.throws(() => done(asked('any.never').steps({ any }, BUDGET)), /no such key: never/);
  });
});

describe('an expression with loops in it', () => {
  type Shape = (leaf: (source: string) => string) => string;
  const LEAVES = ['1', '2', 'true', 'false', '"a"', '1 / 0', 'null', '[1, 2]', '{"k": 1}', '{"k": 1}.j', 'optional.none()', 'optional.of(1)', 'optional.of(true)']; // prettier-ignore
  const FORMS: readonly ((a: string, b: string, c: string) => string)[] = [
    (a, b) => `(${a} && ${b})`,
    (a, b) => `(${a} || ${b})`,
    (a, b, c) => `(${a} ? ${b} : ${c})`,
    (a, b) => `dyn(${a} == ${b})`,
    (a, b) => `dyn(${a} + ${b})`,
    (a, b) => `dyn([${a}, ${b}])`,
    (a, b) => `dyn([?${a}, ${b}])`,
    (a, b) => `dyn({"k": ${a}, ${b}: 1})`,
    (a, b) => `dyn({?${b}: ${a}})`,
    (a) => `dyn(${a}.k)`,
    (a) => `dyn(has(${a}.k))`,
    (a) => `dyn(${a}.?k)`,
    (a, b) => `dyn(${a}.orValue(${b}))`,
    (a, b) => `dyn(${a}.or(${b}))`,
    (a, b) => `dyn(${a}.optMap(v, dyn([v, ${b}])))`,
    (a, b) => `dyn(${a}.optFlatMap(v, dyn([v, ${b}])))`,
    (a, b) => `cel.bind(v, ${a}, dyn([v, ${b}]))`,
    (a, b) => `dyn(${a}[${b}])`,
  ];
  const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
    shape: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(...LEAVES).map(
        (source): Shape =>
          (leaf) =>
            leaf(source),
      ),
      fc.tuple(fc.constantFrom(...FORMS), tie('shape'), tie('shape'), tie('shape')).map(
        ([form, a, b, c]): Shape =>
          (leaf) =>
            form(a(leaf), b(leaf), c(leaf)),
      ),
    ),
  }));
  const outcome = (source: string): string => {
    let made: Expression;
    try {
      made = expression(source, new Map());
    } catch (err) {
      return `does not compile: ${(err as Error).name}`;
    }
    try {
      return shown(done(made.steps({}, 10_000_000)).value);
    } catch (err) {
      assert.ok(err instanceof CelError, String(err));
      return `fails: ${err.message}`;
    }
  };
  const shown = (value: Value): string =>
    JSON.stringify(value, (_, it: unknown) =>
      typeof it === 'bigint' ? `${it}n` : it instanceof CelMap ? { map: [...it.entries()] } : it,
    );

  it('gives what it gives without them, or fails as that does', () => {
    const seen = { given: 0, failed: 0 };
    fc.assert(
      fc.property(shape, (of) => {
        const plain = outcome(of((leaf) => `dyn(${leaf})`));
        const looped = outcome(of((leaf) => `[0].map(z, dyn(${leaf}))[0]`));
        if (plain.startsWith('fails')) seen.failed++;
        else if (!plain.startsWith('does')) seen.given++;
        assert.equal(looped, plain);
      }),
      { numRuns: 1_000 },
    );
    assert.ok(seen.given > 50 && seen.failed > 50, JSON.stringify(seen));
  });
});
