import assert from 'node:assert/strict';
import { field, invalid } from './status.js';

describe('invalid()', () => {
  const kind = { group: '', kind: 'Pod' };

  it('says each problem once, and has a cause for every time that it was found', () => {
    const problem = field.required('spec.a');
    const { message, details } = invalid(kind, 'p', [problem, problem]);
    assert.equal(message, 'Pod "p" is invalid: spec.a: Required value');
    assert.equal(details?.causes?.length, 2);
  });

  it('lists several problems in brackets', () => {
    const { message } = invalid(kind, 'p', [field.required('a'), field.required('b'), field.required('a')]);
    assert.equal(message, 'Pod "p" is invalid: [a: Required value, b: Required value]');
  });
});
