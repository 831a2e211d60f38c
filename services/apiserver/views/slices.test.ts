import assert from 'node:assert/strict';
import type { ByteWriter } from '../http/byte-writer.js';
import { inSlices } from './slices.js';

const WAITING = { signal: new AbortController().signal };
const numbers = Array.from({ length: 600 }, (_, i) => i);
const write = (writer: ByteWriter, n: number): void => writer.text(`${n},`);
/** Takes at least a millisecond. */
const writeSlowly = (writer: ByteWriter, n: number): void => {
  for (const end = performance.now() + 1; performance.now() < end;);
  write(writer, n);
};

describe('inSlices()', () => {
  it('encodes everything in order', async () => {
    const pieces = await inSlices(numbers, write, WAITING);
    assert.equal(Buffer.concat(pieces).toString(), numbers.map((n) => `${n},`).join(''));
  });

  it('makes nothing of nothing', async () => {
    assert.deepEqual(await inSlices([], write, WAITING), []);
  });

  it('makes pieces of a size that can be handed on', async () => {
    const long = 'x'.repeat(100_000);
    const pieces = await inSlices(numbers.slice(0, 10), (writer) => writer.text(long), WAITING);
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [300_000, 300_000, 300_000, 100_000],
    );
  });

  it('lets others have their turn where it takes long', async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      if (turns < 1_000) next = setImmediate(count);
    };
    let next = setImmediate(count);
    const pieces = await inSlices(numbers.slice(0, 100), writeSlowly, WAITING);
    clearImmediate(next);
    assert.equal(Buffer.concat(pieces).toString(), numbers.slice(0, 100).map((n) => `${n},`).join('')); // prettier-ignore
    assert.ok(turns >= 9, String(turns));
  });

  it('stops when the asker has left', async () => {
    const left = new AbortController();
    const made: number[] = [];
    const encode = (writer: ByteWriter, n: number): void => {
      made.push(n);
      left.abort(new Error('left'));
      writeSlowly(writer, n);
    };
    await assert.rejects(inSlices(numbers, encode, left), /left/);
    assert.ok(made.length < numbers.length, String(made.length));
  });
});
