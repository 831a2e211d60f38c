import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ByteWriter } from './byte-writer.js';

describe('ByteWriter', () => {
  it('gives back what was written, however much it is', () => {
    const part = fc.oneof(fc.string({ unit: 'binary', maxLength: 9_000 }), fc.uint8Array({ maxLength: 9_000 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12, size: 'max' }), (parts) => {
        const writer = new ByteWriter();
        for (const it of parts) {
          if (typeof it === 'string') writer.text(it);
          else writer.bytes(Buffer.from(it));
        }
        assert.ok(writer.finish().equals(Buffer.concat(parts.map((it) => Buffer.from(it as string)))));
      }),
      { numRuns: 20 },
    );
  });

  it('gives pieces that take no more room than they need, and that nothing changes afterwards', () => {
    const writer = new ByteWriter(4);
    writer.text('first and long');
    const first = writer.take();
    writer.bytes(Buffer.from('second'));
    const second = writer.take();
    assert.deepEqual([String(first), String(second), writer.length], ['first and long', 'second', 0]);
    assert.deepEqual([first.buffer.byteLength, second.buffer.byteLength], [14, 6]);
  });
});
