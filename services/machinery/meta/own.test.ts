import assert from 'node:assert/strict';
import { getOwn, setOwn } from './own.js';

describe('setOwn()', () => {
  it('writes __proto__ as a member, which getOwn() reads', () => {
    const target = {};
    setOwn(target, '__proto__', { polluted: true });
    assert.equal('polluted' in target, false);
    assert.deepEqual(getOwn(target, '__proto__'), { polluted: true });
    assert.equal(JSON.stringify(target), '{"__proto__":{"polluted":true}}');
  });
});

describe('getOwn()', () => {
  it('does not see what objects inherit', () => {
    assert.equal(getOwn({}, 'constructor'), undefined);
  });
});
