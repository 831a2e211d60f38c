import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './durations.js';

describe('formatDuration()', () => {
  const cases: readonly (readonly [nanos: bigint, text: string])[] = [
    [0n, '0s'],
    [1n, '1ns'],
    [1_100n, '1.1µs'],
    [2_200_000n, '2.2ms'],
    [3_300_000_000n, '3.3s'],
    [60_000_000_000n, '1m0s'],
    [245_000_000_000n, '4m5s'],
    [245_001_000_000n, '4m5.001s'],
    [7_200_000_000_000n, '2h0m0s'],
    [18_367_001_000_000n, '5h6m7.001s'],
    [-90_000_000_000n, '-1m30s'],
    [2n ** 63n - 1n, '2562047h47m16.854775807s'],
    [-(2n ** 63n), '-2562047h47m16.854775808s'],
  ];
  for (const [nanos, text] of cases) {
    it(`writes ${text}`, () => {
      assert.equal(formatDuration(nanos), text);
    });
  }

  it('is read back exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (nanos) => {
        assert.equal(parseDuration(formatDuration(nanos)), nanos);
      }),
    );
  });
});

describe('parseDuration()', () => {
  it('adds up the parts', () => {
    assert.equal(parseDuration('1h1m1s1ms1us1ns'), 3_661_001_001_001n);
    assert.equal(parseDuration('.5s'), 500_000_000n);
    assert.equal(parseDuration('1.s'), 1_000_000_000n);
    assert.equal(parseDuration('+1.25h'), 4_500_000_000_000n);
    assert.equal(parseDuration('0'), 0n);
  });

  it('cuts what is finer than a nanosecond', () => {
    assert.equal(parseDuration('1.0000000019s'), 1_000_000_001n);
  });

  it('gives the longest instead of a longer one', () => {
    assert.equal(parseDuration('99999999999h'), 2n ** 63n - 1n);
    assert.equal(parseDuration('-99999999999h'), 1n - 2n ** 63n);
  });
});
