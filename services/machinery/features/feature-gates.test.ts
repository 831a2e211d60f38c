import assert from 'node:assert/strict';
import { FlagError } from '../flags/flags.js';
import { DEFAULT_GATES, featureGates } from './feature-gates.js';
import { GATES, type Gate } from './gates.js';

const TABLE: Readonly<Record<string, Gate>> = {
  New: { stage: 'alpha', since: '1.24' },
  Newer: { stage: 'alpha', since: '1.24' },
  Tried: { stage: 'beta', since: '1.22' },
  Settled: { stage: 'ga', since: '1.23' },
  Gone: { stage: 'ga', since: '1.20', removed: '1.22' },
};

const read = (asked: Record<string, string>): ReturnType<typeof featureGates> =>
  featureGates(new Map(Object.entries(asked)), TABLE);
const on = (asked: Record<string, string>): string[] =>
  Object.keys(TABLE).filter((name) => read(asked).gates.enabled(name));

describe('featureGates', () => {
  it('refuses what cannot be: unknown and removed gates, values that are no truth values, settled features turned off', () => {
    const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ Unheard: 'true' }, /^Cannot use --feature-gates Unheard: there is no such feature gate$/],
      [{ constructor: 'true' }, /no such feature gate/],
      [{ Gone: 'true' }, /the gate was removed in 1\.22; the feature is always on since 1\.20$/],
      [{ Gone: 'false' }, /the gate was removed in 1\.22/],
      [{ Tried: 'yes' }, /"yes" is neither true nor false$/],
      [{ Settled: 'false' }, /generally available since 1\.23 and cannot be turned off$/],
    ];
    for (const [asked, message] of cases) {
      assert.throws(
        () => read(asked),
        (err) => err instanceof FlagError && message.test(err.message),
      );
    }
  });

  it('has alpha off, beta and settled features on', () => {
    assert.deepEqual(on({}), ['Tried', 'Settled', 'Gone']);
    assert.deepEqual(read({}).warnings, []);
  });

  it('turns alpha on and beta off', () => {
    assert.deepEqual(on({ New: 'true', Tried: 'false' }), ['New', 'Settled', 'Gone']);
    assert.deepEqual(read({ New: 'true', Tried: 'false' }).warnings, []);
  });

  it('takes a whole stage, but for what is named itself', () => {
    assert.deepEqual(on({ AllAlpha: 'true', Newer: 'false' }), ['New', 'Tried', 'Settled', 'Gone']);
    assert.deepEqual(on({ AllBeta: 'false' }), ['Settled', 'Gone']);
    assert.deepEqual(on({ AllBeta: 'false', Tried: 'true' }), ['Tried', 'Settled', 'Gone']);
  });

  it('warns that a settled gate does nothing', () => {
    assert.deepEqual(read({ Settled: 'true' }).warnings, [
      '--feature-gates: Settled is deprecated and non-operational: the feature is always on since 1.23, and the gate will be removed',
    ]);
  });
});

describe('GATES', () => {
  it('are at the stage of their time in the default: nothing of alpha is on', () => {
    for (const [name, { stage }] of Object.entries<Gate>(GATES)) {
      assert.equal(DEFAULT_GATES.enabled(name), stage !== 'alpha', name);
    }
    assert.equal(DEFAULT_GATES.enabled('InPlacePodVerticalScaling'), false);
  });
});
