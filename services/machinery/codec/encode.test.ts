import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ApiObject } from '../meta/object.js';
import { encodeObject, hasStoragePrefix, itemStart, respliced, splice, storagePrefix } from './encode.js';

const text = (obj: ApiObject): string => encodeObject(obj).toString('utf8');
const map = (metadata: ApiObject['metadata'], rest: object = {}): ApiObject => ({
  ...rest,
  metadata,
  apiVersion: 'v1',
  kind: 'ConfigMap',
});
const PREFIX = storagePrefix('ConfigMap', 'v1');

describe('encodeObject()', () => {
  it('starts with kind, apiVersion and metadata and keeps the order of the rest', () => {
    const obj = map({ labels: { b: '1', a: '2' }, name: 'n', namespace: 'd' }, { z: 1, data: { k: 'v' } });
    assert.equal(
      text(obj),
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","namespace":"d","labels":{"b":"1","a":"2"}},"z":1,"data":{"k":"v"}}',
    );
  });

  it('leaves out resourceVersion, selfLink and what is empty', () => {
    const obj = map({
      name: 'n',
      resourceVersion: '7',
      selfLink: '/x',
      uid: '',
      generation: 0,
      creationTimestamp: null,
      labels: {},
      finalizers: [],
    });
    assert.equal(text(obj), '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n"}}');
  });

  it('keeps a grace period of zero', () => {
    assert.match(text(map({ name: 'n', deletionGracePeriodSeconds: 0 })), /"deletionGracePeriodSeconds":0/);
  });

  it('keeps labels named like members of every object', () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    assert.match(text(map({ name: 'n', labels })), /"labels":\{"__proto__":"a","constructor":"b"\}/);
  });

  it('keeps the prefix when a member is named by a number', () => {
    assert.ok(hasStoragePrefix(encodeObject(map({ name: 'n' }, { 0: 'first' })), PREFIX));
  });

  it('replaces half surrogate pairs and nothing else', () => {
    const data = { half: 'a\ud800b', whole: '\u{1f600}', spelled: '\\ud800', mixed: '\\\udc00' };
    const bytes = encodeObject(map({ name: 'n' }, { data }));
    const back = JSON.parse(bytes.toString('utf8')) as { data: unknown };
    assert.deepEqual(back.data, { half: 'a\ufffdb', whole: '\u{1f600}', spelled: '\\ud800', mixed: '\\\ufffd' });
  });

  it('gives back what went in', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 })), (data) => {
        const obj = map({ name: 'n' }, { data });
        const back = JSON.parse(text(obj)) as ApiObject;
        assert.equal(JSON.stringify(back['data']), JSON.stringify(data));
      }),
    );
  });
});

describe('splice()', () => {
  const stored = encodeObject(map({ name: 'ü' }, { data: { k: 'ö' } }));

  it('puts the revision first in metadata', () => {
    assert.equal(
      splice(stored, PREFIX.length, 42).toString('utf8'),
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"42","name":"ü"},"data":{"k":"ö"}}',
    );
  });

  it('has memory of its own', () => {
    const out = splice(stored, PREFIX.length, 42);
    assert.equal(out.buffer.byteLength, out.length);
  });

  it('is what respliced() makes of other revisions, longer or shorter', () => {
    const spliced = splice(stored, PREFIX.length, 999);
    for (const revision of [1000, 7, 123_456_789]) {
      assert.deepEqual(respliced(spliced, PREFIX.length, 999, revision), splice(stored, PREFIX.length, revision));
    }
  });

  it('leaves an item of a list behind itemStart()', () => {
    const item = splice(stored, PREFIX.length, 42).subarray(itemStart(PREFIX.length));
    assert.deepEqual(JSON.parse(`{${item.toString('utf8')}`), {
      metadata: { resourceVersion: '42', name: 'ü' },
      data: { k: 'ö' },
    });
  });
});

describe('hasStoragePrefix()', () => {
  const refused = (stored: string): void => assert.equal(hasStoragePrefix(Buffer.from(stored), PREFIX), false);

  it('is false for another order, another kind and metadata without members', () => {
    refused('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}}');
    refused('{"kind":"ConfigMapX","apiVersion":"v1","metadata":{"name":"n"}}');
    refused('{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}');
    refused('{"kind":"ConfigMap","apiVersion":"v1","metadata":{');
  });
});
