import assert from 'node:assert/strict';
import type { TypeDeclaration } from '../types/declarations.js';
import { typeGraph } from '../types/graph.js';
import { withAlwaysShown } from './always-shown.js';

const always = { alwaysEmit: true } as const;
const DECLARED = new Map<string, TypeDeclaration>([
  [
    'x/v1.T',
    {
      fields: [
        { name: 'head', type: 'x/v1.Head', inline: true },
        { name: 'count', type: 'int32', ...always },
        { name: 'note', type: 'string' },
        { name: 'inner', type: 'x/v1.Inner' },
        { name: 'always', type: 'x/v1.Inner', ...always },
        { name: 'list', type: 'x/v1.Inner', list: true },
        { name: 'map', type: 'x/v1.Inner', map: true },
      ],
    },
  ],
  ['x/v1.Head', { fields: [{ name: 'kind', type: 'string' }] }],
  ['x/v1.Inner', { fields: [{ name: 'ready', type: 'bool', ...always }] }],
]);
const TYPE = typeGraph(DECLARED).of('x/v1.T');
const shown = (value: unknown): unknown => withAlwaysShown(TYPE, value);

describe('withAlwaysShown()', () => {
  it('fills in what is missing, in declared order, at every depth where the parent is there', () => {
    const value = { apiVersion: 'x/v1', list: [{}, { ready: true }], map: { a: {} }, inner: {}, kind: 'T' };
    assert.equal(
      JSON.stringify(shown(value)),
      '{"kind":"T","count":0,"inner":{"ready":false},"always":{"ready":false},"list":[{"ready":false},{"ready":true}],"map":{"a":{"ready":false}},"apiVersion":"x/v1"}',
    );
    assert.deepEqual(Object.keys(shown({}) as object), ['count', 'always'], 'parents that are away stay away');
  });

  it('gives back the very value that lacks nothing, and the very parts that lack nothing', () => {
    const list = [{ ready: true }];
    const whole = { count: 1, always: { ready: true }, list };
    assert.equal(shown(whole), whole);
    assert.equal((shown({ count: 1, list }) as { list: unknown }).list, list);
  });

  it('gives out a value of its own each time', () => {
    const first = shown({}) as { always: { ready: boolean } };
    first.always.ready = true;
    assert.deepEqual(shown({}), { count: 0, always: { ready: false } });
  });

  it('leaves values of another shape as they are', () => {
    const odd = { count: 'x', always: [1], list: 'no list', map: null, inner: 7 };
    assert.equal(shown(odd), odd);
    for (const value of [null, 'x', 1, [{}]]) assert.equal(shown(value), value);
  });
});
