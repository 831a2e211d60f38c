import assert from 'node:assert/strict';
import { StatusError } from '../../machinery/meta/status.js';
import { inSlices } from './slices.js';

const numbers = Array.from({ length: 600 }, (_, i) => i);
const text = (slice: readonly number[]): Buffer => Buffer.from(slice.map((n) => `${n},`).join(''));

describe('inSlices()', () => {
  it('encodes everything in order, in pieces', async () => {
    const pieces = await inSlices(numbers, text, () => false);
    assert.equal(pieces.length, 3);
    assert.equal(Buffer.concat(pieces).toString(), numbers.map((n) => `${n},`).join(''));
  });

  it('makes nothing of nothing', async () => {
    assert.deepEqual(await inSlices([], text, () => false), []);
  });

  it('lets others have their turn between two pieces', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await inSlices(
      numbers,
      (slice) => (order.push('slice'), text(slice)),
      () => false,
    );
    assert.deepEqual(order, ['slice', 'other', 'slice', 'slice']);
  });

  it('stops when nobody waits for it any more', async () => {
    let asked = 0;
    const made: number[] = [];
    const encode = (slice: readonly number[]): Buffer => (made.push(slice.length), text(slice));
    await assert.rejects(
      inSlices(numbers, encode, () => ++asked > 1),
      StatusError,
    );
    assert.equal(made.length, 1);
  });
});
