import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { fillDefaults } from './fill-defaults.js';
import { readSchema } from './read-schema.js';

describe('fillDefaults()', () => {
  it('leaves members sorted by name, those of defaults too: what is written again as it is has the same bytes', () => {
    const inner = { type: 'object', properties: { z: { type: 'string', default: 'z' }, a: { type: 'string' } } };
    const properties = {
      b: { type: 'string', default: 'b' },
      list: { type: 'array', items: inner, default: [{ z: 'y', a: 'x' }] },
      a: inner,
    };
    const object = { a: { z: 'z', a: 'a' }, c: 1 };
    fillDefaults(
      object,
      readSchema({ type: 'object', properties }, (name) => name),
    );
    assert.equal(JSON.stringify(object), '{"a":{"z":"z","a":"a"},"b":"b","c":1,"list":[{"a":"x","z":"y"}]}');
  });

  it('puts what comes inside of others in its place, too', () => {
    const inner = { type: 'object', properties: { b: { type: 'integer', default: 2 }, z: { type: 'integer' } } };
    const properties = { list: { type: 'array', items: inner }, spec: inner };
    const object = { list: [{ z: 1 }], spec: { z: 1 } };
    fillDefaults(
      object,
      readSchema({ type: 'object', properties }, (name) => name),
    );
    assert.equal(JSON.stringify(object), '{"list":[{"b":2,"z":1}],"spec":{"b":2,"z":1}}');
  });
});
