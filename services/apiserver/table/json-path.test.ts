import assert from 'node:assert/strict';
import { compileJsonPath, jsonPathOf } from './json-path.js';

const OBJECT = {
  spec: {
    replicas: 2,
    'dotted.name/x': 'd',
    list: [{ n: 'a', v: 1 }, { n: 'b', v: 2 }, { n: 'c' }],
    map: { x: 1, y: 2 },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Live', status: 'False' },
    ],
    nothing: null,
  },
};

describe('compileJsonPath()', () => {
  const cases: readonly (readonly [path: string, ...found: unknown[]])[] = [
    ['.spec.replicas', 2],
    ['spec.replicas', 2],
    ['.spec.missing'],
    ['.status.nothing', null],
    ['.spec.dotted\\.name/x', 'd'],
    [".spec['dotted.name/x']", 'd'],
    ['["spec"].replicas', 2],
    ['.spec.list[0].n', 'a'],
    ['.spec.list[-1].n', 'c'],
    ['.spec.list[7].n'],
    ['.spec.list[*].v', 1, 2],
    ['.spec.list[0:2].n', 'a', 'b'],
    ['.spec.list[::2].n', 'a', 'c'],
    ['.spec.list[0,2].n', 'a', 'c'],
    [".spec.map['x','y']", 1, 2],
    ['.spec.map.*', 1, 2],
    ['..v', 1, 2],
    ['.spec.list[?(@.n=="b")].v', 2],
    ['.spec.list[?(@.v >= 2)].n', 'b'],
    ['.spec.list[?(@.v != 1)].n', 'b', 'c'],
    ['.spec.list[?(@.v)].n', 'a', 'b'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True'],
    ['.__proto__'],
    ['.constructor.name'],
  ];
  for (const [path, ...found] of cases) {
    it(path, () => assert.deepEqual(compileJsonPath(path).all(OBJECT), found));
  }

  it('refuses what is no path', () => {
    for (const path of ['.a[', '.a]', '.a[x]', '.a b', '.a[?(b)]', 'a'.repeat(5_000)]) {
      assert.throws(() => compileJsonPath(path), /not a path|characters/, path);
    }
  });

  it('is bounded in what it finds', () => {
    const wide = Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => [1]));
    assert.ok(compileJsonPath('..[*][*]').all(wide).length <= 10_000);
  });
});

describe('jsonPathOf()', () => {
  it('leads nowhere for what is no path', () => assert.deepEqual(jsonPathOf('.a[').all(OBJECT), []));
});
