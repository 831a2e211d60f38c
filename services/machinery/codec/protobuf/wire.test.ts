import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StatusError } from '../../meta/status.js';
import { WireReader } from './wire.js';
import { WireWriter, written } from './wire-writer.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** At the first field of a message. */
function at(text: string): WireReader {
  const reader = new WireReader(hex(text));
  assert.equal(reader.next(), true);
  return reader;
}

const refused = (act: () => unknown, why: RegExp): void => {
  assert.throws(act, (err: unknown) => err instanceof StatusError && err.code === 400 && why.test(err.message));
};

describe('WireReader', () => {
  it('reads back any integer that a number holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer()), (n) => {
        const reader = new WireReader(
          written((writer) => {
            writer.integerField(1, n);
          }),
        );
        reader.next();
        assert.equal(reader.int64(), n);
        assert.equal(reader.next(), false);
      }),
    );
  });

  it('reads back any integer of 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (n) => {
        const reader = new WireReader(
          written((writer) => {
            writer.bigInt64(n);
            writer.tag(1, 0);
          }),
        );
        reader.next();
        assert.equal(reader.bigInt64(), n);
      }),
    );
  });

  it('refuses an int64 that a number does not hold', () => {
    assert.equal(at('08 ffffffffffffff0f').int64(), 2 ** 53 - 1);
    refused(() => at('08 8080808080808010').int64(), /integers beyond 9007199254740991 are not kept exactly/);
    refused(() => at('08 ffffffffffffffff7f').int64(), /integers beyond 9007199254740991 are not kept exactly/);
  });

  it('takes the lower half of what is too wide for an int32', () => {
    assert.equal(at('08 ffffffffffffffffff01').int32(), -1);
    assert.equal(at('08 ffffffff0f').int32(), -1);
    assert.equal(at('08 8180808010').int32(), 1);
  });

  it('takes any number but zero for true', () => {
    assert.equal(at('08 00').bool(), false);
    assert.equal(at('08 02').bool(), true);
    assert.equal(at('08 8080808010').bool(), true);
  });

  it('refuses a number without an end', () => {
    refused(() => at('08 ffffffffffffffffffff01').int64(), /no end/);
    refused(() => at('08 ff').int64(), /unexpected end/);
  });

  it('refuses field numbers that there are not', () => {
    refused(() => new WireReader(hex('00')).next(), /field number/);
    refused(() => new WireReader(hex('8080808010')).next(), /field number/);
  });

  it('refuses a value of another wire type', () => {
    refused(() => at('0d 00000000').int32(), /wrong wire type 5 for field 1/);
    refused(() => at('08 00').text(), /wrong wire type/);
    refused(() => at('08 00').double(), /wrong wire type/);
    refused(() => at('08 00').enter(), /wrong wire type/);
  });

  it('refuses a length that leaves the message', () => {
    refused(() => at('0a 02 61').text(), /unexpected end/);
    refused(() => at('0a ffffffffffffffff7f 61').bytes(), /unexpected end/);
    refused(() => at('09 00').double(), /unexpected end/);
  });

  it('refuses a length that leaves the nested message, though not the body', () => {
    const reader = at('0a 03 0a 02 61 6262');
    reader.enter();
    reader.next();
    refused(() => reader.text(), /unexpected end/);
  });

  it('refuses text that is not UTF-8, and reads what looks like its replacement', () => {
    refused(() => at('0a 01 ff').text(), /not UTF-8/);
    refused(() => at('0a 03 eda080').text(), /not UTF-8/);
    assert.equal(at('0a 03 efbfbd').text(), '\ufffd');
    assert.equal(at('0a 04 f09f9880').text(), '😀');
  });

  it('refuses numbers that JSON does not have', () => {
    assert.equal(at('09 000000000000f83f').double(), 1.5);
    refused(() => at('09 000000000000f07f').double(), /finite/);
    refused(() => at('09 000000000000f87f').double(), /finite/);
  });

  it('passes over values of every wire type', () => {
    for (const value of ['08 ff01', '09 0102030405060708', '0a 02 6161', '0d 01020304', '0b 10 01 1b 1c 12 00 0c']) {
      const reader = at(`${value} 18 07`);
      reader.skip();
      assert.equal(reader.next(), true);
      assert.deepEqual([reader.field, reader.int32()], [3, 7], value);
    }
  });

  it('refuses groups that are not closed or not opened, and unknown wire types', () => {
    refused(() => {
      at('0b 10 01').skip();
    }, /unexpected end/);
    refused(() => new WireReader(hex('0c')).next(), /group/);
    refused(() => {
      at('0e').skip();
    }, /wire type 6/);
  });

  it('passes over groups however deep they nest', () => {
    const depth = 1_000_000;
    const reader = new WireReader(Buffer.concat([Buffer.alloc(depth, 0x0b), Buffer.alloc(depth, 0x0c)]));
    reader.next();
    reader.skip();
    assert.equal(reader.next(), false);
  });

  it('refuses messages that nest too deep', () => {
    let nested: Buffer = Buffer.alloc(0);
    for (let i = 0; i <= 100; i++) {
      const inner = nested;
      nested = written((writer) => {
        writer.bytesField(1, inner);
      });
    }
    const reader = new WireReader(nested);
    refused(() => {
      while (reader.next()) reader.enter();
    }, /max depth 100/);
  });

  it('refuses more messages than any object has', () => {
    const reader = new WireReader(Buffer.alloc(2 * 500_001).fill('\x0a\x00'));
    refused(() => {
      while (reader.next()) reader.leave(reader.enter());
    }, /more than 500000 messages/);
  });
});

describe('WireWriter', () => {
  it('writes more than its first buffer holds', () => {
    const long = 'ab😀'.repeat(100_000);
    const reader = new WireReader(
      written((writer) => {
        writer.textField(2, long);
        for (let i = 0; i < 10_000; i++) writer.integerField(1, i);
      }),
    );
    for (let i = 9_999; i >= 0; i--) {
      assert.equal(reader.next(), true);
      assert.equal(reader.int64(), i);
    }
    assert.equal(reader.next(), true);
    assert.equal(reader.text(), long);
  });

  it('forgets what somebody wrote who failed', () => {
    const writer = new WireWriter();
    writer.text('half');
    writer.reset();
    writer.bool(true);
    assert.deepEqual(writer.finish(), hex('01'));
  });
});
