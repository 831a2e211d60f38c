import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addQuantities, canonicalQuantity, negatedQuantity, quantityAmount } from './quantity.js';
import { processorMs } from '../testing/processor-time.js';

const CASES: Readonly<Record<string, string>> = {
  '0': '0',
  '0Gi': '0',
  '-0': '0',
  '1': '1',
  '+1': '1',
  '01': '1',
  '1000': '1k',
  '1000m': '1',
  '1500m': '1500m',
  '0.5': '500m',
  '.5': '500m',
  '5.': '5',
  '1.5': '1500m',
  '1024': '1024',
  '1024Mi': '1Gi',
  '1.5Gi': '1536Mi',
  '0.5Ki': '512',
  '0.1Ki': '102400m',
  '1e3': '1e3',
  '1E3': '1e3',
  '1e2': '100',
  '5e-3': '5e-3',
  '12E': '9223372036854775807',
  '1E': '1E',
  '1e100000': '9223372036854775807',
  '0.1n': '1n',
  '-0.1n': '-1n',
  '-2Gi': '-2Gi',
  '123456789123456789': '123456789123456789',
};

describe('canonicalQuantity()', () => {
  for (const [text, canonical] of Object.entries(CASES)) {
    it(`writes ${text} as ${canonical}`, () => assert.equal(canonicalQuantity(text), canonical));
  }

  for (const text of ['', '.', '-', 'm', '1x', '1 ', '1mi', '1e', '1e+', '1..5', '1.5.5', 'NaN', '0x1', '1Ki1']) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(canonicalQuantity(text), undefined));
  }

  it('refuses a number of millions of digits at once', () => {
    const refuse = (): void => assert.equal(canonicalQuantity('9'.repeat(3_000_000)), undefined);
    assert.ok(processorMs(refuse) < 1_000);
  });

  it('leaves canonical texts alone', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-3');
    fc.assert(
      fc.property(fc.integer(), fc.nat(999), suffix, (whole, fraction, tail) => {
        const once = canonicalQuantity(`${whole}.${fraction}${tail}`) ?? '';
        assert.equal(canonicalQuantity(once), once);
      }),
    );
  });
});

describe('quantityAmount()', () => {
  const AMOUNTS: Readonly<Record<string, bigint>> = {
    '0': 0n,
    '1n': 1n,
    '-1500m': -1_500_000_000n,
    '1Ki': 1_024_000_000_000n,
    '1e3': 1_000_000_000_000n,
  };
  for (const [text, amount] of Object.entries(AMOUNTS)) {
    it(`counts ${text} as ${amount} billionths`, () => assert.equal(quantityAmount(text), amount));
  }

  it('has nothing for what is no quantity', () => assert.equal(quantityAmount('1kg'), undefined));
});

describe('addQuantities()', () => {
  const SUMS: readonly (readonly [string, string, string])[] = [
    ['1', '2', '3'],
    ['100m', '900m', '1'],
    ['1Gi', '512Mi', '1536Mi'],
    ['1Gi', '1G', '2073741824'], // in the family of the first, which has no suffix for it
    ['0', '512Mi', '512Mi'],
    ['512Mi', '0', '512Mi'],
    ['1e3', '1e3', '2e3'],
    ['1', '-1', '0'],
    ['-2', '1', '-1'],
    ['9223372036854775807', '1', '9223372036854775807'],
  ];
  for (const [a, b, sum] of SUMS) it(`${a} and ${b} are ${sum}`, () => assert.equal(addQuantities(a, b), sum));

  it('takes nothing that is no quantity', () => {
    assert.throws(() => addQuantities('1', 'x'), RangeError);
    assert.throws(() => addQuantities('', '1'), RangeError);
  });

  it('adds amounts, and a quantity and its negation to nothing', () => {
    const quantity = fc
      .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'Gi'))
      .map(([n, suffix]) => canonicalQuantity(`${n}${suffix}`) ?? '');
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        assert.equal(quantityAmount(addQuantities(a, b)), (quantityAmount(a) ?? 0n) + (quantityAmount(b) ?? 0n));
        assert.equal(addQuantities(a, negatedQuantity(a)), '0');
      }),
    );
  });
});
