import assert from 'node:assert/strict';
import { later } from './later.js';

const timersThatKeepTheProcess = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('later()', () => {
  it('keeps no process', () => {
    const before = timersThatKeepTheProcess();
    later(() => undefined, 60_000);
    assert.equal(timersThatKeepTheProcess(), before);
  });

  it('runs what it was given, once', async () => {
    let runs = 0;
    await new Promise<void>((resolve) => {
      later(() => {
        runs++;
        resolve();
      }, 0);
    });
    assert.equal(runs, 1);
  });
});
