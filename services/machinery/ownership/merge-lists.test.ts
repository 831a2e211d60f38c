import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mergeLists } from './merge-lists.js';

const letters = (text: string): readonly string[] => Array.from(text);
const merged = (live: string, config: string): string =>
  mergeLists(
    letters(live),
    letters(config),
    (item) => item,
    (_live, item) => item,
  ).join('');

describe('mergeLists()', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['abc', '', 'abc'],
    ['', 'abc', 'abc'],
    ['abc', 'b', 'abc'],
    ['abc', 'x', 'abcx'],
    ['abc', 'cxa', 'bcxa'],
    ['ab', 'xa', 'xab'],
    ['ab', 'ax', 'abx'],
    ['abc', 'cba', 'cba'],
    ['abcd', 'dyb', 'acdyb'],
    ['aab', 'b', 'aab'],
    ['aba', 'a', 'ab'],
  ];
  for (const [live, config, expected] of cases) {
    it(`lays ${config || 'nothing'} over ${live || 'nothing'} as ${expected}`, () => {
      assert.equal(merged(live, config), expected);
    });
  }

  it('merges items of one name, unless several have it', () => {
    const merge = (live: string, config: string): string => `${live}+${config}`;
    const first = (text: string): unknown => text[0];
    const lay = (live: readonly string[], config: readonly string[]): readonly unknown[] =>
      mergeLists(
        live,
        config,
        (item) => first(item as string),
        (a, b) => merge(a as string, b as string),
      );
    assert.deepEqual(lay(['a1', 'b1'], ['a2']), ['a1+a2', 'b1']);
    assert.deepEqual(lay(['a1', 'b1', 'a2'], ['a3']), ['a3', 'b1']);
  });

  it('has every item once, the applied ones and the others in their own orders', () => {
    const list = fc.uniqueArray(fc.constantFrom(...letters('abcdefgh')));
    fc.assert(
      fc.property(list, list, (live, config) => {
        const out = letters(merged(live.join(''), config.join('')));
        assert.deepEqual([...out].sort(), [...new Set([...live, ...config])].sort());
        assert.deepEqual(
          out.filter((item) => config.includes(item)),
          config,
        );
        assert.deepEqual(
          out.filter((item) => !config.includes(item)),
          live.filter((item) => !config.includes(item)),
        );
        assert.equal(merged(out.join(''), config.join('')), out.join(''));
      }),
    );
  });
});
