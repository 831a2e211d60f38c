import assert from 'node:assert/strict';
import { acceptNames, takenNames } from './names.js';

const asked = {
  plural: 'cars',
  singular: 'car',
  kind: 'Car',
  listKind: 'CarList',
  shortNames: ['c'],
  categories: ['all'],
};

describe('acceptNames()', () => {
  const against = (...others: Parameters<typeof takenNames>[0][]) =>
    acceptNames(asked, {}, takenNames(others.flatMap((it) => [...it])));

  it('gives all that nobody has', () => {
    assert.deepEqual(against([]), { names: asked, conflict: undefined });
  });

  const conflicts: readonly (readonly [other: object, member: string, reason: string, name: string])[] = [
    [{ plural: 'cars' }, 'plural', 'PluralConflict', 'cars'],
    [{ shortNames: ['car'] }, 'singular', 'SingularConflict', 'car'],
    [{ singular: 'c' }, 'shortNames', 'ShortNamesConflict', 'c'],
    [{ listKind: 'Car' }, 'kind', 'KindConflict', 'Car'],
    [{ kind: 'CarList' }, 'listKind', 'ListKindConflict', 'CarList'],
  ];
  for (const [other, member, reason, name] of conflicts) {
    it(`refuses a ${member} that is another's, and gives the rest`, () => {
      const { names, conflict } = against([other]);
      assert.deepEqual(conflict, { reason, message: `"${name}" is already in use` });
      const { [member as 'plural']: _, ...rest } = asked;
      assert.deepEqual(names, rest);
    });
  }

  it('leaves what a definition has, whoever asks for it now', () => {
    assert.equal(acceptNames(asked, asked, takenNames([asked])).conflict, undefined);
  });

  it('takes away what is asked for no more', () => {
    const { shortNames, categories, ...fewer } = asked;
    assert.deepEqual([shortNames, categories].length, 2);
    assert.deepEqual(acceptNames(fewer, asked, takenNames([])).names, fewer);
  });
});
