import assert from 'node:assert/strict';
import { decodeManagedFields, isReset } from './managed-fields.js';

const entry = (o: object = {}): Record<string, unknown> => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2024-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
  ...o,
});

const nested = (levels: number): object => {
  let node: object = {};
  for (let i = 0; i < levels; i++) node = { 'f:a': node };
  return node;
};

describe('decodeManagedFields()', () => {
  it('takes over what is canonical without a copy', () => {
    const raw = entry();
    assert.equal(decodeManagedFields([raw])?.[0]?.fieldsV1, raw['fieldsV1']);
    assert.equal(JSON.stringify(decodeManagedFields([raw])), JSON.stringify([raw]));
  });

  it('reads nothing as no entries', () => {
    assert.deepEqual([decodeManagedFields(undefined), decodeManagedFields([])], [[], []]);
  });

  const malformed: Readonly<Record<string, unknown>> = {
    'no list': {},
    'an entry that is no object': ['x'],
    'an empty entry': [{}],
    'another operation': [entry({ operation: 'Delete' })],
    'no version': [entry({ apiVersion: '' })],
    'another fields type': [entry({ fieldsType: 'FieldsV2' })],
    'no fields type': [entry({ fieldsType: undefined })],
    'a manager that is no text': [entry({ manager: 1 })],
    'a time that is no text': [entry({ time: 5 })],
    'fields that are no object': [entry({ fieldsV1: [] })],
    'a node that is no object': [entry({ fieldsV1: { 'f:a': 1 } })],
    'an element without a kind': [entry({ fieldsV1: { a: {} } })],
    'an own __proto__': [entry({ fieldsV1: JSON.parse('{"__proto__":{"f:x":{}}}') as unknown })],
    'keys that are no JSON': [entry({ fieldsV1: { 'f:l': { 'k:{': {} } } })],
    'too deep a tree': [entry({ fieldsV1: nested(5000) })],
    'too large a tree': [
      entry({
        fieldsV1: Object.fromEntries(
          Array.from({ length: 210_000 }, (_, i) => [`f:${String(i).padStart(6, '0')}`, {}]),
        ),
      }),
    ],
    'too much that is not as we write it': [
      entry({ fieldsV1: Object.fromEntries(Array.from({ length: 21_000 }, (_, i) => [`f:${String(-i)}`, {}])) }),
    ],
    'too many entries': Array.from({ length: 257 }, (_, i) => entry({ manager: String(i) })),
    'one bad entry among good ones': [entry(), entry({ operation: '' })],
  };
  for (const [what, raw] of Object.entries(malformed)) {
    it(`refuses ${what}`, () => {
      assert.equal(decodeManagedFields(raw), undefined);
    });
  }

  it('sorts members and keys, and drops kinds of elements that do not exist', () => {
    const fieldsV1 = {
      'f:b': {},
      'f:a': { 'k:{"b":1,"a":2}': { 'f:x': {}, '.': { 'f:odd': {} } }, 'z:1': {} },
      'f:c': { '.': {} },
    };
    const [decoded] = decodeManagedFields([entry({ fieldsV1 })]) ?? [];
    assert.equal(
      JSON.stringify(decoded?.fieldsV1),
      '{"f:a":{"k:{\\"a\\":2,\\"b\\":1}":{".":{},"f:x":{}}},"f:b":{},"f:c":{}}',
    );
  });

  it('joins what two spellings of one element hold', () => {
    const fieldsV1 = { 'k:{"a":1}': { 'f:x': {} }, 'k:{"a": 1}': { 'f:y': {} } };
    const [decoded] = decodeManagedFields([entry({ fieldsV1 })]) ?? [];
    assert.deepEqual(decoded?.fieldsV1, { 'k:{"a":1}': { 'f:x': {}, 'f:y': {} } });
  });

  it('does not let the root be in the set', () => {
    const [decoded] = decodeManagedFields([entry({ fieldsV1: { '.': {}, 'f:a': {} } })]) ?? [];
    assert.deepEqual(decoded?.fieldsV1, { 'f:a': {} });
    assert.deepEqual(decodeManagedFields([entry({ fieldsV1: { '.': {} } })])?.[0]?.fieldsV1, {});
  });

  it('puts appliers first, then by time and name', () => {
    const raw = [
      entry({ manager: 'b', time: '2024-01-02T00:00:00Z' }),
      entry({ manager: 'z' }),
      entry({ manager: 'a', time: '2024-01-02T00:00:00Z' }),
      entry({ manager: 'late', operation: 'Apply', time: '2025-01-01T00:00:00Z' }),
      entry({ manager: 'none', time: undefined }),
    ];
    assert.deepEqual(
      decodeManagedFields(raw)?.map((e) => e.manager),
      ['late', 'none', 'z', 'a', 'b'],
    );
  });

  it('keeps the last of several entries of one writer, whom a version makes another unless he applies', () => {
    const raw = [
      entry({ operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:a': {} } }),
      entry({ operation: 'Apply', apiVersion: 'v2', fieldsV1: { 'f:b': {} } }),
      entry({ apiVersion: 'v1' }),
      entry({ apiVersion: 'v2' }),
      entry({ apiVersion: 'v2', subresource: 'status' }),
    ];
    assert.deepEqual(
      decodeManagedFields(raw)?.map((e) => `${e.operation} ${e.apiVersion}${e.subresource ?? ''}`),
      ['Apply v2', 'Update v1', 'Update v2', 'Update v2status'],
    );
  });
});

describe('isReset()', () => {
  it('is a list of one empty entry, and nothing else', () => {
    assert.ok(isReset([{}]));
    for (const other of [[], [{}, {}], [entry()], {}, undefined, [null]])
      assert.ok(!isReset(other), JSON.stringify(other));
  });
});
