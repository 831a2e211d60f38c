import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dealHand, flowHash } from './hand.js';

const SEED = { high: 0x1234_5678, low: 0x2468_ace0 };

describe('dealHand()', () => {
  it('deals different queues, all of them there, and the same to a flow each time', () => {
    const hash = fc.record({ high: fc.integer(), low: fc.integer() });
    fc.assert(
      fc.property(hash, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 12 }), (of, queues, handSize) => {
        const hand = dealHand(of, queues, handSize);
        assert.equal(hand.length, Math.min(queues, handSize));
        assert.equal(new Set(hand).size, hand.length);
        for (const queue of hand) assert.ok(Number.isInteger(queue) && queue >= 0 && queue < queues, String(queue));
        assert.deepEqual(dealHand(of, queues, handSize), hand);
      }),
    );
  });

  it('deals every queue about as often as any other', () => {
    const dealt = new Array<number>(64).fill(0);
    const flows = 4_000;
    for (let i = 0; i < flows; i++) {
      for (const queue of dealHand(flowHash(SEED, 'schema', `user-${i}`), 64, 6))
        dealt[queue] = (dealt[queue] ?? 0) + 1;
    }
    const each = (flows * 6) / 64; // 375, and a deviation of 18
    for (const count of dealt) assert.ok(Math.abs(count - each) < 6 * 18, `${count} instead of about ${each}`);
  });

  it('deals hardly two flows the same hand', () => {
    const hands = new Set<string>();
    for (let i = 0; i < 5_000; i++) hands.add(dealHand(flowHash(SEED, 'schema', `user-${i}`), 128, 6).join());
    assert.ok(hands.size > 4_990, String(hands.size));
  });
});

describe('flowHash()', () => {
  for (const [what, a, b] of [
    ['users', ['s', 'alice'], ['s', 'bob']],
    ['schemas', ['s', 'alice'], ['t', 'alice']],
    ['where the schema ends', ['ab', 'c'], ['a', 'bc']],
    ['a user and nobody', ['s', 'a'], ['s', '']],
    ['what stands last in a long name', ['s', `${'x'.repeat(500)}a`], ['s', `${'x'.repeat(500)}b`]],
  ] as const) {
    it(`tells ${what} apart`, () => {
      assert.notDeepEqual(flowHash(SEED, a[0], a[1]), flowHash(SEED, b[0], b[1]));
    });
  }

  it('leads elsewhere in another process', () => {
    const other = { high: 1, low: 2 };
    assert.notDeepEqual(flowHash(SEED, 's', 'alice'), flowHash(other, 's', 'alice'));
  });
});
