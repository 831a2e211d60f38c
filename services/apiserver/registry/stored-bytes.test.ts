import assert from 'node:assert/strict';
import { encodeObject } from '../../machinery/codec/encode.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { storedBytes } from './resources.js';

const MIB = 1024 * 1024;

/** About `bytes` long in all, with owners. */
const objectOf = (bytes: number): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'n', managedFields: [{ manager: 'm', fieldsV1: { 'f:data': {} } }] },
  data: { text: 'x'.repeat(bytes) },
});

describe('storedBytes', () => {
  it('keeps the owners of an object that fits', async () => {
    const object = objectOf(MIB);
    assert.deepEqual(await storedBytes(object), encodeObject(object));
    assert.match((await storedBytes(object)).toString(), /managedFields/);
  });

  it('drops the owners of an object that would be too large with them, and leaves the object itself as it is', async () => {
    const object = objectOf(1.5 * MIB - 16 * 1024 - 100);
    const stored = (await storedBytes(object)).toString();
    assert.doesNotMatch(stored, /managedFields/);
    assert.deepEqual((JSON.parse(stored) as ApiObject)['data'], object['data']);
    assert.notEqual(object.metadata.managedFields, undefined);
  });

  it('leaves it to the store to refuse what is too large without owners, too', async () => {
    assert.ok((await storedBytes(objectOf(2 * MIB))).length > 2 * MIB);
  });
});
