import assert from 'node:assert/strict';
import { BODY_DECODERS } from './bodies.js';

describe('BODY_DECODERS', () => {
  it('has JSON and YAML', async () => {
    assert.deepEqual(await BODY_DECODERS.get('application/json')?.(Buffer.from('{"a":1}')), { a: 1 });
    assert.deepEqual(await BODY_DECODERS.get('application/yaml')?.(Buffer.from('a: 1')), { a: 1 });
  });
});
