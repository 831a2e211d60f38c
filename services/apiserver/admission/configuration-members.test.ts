import assert from 'node:assert/strict';
import { flag, integer, list, mapOf, object, oneOf, readMembers, readVersioned } from './configuration-members.js';
import { required, text, withDefault } from './configuration-members.js';
import { documentOf } from './testing/document.js';

const SHAPE = {
  name: text,
  must: required(text),
  on: withDefault(flag, true),
  off: flag,
  count: integer(0, 10),
  size: withDefault(integer(1, 10), 5),
  kind: withDefault(oneOf('A', 'B'), 'A'),
  items: list(object({ key: required(text) })),
  by: mapOf(integer(1, 2)),
};

describe('readMembers()', () => {
  it('gives members by their types, and what absent ones stand for', () => {
    assert.deepEqual(readMembers(documentOf('must: x\nname: null'), SHAPE), {
      name: '',
      must: 'x',
      on: true,
      off: false,
      count: 0,
      size: 5,
      kind: 'A',
      items: [],
      by: new Map(),
    });
    assert.deepEqual(
      readMembers(
        documentOf(
          'must: x\nname: n\non: false\noff: true\ncount: 10\nsize: 1\nkind: B\nitems: [{key: k}]\nby: {constructor: 2}',
        ),
        SHAPE,
      ),
      {
        name: 'n',
        must: 'x',
        on: false,
        off: true,
        count: 10,
        size: 1,
        kind: 'B',
        items: [{ key: 'k' }],
        by: new Map([['constructor', 2]]),
      },
    );
  });

  for (const [members, why] of [
    ['off: true', 'line 2: must: is required'],
    ['must: ""', 'line 2: must: is required'],
    ['must: 1', 'line 2: must: must be a string'],
    ['must: x\noff: "no"', 'line 3: off: must be true or false'],
    ['must: x\nsize: 0', 'line 3: size: must be an integer from 1 to 10'],
    ['must: x\ncount: 11', 'line 3: count: must be an integer from 0 to 10'],
    ['must: x\ncount: 1.5', 'line 3: count: must be an integer from 0 to 10'],
    ['must: x\nkind: C', 'line 3: kind: must be "A" or "B"'],
    ['must: x\nitems:\n- key: a\n- {}', 'line 5: items[1].key: is required'],
    ['must: x\nitems:\n- key: a\n  kye: b', 'line 5: items[0].kye: is unknown'],
    ['must: x\nitems: [3]', 'line 3: items[0]: must be an object'],
    ['must: x\nitems: 3', 'line 3: items: must be a list'],
    ['must: x\nby: []', 'line 3: by: must be an object'],
    ['must: x\nby:\n  a: 3', 'line 4: by.a: must be an integer from 1 to 2'],
    ['must: x\n__proto__: 3', 'line 3: __proto__: is unknown'],
    ['must: x\nitems: [&a {key: 1}, *a]', 'line 3: items[0].key: must be a string'],
  ] as const) {
    it(`refuses ${JSON.stringify(members)}`, () => {
      const document = documentOf(`# first line\n${members}`);
      assert.throws(() => readMembers(document, SHAPE), new Error(`plugin.yaml: ${why}`));
    });
  }
});

describe('readVersioned()', () => {
  const type = { kind: 'Configuration', apiVersions: ['g/v1', 'g/v1alpha1'] };

  it('takes the versions that are known', () => {
    const { apiVersion, size } = readVersioned(
      documentOf('apiVersion: g/v1alpha1\nkind: Configuration\nsize: 3'),
      type,
      { size: integer(0, 9) },
    );
    assert.deepEqual([apiVersion, size], ['g/v1alpha1', 3]);
  });

  it('speaks of the type before its members', () => {
    const other = documentOf('kind: Configuration\napiVersion: g/v2\nother: 1');
    assert.throws(() => readVersioned(other, type, {}), /line 2: apiVersion: must be "g\/v1" or "g\/v1alpha1"$/);
  });
});

describe('PluginDocument.error()', () => {
  const document = documentOf('a: &x\n  k: 1\nb: *x\nc:\n- 1\n- d: 2\n');
  for (const [path, where] of [
    [['a', 'k'], 'line 2: a.k'],
    [['b'], 'line 3: b'],
    [['b', 'k'], 'line 2: b.k'],
    [['c', 1, 'd'], 'line 6: c[1].d'],
    [['c', 1, 'e'], 'line 6: c[1].e'],
    [['d'], 'line 1: d'],
    [[], 'line 1'],
  ] as const) {
    it(`names ${where}`, () => {
      assert.equal(document.error(path, 'is wrong').message, `plugin.yaml: ${where}: is wrong`);
    });
  }
});
