import assert from 'node:assert/strict';
import { AUTHORIZATION_MODES } from '../options/authorization.js';
import { AUTHORIZERS } from './authorizers.js';

describe('AUTHORIZERS', () => {
  it('has one for each mode', () => {
    assert.deepEqual(AUTHORIZERS.map(({ name }) => name).sort(), [...AUTHORIZATION_MODES].sort());
  });
});
