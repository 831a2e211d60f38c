import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { getMeaning, listMeaning, watchStart, type Match } from './read-table.js';

/** The table of spec 1, 4.6, cell by cell: match, paging, then unset, "0" and another version. */
const LIST: readonly (readonly [Match, 'all' | 'limit' | 'continue', string, string, string])[] = [
  ['', 'all', 'MostRecent', 'Any', 'NotOlderThan'],
  ['', 'limit', 'MostRecent', 'Any', 'Exact'],
  ['', 'continue', 'Continue', 'Continue', 'invalid'],
  ['Exact', 'all', 'invalid', 'invalid', 'Exact'],
  ['Exact', 'limit', 'invalid', 'invalid', 'Exact'],
  ['Exact', 'continue', 'invalid', 'invalid', 'invalid'],
  ['NotOlderThan', 'all', 'invalid', 'Any', 'NotOlderThan'],
  ['NotOlderThan', 'limit', 'invalid', 'Any', 'NotOlderThan'],
  ['NotOlderThan', 'continue', 'invalid', 'invalid', 'invalid'],
];

describe('listMeaning()', () => {
  for (const [match, paging, ...cells] of LIST) {
    for (const [i, resourceVersion] of [undefined, 0, 77].entries()) {
      const expected = cells[i] ?? '';
      it(`of match "${match}", ${paging}, version ${resourceVersion ?? 'unset'} is ${expected}`, () => {
        const ask = (): string =>
          listMeaning({
            match,
            resourceVersion,
            limit: paging === 'all' ? 0 : 5,
            continueToken: paging === 'continue' ? 't' : '',
          });
        if (expected === 'invalid') assert.throws(ask, (err) => hasReason(err, 'BadRequest'));
        else assert.equal(ask(), expected);
      });
    }
  }

  it('says which combination is invalid', () => {
    assert.throws(
      () => listMeaning({ match: 'Exact', resourceVersion: 0, limit: 5, continueToken: '' }),
      /resourceVersionMatch "Exact" with resourceVersion "0" and a limit/,
    );
  });
});

describe('getMeaning()', () => {
  it('follows the table', () => {
    assert.deepEqual([undefined, 0, 77].map(getMeaning), ['MostRecent', 'Any', 'NotOlderThan']);
  });
});

describe('watchStart()', () => {
  it('follows the table', () => {
    assert.deepEqual([undefined, 0, 77].map(watchStart), ['GetStateMostRecent', 'GetStateAny', 'Exact']);
  });
});
