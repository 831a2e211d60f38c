import assert from 'node:assert/strict';
import { mock } from 'node:test';

import { revision } from '../store.js';
import { ProgressRequests } from './watch-progress.js';

const at = revision;

/** Requests on a stream that is up, with a count of how often etcd was asked. */
function requests(trusted: boolean): { readonly progress: ProgressRequests; readonly asked: () => number } {
  let asked = 0;
  const progress = new ProgressRequests({ trusted, ask: () => asked++ });
  progress.up();
  return { progress, asked: () => asked };
}

describe('ProgressRequests', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => {
    mock.timers.reset();
  });

  it('asks again while there is no answer, ever more slowly', () => {
    const { progress, asked } = requests(true);
    progress.want();
    progress.want();
    const counts = [100, 200, 400, 800, 1000, 1000].map((ms) => {
      mock.timers.tick(ms);
      return asked();
    });
    assert.deepEqual(counts, [2, 3, 4, 5, 6, 7]);
    progress.down();
  });

  it('tells the first answer where answers are reliable, and then rests', () => {
    const { progress, asked } = requests(true);
    progress.want();
    assert.equal(progress.answered(at(7)), 7);
    mock.timers.tick(10_000);
    assert.deepEqual([asked(), progress.answered(at(8))], [1, undefined]);
  });

  it('asks on the next stream when this one is lost', () => {
    const { progress, asked } = requests(true);
    progress.want();
    progress.down();
    mock.timers.tick(10_000);
    assert.equal(asked(), 1);
    progress.up();
    assert.equal(asked(), 2);
    progress.down();
  });

  it('wants a second answer where answers are not reliable, and tells the first', () => {
    const { progress, asked } = requests(false);
    progress.want();
    assert.equal(progress.answered(at(7)), undefined);
    assert.equal(asked(), 1);
    mock.timers.tick(250);
    assert.equal(asked(), 2);
    assert.equal(progress.answered(at(9)), 7);
  });

  it('begins again when events below the answer come after it', () => {
    const { progress } = requests(false);
    progress.want();
    progress.answered(at(7));
    assert.equal(progress.delivered(at(5)), undefined);
    mock.timers.tick(250);
    assert.equal(progress.answered(at(7)), undefined);
    progress.down();
  });

  it('believes an answer that events have come up to', () => {
    const { progress } = requests(false);
    progress.want();
    progress.answered(at(7));
    assert.equal(progress.delivered(at(8)), 8);
    assert.equal(progress.answered(at(9)), undefined);
  });
});
