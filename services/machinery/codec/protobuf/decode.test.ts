import assert from 'node:assert/strict';
import { StatusError } from '../../meta/status.js';
import { loadCatalog } from '../../types/catalog.js';
import type { TypeDeclaration } from '../../types/declarations.js';
import { typeGraph } from '../../types/graph.js';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import { decodeProtobuf } from './decode.js';
import { encodeProtobuf } from './encode.js';
import { written } from './wire-writer.js';

const declared = new Map<string, TypeDeclaration>([
  [
    't/v1.Thing',
    {
      fields: [
        { name: 'text', type: 'string', proto: 1 },
        { name: 'pointer', type: 'string', nullable: true, proto: 2 },
        { name: 'shown', type: 'string', alwaysEmit: true, proto: 3 },
        { name: 'counts', type: 'int32', list: true, proto: 4 },
        { name: 'part', type: 't/v1.Part', proto: 5 },
        { name: 'parts', type: 't/v1.Part', map: true, proto: 6 },
        { name: 'at', type: 'time', nullable: true, proto: 7 },
        { name: 'size', type: 'quantity', nullable: true, proto: 8 },
        { name: 'port', type: 'intOrString', nullable: true, proto: 9 },
        { name: 'every', type: 'duration', nullable: true, proto: 10 },
        { name: 'any', type: 'rawJSON', nullable: true, proto: 11 },
        { name: 'again', type: 't/v1.Thing', nullable: true, proto: 12 },
        { name: 'precisely', type: 'microTime', nullable: true, proto: 13 },
        { name: 'ratios', type: 'double', list: true, proto: 14 },
        { name: 'bytes', type: 'bytes', proto: 15 },
        { name: 'blobs', type: 'bytes', map: true, proto: 16 },
      ],
    },
  ],
  [
    't/v1.Part',
    {
      fields: [
        { name: 'a', type: 'int64', proto: 1 },
        { name: 'b', type: 'int64', proto: 2 },
      ],
    },
  ],
]);

const types = typeGraph(declared);
const thing = (hex: string): object =>
  decodeProtobuf(types.of('t/v1.Thing'), Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const refused = (hex: string, why: RegExp): void => {
  assert.throws(
    () => thing(hex),
    (err: unknown) => err instanceof StatusError && err.code === 400 && why.test(err.message),
    hex,
  );
};

describe('decodeProtobuf()', () => {
  it('leaves out zeros that say nothing', () => {
    assert.deepEqual(thing('0a00 2a00'), {});
    assert.deepEqual(thing('2a04 0800 1000'), {});
  });

  it('shows zeros behind pointers, and those that JSON always has', () => {
    assert.deepEqual(thing('1200 1a00 6200'), { pointer: '', shown: '', again: {} });
  });

  it('lets the last of a single field count', () => {
    assert.deepEqual(thing('0a0161 0a0162'), { text: 'b' });
    assert.deepEqual(thing('0a0161 0a00'), {});
  });

  it('merges messages of a single field', () => {
    assert.deepEqual(thing('2a04 0801 1001 2a02 1002'), { part: { a: 1, b: 2 } });
    assert.deepEqual(thing('2a02 0801 2a02 0800'), {});
  });

  it('takes repeated numbers one by one, packed, and mixed', () => {
    assert.deepEqual(thing('2001 2002'), { counts: [1, 2] });
    assert.deepEqual(thing('2203 01ac02'), { counts: [1, 300] });
    assert.deepEqual(thing('2001 220102 2003 2200'), { counts: [1, 2, 3] });
    assert.deepEqual(thing('7210 000000000000f83f 0000000000000040'), { ratios: [1.5, 2] });
  });

  it('refuses packed numbers that do not fill their bytes', () => {
    refused('2202 01ac', /unexpected end/);
    refused('7204 00000000', /unexpected end/);
  });

  it('takes map entries without key or value, in any order, the last of a key', () => {
    assert.deepEqual(thing('3200'), { parts: { '': {} } });
    assert.deepEqual(thing('3207 1202 0801 0a0161'), { parts: { a: { a: 1 } } });
    assert.deepEqual(thing('3207 0a0161 1202 0801  3207 0a0161 1202 0802'), { parts: { a: { a: 2 } } });
  });

  it('keeps the key __proto__ as data', () => {
    const key = Buffer.from('__proto__').toString('hex');
    const { parts } = thing(`320f 0a09 ${key} 1202 0801`) as { parts: object };
    assert.deepEqual(Object.entries(parts), [['__proto__', { a: 1 }]]);
    assert.equal(Object.getPrototypeOf(parts), Object.prototype);
  });

  it('passes over fields that the type does not have', () => {
    assert.deepEqual(thing('f80101 f2070161 0a0162 9a0600'), { text: 'b' });
    assert.deepEqual(thing('2a04 1801 0805'), { part: { a: 5 } });
  });

  it('tells no time from the beginning of 1970', () => {
    assert.deepEqual(thing('3a00'), { at: null });
    assert.deepEqual(thing('3a04 0800 1000'), { at: '1970-01-01T00:00:00Z' });
  });

  it('cuts times to their unit', () => {
    assert.deepEqual(thing('3a08 0801 10ff93ebdc03'), { at: '1970-01-01T00:00:01Z' });
    assert.deepEqual(thing('3a08 0801 10ffa7d6b907'), { at: '1970-01-01T00:00:01Z' });
    assert.deepEqual(thing('6a08 0801 10ff93ebdc03'), { precisely: '1970-01-01T00:00:01.999999Z' });
    assert.deepEqual(thing('6a0b 10ffffffffffffffffff01'), { precisely: '1969-12-31T23:59:59.999999Z' });
  });

  it('refuses times that RFC 3339 has no year for', () => {
    const at = (seconds: number): string => {
      const time = written((writer) => writer.integerField(1, seconds));
      return written((writer) => writer.bytesField(7, time)).toString('hex');
    };
    assert.deepEqual(thing(at(253_402_300_799)), { at: '9999-12-31T23:59:59Z' });
    assert.deepEqual(thing(at(-62_167_219_200)), { at: '0000-01-01T00:00:00Z' });
    refused(at(253_402_300_800), /years/);
    refused(at(-62_167_219_201), /years/);
    refused(at(2 ** 53 - 1), /years/);
  });

  it('brings quantities into their canonical form, and refuses what is none', () => {
    assert.deepEqual(thing('4200'), { size: '0' });
    assert.deepEqual(thing(`4207 0a05 ${Buffer.from('1500m').toString('hex')}`), { size: '1500m' });
    assert.deepEqual(thing(`4206 0a04 ${Buffer.from('1000').toString('hex')}`), { size: '1k' });
    refused(`4205 0a03 ${Buffer.from('1XB').toString('hex')}`, /quantity/);
    refused('4202 0a00', /quantity/);
  });

  it('reads what may be a number or a string', () => {
    assert.deepEqual(thing('4a00'), { port: 0 });
    assert.deepEqual(thing('4a07 0800 1050 1a0161'), { port: 80 });
    assert.deepEqual(thing('4a07 0801 1050 1a0161'), { port: 'a' });
    refused('4a02 0802', /neither/);
  });

  it('reads durations longer than a number holds in nanoseconds', () => {
    assert.deepEqual(thing('520a 08ffffffffffffffff7f'), { every: '2562047h47m16.854775807s' });
  });

  it('parses JSON within, and refuses what is none', () => {
    const json = Buffer.from('{"a":[1,null]}');
    const field = (bytes: Buffer): string =>
      written((writer) => {
        writer.bytesField(1, bytes);
        writer.length(0);
        writer.tag(11, 2);
      }).toString('hex');
    assert.deepEqual(thing(field(json)), { any: { a: [1, null] } });
    assert.deepEqual(thing('5a00'), { any: null });
    refused(field(Buffer.from('{"a":')), /json parse error/);
    refused(field(Buffer.from('['.repeat(2000) + ']'.repeat(2000))), /max depth/);
  });

  it('refuses a field of another wire type', () => {
    refused('0801', /wrong wire type 0 for field 1/);
    refused('2801', /wrong wire type 0 for field 5/);
    refused('2500000000', /wrong wire type 5 for field 4/);
  });

  it('refuses messages within messages beyond any use', () => {
    let nested: Buffer = Buffer.alloc(0);
    for (let i = 0; i < 101; i++) {
      const inner = nested;
      nested = written((writer) => {
        writer.bytesField(12, inner);
      });
    }
    refused(nested.toString('hex'), /max depth/);
  });

  it('refuses a message that is cut off anywhere within a field', () => {
    const whole = '0a0161 2a04 0801 1001';
    for (const cut of [2, 4, 8, 10, 12, 14]) refused(whole.replaceAll(' ', '').slice(0, cut), /unexpected end/);
  });

  it('compiles a set of types once', () => {
    let asked = 0;
    const counted = typeGraph({
      keys: () => declared.keys(),
      get(key) {
        asked++;
        return declared.get(key);
      },
    });
    for (let i = 0; i < 2; i++) decodeProtobuf(counted.of('t/v1.Thing'), Buffer.from('2a020801', 'hex'));
    assert.equal(asked, 2, 'a thing and its part');
  });
});

describe('encodeProtobuf()', () => {
  const hex = (object: Record<string, never> | object): string =>
    encodeProtobuf(types.of('t/v1.Thing'), object as Record<string, never>).toString('hex');

  it('writes what is no pointer though it says nothing, in the order of numbers', () => {
    assert.equal(hex({}), '0a00' + '1a00' + '2a0408001000');
  });

  it('leaves out bytes that were not given, alone and in a map', () => {
    assert.ok(!hex({}).includes('7a'));
    assert.ok(hex({ bytes: '' }).endsWith('7a00'));
    assert.ok(hex({ blobs: { a: null } }).endsWith('8201030a0161'));
    assert.ok(hex({ blobs: { a: '' } }).endsWith('8201050a01611200'));
  });

  it('sorts the keys of a map', () => {
    const entry = (key: string, a: string): string => `32090a01${key}120408${a}1000`;
    assert.ok(hex({ parts: { b: { a: 2 }, a: { a: 1 } } }).endsWith(entry('61', '01') + entry('62', '02')));
  });

  it('writes repeated numbers one by one', () => {
    assert.match(hex({ counts: [1, -1] }), /200120ffffffffffffffffff01/);
  });

  it('refuses a member of another kind', () => {
    for (const object of [{ text: 1 }, { counts: 1 }, { part: [] }, { parts: 'x' }, { port: {} }, { at: 'noon' }]) {
      assert.throws(() => hex(object), TypeError);
    }
  });

  it('refuses a type that has no form on the wire', () => {
    const { types: all } = loadCatalog(vocabulary('platform'));
    assert.throws(() => encodeProtobuf(all.of('meta/v1.Table'), {}), /no form on the wire/);
    assert.throws(() => encodeProtobuf(all.of('core/v1.Nothing'), {}), /No declaration/);
  });
});

describe('unions of schemas', () => {
  const { types: all } = loadCatalog(vocabulary('platform'));
  const key = 'apiextensions.platform.io/v1.JSONSchemaProps';
  const there = (schema: object): object =>
    decodeProtobuf(all.of(key), encodeProtobuf(all.of(key), schema as Record<string, never>));

  it('allow what they have a schema for', () => {
    const bytes = encodeProtobuf(all.of(key), { additionalProperties: {} });
    assert.ok(bytes.includes(Buffer.from('080112', 'hex')));
  });

  it('travel as what they are', () => {
    for (const schema of [
      { additionalProperties: true },
      { additionalProperties: false },
      { additionalProperties: { type: 'string' } },
      { additionalProperties: {} },
      { items: { type: 'string' } },
      { items: [{ type: 'string' }, {}] },
      { dependencies: { a: ['b'], c: { type: 'string' } } },
      { default: { a: [1, null] }, enum: ['x', null, 1], minimum: 0 },
    ]) {
      assert.deepEqual(there(schema), schema);
    }
  });
});
