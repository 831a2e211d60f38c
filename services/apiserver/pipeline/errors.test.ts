import assert from 'node:assert/strict';
import { StoreError } from '../../storage/store.js';
import { asStatus } from './exchange-stages.js';

describe('asStatus()', () => {
  const full = new StoreError('noSpace', 'etcdserver: mvcc: database space exceeded');

  it('says what is full in the words of the store', () => {
    for (const err of [full, new Error('a write failed', { cause: full })]) {
      const { code, message } = asStatus(err).body();
      assert.deepEqual([code, message], [500, 'etcdserver: mvcc: database space exceeded']);
    }
  });

  it('keeps to itself what else went wrong', () => {
    for (const err of [new Error('secret'), new StoreError('corrupt', 'secret')]) {
      assert.deepEqual([asStatus(err).code, asStatus(err).message], [500, 'Internal error occurred']);
    }
    const away = asStatus(new StoreError('unavailable', 'secret'));
    assert.deepEqual([away.code, away.message], [503, 'The store is not available']);
    assert.equal(away.details?.retryAfterSeconds, 1);
  });

  it('does not ask to try again what may have been done', () => {
    for (const code of ['unavailable', 'closed'] as const) {
      const unknown = asStatus(new StoreError(code, 'secret', { mayBeDone: true }));
      assert.deepEqual([unknown.code, unknown.reason], [504, 'Timeout']);
      assert.equal(unknown.details?.retryAfterSeconds, undefined);
    }
  });
});
