import { BODY_LIMITS, parseJson } from '../json.js';
import type { ScalarType } from '../../types/declarations.js';
import { canonicalQuantity } from '../../schema/quantity.js';
import { canonicalTime } from '../../schema/scalars.js';
import { formatDuration, parseDuration } from './durations.js';
import type { Value } from './value.js';
import { never, nothing, unfit } from './value.js';
import type { WireReader } from './wire.js';
import { BYTES, FIXED64, VARINT, malformed } from './wire.js';
import type { WireWriter } from './wire-writer.js';

function stringOf(value: unknown): string {
  if (typeof value !== 'string') throw unfit(value, 'string');
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw unfit(value, 'number');
  return value;
}

const string: Value = {
  wireType: BYTES,
  read: (reader) => reader.text(),
  write: (writer, value) => {
    writer.text(stringOf(value));
  },
  isZero: (value) => value === '',
  zero: () => '',
  leftOut: false,
};

const bool: Value = {
  wireType: VARINT,
  read: (reader) => reader.bool(),
  write: (writer, value) => {
    if (typeof value !== 'boolean') throw unfit(value, 'bool');
    writer.bool(value);
  },
  isZero: (value) => value === false,
  zero: () => false,
  leftOut: false,
};

const integer = (read: (reader: WireReader) => number): Value => ({
  wireType: VARINT,
  read,
  write: (writer, value) => {
    writer.integer(numberOf(value));
  },
  isZero: (value) => value === 0,
  zero: () => 0,
  leftOut: false,
});

const double: Value = {
  wireType: FIXED64,
  read: (reader) => reader.double(),
  write: (writer, value) => {
    writer.double(numberOf(value));
  },
  isZero: (value) => value === 0,
  zero: () => 0,
  leftOut: false,
};

const bytes: Value = {
  wireType: BYTES,
  read: (reader) => reader.base64(),
  write: (writer, value) => {
    writer.bytes(Buffer.from(stringOf(value), 'base64'));
  },
  isZero: (value) => value === '',
  zero: () => '',
  leftOut: true,
};

/** Writes a message whose members `write` writes, last one first. */
const writeMessage = (write: (writer: WireWriter, value: unknown) => void): Value['write'] => {
  return (writer, value) => {
    const mark = writer.mark();
    write(writer, value);
    writer.length(mark);
  };
};

// The years that RFC 3339 has digits for.
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;
const NANOS_PER_SECOND = 1_000_000_000;

/** The empty message is no time; zero seconds are 1970. */
function time(unit: 'second' | 'microsecond'): Value {
  return {
    wireType: BYTES,
    read(reader) {
      let isEmpty = true;
      let seconds = 0;
      let nanos = 0;
      const outer = reader.enter();
      for (; reader.next(); isEmpty = false) {
        if (reader.field === 1) seconds = reader.int64();
        else if (reader.field === 2) nanos = reader.int32();
        else reader.skip();
      }
      reader.leave(outer);
      if (isEmpty) return null;
      const whole = seconds + (unit === 'second' ? 0 : Math.floor(nanos / NANOS_PER_SECOND));
      if (whole < FIRST_SECOND || whole > LAST_SECOND) throw malformed('a time is outside the years 0 to 9999');
      const fraction = String(nanos - Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND).padStart(9, '0');
      const micros = fraction.slice(0, 6); // the rest is finer than any time here
      return canonicalTime(`${new Date(whole * 1000).toISOString().slice(0, 19)}.${micros}Z`, unit);
    },
    write: writeMessage((writer, value) => {
      const text = value === null ? null : canonicalTime(stringOf(value), unit);
      if (text === null) return;
      if (text === undefined) throw unfit(value, 'time');
      writer.integerField(2, unit === 'second' ? 0 : Number(text.slice(20, 26)) * 1000);
      writer.integerField(1, Date.parse(`${text.slice(0, 19)}Z`) / 1000);
    }),
    isZero: (value) => value === null,
    zero: nothing,
    leftOut: false,
  };
}

const duration: Value = {
  wireType: BYTES,
  read(reader) {
    let nanos = 0n;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) nanos = reader.bigInt64();
      else reader.skip();
    }
    reader.leave(outer);
    return formatDuration(nanos);
  },
  write: writeMessage((writer, value) => {
    writer.bigInt64(parseDuration(stringOf(value)));
    writer.tag(1, VARINT);
  }),
  isZero: (value) => value === '0s',
  zero: () => '0s',
  leftOut: false,
};

const quantity: Value = {
  wireType: BYTES,
  read(reader) {
    let text = '0';
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) text = reader.text();
      else reader.skip();
    }
    reader.leave(outer);
    const canonical = canonicalQuantity(text);
    if (canonical === undefined) throw malformed('a quantity is not of the form of quantities');
    return canonical;
  },
  write: writeMessage((writer, value) => {
    writer.textField(1, stringOf(value));
  }),
  isZero: never,
  zero: () => '0',
  leftOut: false,
};

const IS_NUMBER = 0;
const IS_STRING = 1;

const intOrString: Value = {
  wireType: BYTES,
  read(reader) {
    let type = IS_NUMBER;
    let number = 0;
    let text = '';
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) type = reader.int64();
      else if (reader.field === 2) number = reader.int32();
      else if (reader.field === 3) text = reader.text();
      else reader.skip();
    }
    reader.leave(outer);
    if (type !== IS_NUMBER && type !== IS_STRING) throw malformed('neither a number nor a string');
    return type === IS_NUMBER ? number : text;
  },
  write: writeMessage((writer, value) => {
    const isString = typeof value === 'string';
    writer.textField(3, isString ? value : '');
    writer.integerField(2, isString ? 0 : numberOf(value));
    writer.integerField(1, isString ? IS_STRING : IS_NUMBER);
  }),
  isZero: (value) => value === 0,
  zero: () => 0,
  leftOut: false,
};

const NO_BYTES = Buffer.alloc(0);
/** The body's length was bounded when it was read. */
const RAW_LIMITS = { ...BODY_LIMITS, maxBytes: Infinity };

const rawJSON: Value = {
  wireType: BYTES,
  read(reader) {
    let json: Buffer = NO_BYTES;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) json = reader.bytes();
      else reader.skip();
    }
    reader.leave(outer);
    return json.length === 0 ? null : parseJson(json, RAW_LIMITS);
  },
  write: writeMessage((writer, value) => {
    if (value !== null) writer.bytesField(1, Buffer.from(JSON.stringify(value)));
  }),
  isZero: (value) => value === null,
  zero: nothing,
  leftOut: false,
};

export const SCALARS: Readonly<Record<ScalarType, Value>> = {
  string,
  bool,
  int32: integer((reader) => reader.int32()),
  int64: integer((reader) => reader.int64()),
  double,
  bytes,
  time: time('second'),
  microTime: time('microsecond'),
  duration,
  quantity,
  intOrString,
  rawJSON,
};
