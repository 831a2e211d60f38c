import assert from 'node:assert/strict';

import { revision, type StoreEvent } from '../store.js';
import { WatchBatches } from './watch-batches.js';

const event = (modRevision: number, key = 'k'): StoreEvent => ({
  type: 'put',
  key,
  value: Buffer.alloc(0),
  createRevision: revision(modRevision),
  modRevision: revision(modRevision),
  previous: undefined,
});
const at = (...revisions: number[]): StoreEvent[] => revisions.map((it, i) => event(it, `k${i}`));
const revisionsOf = (events: readonly StoreEvent[]): number[] => events.map((it) => it.modRevision);

describe('WatchBatches', () => {
  it('gives a batch on and moves behind it', () => {
    const batches = new WatchBatches(revision(5));
    assert.deepEqual(revisionsOf(batches.add({ events: at(5, 5, 8), fragment: false })), [5, 5, 8]);
    assert.deepEqual([batches.next, batches.delivered], [9, 8]);
  });

  it('holds back the last revision of a fragment until it is whole', () => {
    const batches = new WatchBatches(revision(1));
    assert.deepEqual(revisionsOf(batches.add({ events: at(1, 2, 3, 3), fragment: true })), [1, 2]);
    assert.deepEqual([batches.next, batches.incomplete], [3, true]);
    assert.deepEqual(revisionsOf(batches.add({ events: at(3), fragment: true })), []);
    assert.deepEqual(revisionsOf(batches.add({ events: at(3, 4), fragment: true })), [3, 3, 3, 3]);
    assert.deepEqual(revisionsOf(batches.add({ events: at(4, 5), fragment: false })), [4, 4, 5]);
    assert.deepEqual([batches.next, batches.incomplete], [6, false]);
  });

  it('takes a revision that was cut from its beginning on the next stream', () => {
    const batches = new WatchBatches(revision(1));
    batches.add({ events: at(1, 2, 2), fragment: true });
    batches.restart();
    assert.equal(batches.next, 2);
    assert.deepEqual(revisionsOf(batches.add({ events: at(2, 2, 2), fragment: false })), [2, 2, 2]);
  });

  it('drops what was delivered before', () => {
    const batches = new WatchBatches(revision(1));
    batches.add({ events: at(1, 2), fragment: false });
    assert.deepEqual(revisionsOf(batches.add({ events: at(2, 3), fragment: false })), [3]);
  });

  it('never moves back, nor below the revision it began at', () => {
    const batches = new WatchBatches(revision(10));
    batches.passed(revision(4));
    assert.deepEqual([batches.next, batches.delivered], [10, 4]);
    batches.passed(revision(12));
    batches.passed(revision(11));
    assert.deepEqual([batches.next, batches.delivered], [13, 12]);
  });
});
