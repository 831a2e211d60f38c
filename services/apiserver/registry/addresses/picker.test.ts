import assert from 'node:assert/strict';
import fc from 'fast-check';
import { pick } from './picker.js';

/** A range and which of it is in use. */
const scenes = fc
  .record({
    used: fc.array(fc.boolean(), { maxLength: 200 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.nat(),
  })
  .map(({ used, part, seed }) => ({ used, lastChosen: Math.floor(part * used.length), seed }));

/** Any numbers do: the picker must not depend on luck. */
const numbers = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
};

describe('pick()', () => {
  it('finds something free if there is, and among the first only if there is nothing else', () => {
    fc.assert(
      fc.property(scenes, ({ used, lastChosen, seed }) => {
        const isFree = (at: number): boolean => used[at] === false;
        const picked = pick({ size: used.length, lastChosen }, isFree, numbers(seed));
        if (picked === undefined) assert.ok(used.every((it) => it));
        else assert.ok(isFree(picked));
        if (picked !== undefined && picked < lastChosen) assert.ok(used.slice(lastChosen).every((it) => it));
      }),
    );
  });

  it('gives out a whole range, each of it once', () => {
    const used = new Set<number>();
    for (let i = 0; i < 500; i++) used.add(pick({ size: 500, lastChosen: 30 }, (at) => !used.has(at)) ?? assert.fail());
    assert.equal(used.size, 500);
    assert.equal(
      pick({ size: 500, lastChosen: 30 }, (at) => !used.has(at)),
      undefined,
    );
  });

  it('looks at few places while a range is half full', () => {
    let looks = 0;
    for (let i = 0; i < 1_000; i++) pick({ size: 1_000_000, lastChosen: 256 }, (at) => ++looks > 0 && at % 2 === 0);
    assert.ok(looks < 4_000, `${looks} looks`);
  });
});
