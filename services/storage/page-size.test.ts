import assert from 'node:assert/strict';
import { PageSize } from './page-size.js';
import { revision, type KeyValue } from './store.js';

const entries = (count: number, bytes: number): KeyValue[] =>
  Array.from({ length: count }, (_, i) => ({
    key: `/k${i}`,
    value: Buffer.alloc(bytes),
    createRevision: revision(1),
    modRevision: revision(1),
  }));

describe('PageSize', () => {
  it('begins small, and grows with small entries up to the most', () => {
    const size = new PageSize(1000);
    assert.equal(size.entries, 100);
    size.learn(entries(100, 10));
    assert.equal(size.entries, 400);
    size.learn(entries(400, 10));
    assert.equal(size.entries, 1000);
  });

  it('asks for as many as make four megabytes', () => {
    const size = new PageSize(1000);
    size.learn(entries(100, 120 * 1024));
    assert.equal(size.entries, 34);
    size.learn(entries(34, 1 << 20));
    assert.equal(size.entries, 4);
  });

  it('asks for one at least', () => {
    const size = new PageSize(1000);
    size.learn(entries(2, 5 << 20));
    assert.equal(size.entries, 1);
    size.learn(entries(1, 10));
    assert.equal(size.entries, 4, 'and finds back from there');
  });

  it('learns nothing of empty pages, and of empty values that they are small', () => {
    const size = new PageSize(150);
    size.learn([]);
    assert.equal(size.entries, 100);
    size.learn(entries(1, 0));
    assert.equal(size.entries, 150);
    assert.equal(new PageSize(20).entries, 20);
  });
});
