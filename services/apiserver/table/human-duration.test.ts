import assert from 'node:assert/strict';
import { humanDuration } from './human-duration.js';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

describe('humanDuration()', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [-3 * S, '<invalid>'],
    [-2 * S, '<invalid>'],
    [-1.5 * S, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [S, '1s'],
    [2 * M - 1, '119s'],
    [2 * M, '2m'],
    [2 * M + S, '2m1s'],
    [10 * M - 1, '9m59s'],
    [10 * M, '10m'],
    [3 * H - 1, '179m'],
    [3 * H, '3h'],
    [3 * H + M, '3h1m'],
    [8 * H - 1, '7h59m'],
    [8 * H, '8h'],
    [2 * D - 1, '47h'],
    [2 * D, '2d'],
    [2 * D + H, '2d1h'],
    [8 * D - 1, '7d23h'],
    [8 * D, '8d'],
    [2 * Y - 1, '729d'],
    [2 * Y, '2y'],
    [2 * Y + D, '2y1d'],
    [8 * Y - 1, '7y364d'],
    [8 * Y, '8y'],
    [100 * Y, '100y'],
  ];
  for (const [ms, text] of cases) it(`writes ${ms} ms as ${text}`, () => assert.equal(humanDuration(ms), text));
});
