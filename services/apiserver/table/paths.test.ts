import assert from 'node:assert/strict';
import { compilePath } from './paths.js';

const object = {
  a: { b: 1, 'c.d/e': 2 },
  list: [
    { type: 'x', v: { w: 1 }, names: ['p', 'q'] },
    { type: 'y', v: { w: 2 } },
    { type: 'x', v: null, names: ['r'] },
  ],
};

describe('compilePath()', () => {
  const cases: readonly (readonly [path: string, all: readonly unknown[]])[] = [
    ['a.b', [1]],
    ['.a.b', [1]],
    ['a["c.d/e"]', [2]],
    ["a['c.d/e']", [2]],
    ['list[1].type', ['y']],
    ['list[-1].type', ['x']],
    ['list[9].type', []],
    ['list[*].type', ['x', 'y', 'x']],
    ['list[*].names[*]', ['p', 'q', 'r']],
    ['list[*].v.w', [1, 2]],
    ['list[?(@.type=="x")].names', [['p', 'q'], ['r']]],
    ["list[?(@.v.w == 'no')].type", []],
    ['a[*]', [1, 2]],
    ['none.of.it', []],
    ['a.b.c', []],
    ['constructor', []],
    ['a.__proto__.toString', []],
    ['list.length', []],
  ];
  for (const [path, all] of cases) {
    it(`finds ${JSON.stringify(all)} at ${path}`, () => {
      const compiled = compilePath(path);
      assert.deepEqual(compiled.all(object), all);
      assert.deepEqual(compiled.first(object), all[0]);
    });
  }

  it('takes any value for a root', () => {
    for (const root of [undefined, null, 3, 'text', []]) assert.equal(compilePath('a.b').first(root), undefined);
  });

  it('refuses what is no path', () => {
    for (const text of ['a..b', 'a[', 'a[x]', 'a b', 'a[?(@.b=1)]'])
      assert.throws(() => compilePath(text), /Not a path/);
  });
});
