import assert from 'node:assert/strict';
import type { CustomResourceDefinitionNames } from '../../machinery/types/generated/apiextensions.v1.js';
import type { CachedObject } from '../cache/cached-object.js';
import { Change } from '../cache/history.js';
import { Definitions } from './definitions.js';

const NOBODY = { all: () => undefined, put: () => undefined, removed: () => undefined };

function stored(
  name: string,
  revision: number,
  names: CustomResourceDefinitionNames,
  accepted?: CustomResourceDefinitionNames,
): CachedObject {
  const definition = { metadata: { name }, spec: { group: 'a.b', names }, status: { acceptedNames: accepted } };
  return { name, revision, parse: () => definition } as unknown as CachedObject; // as much as is looked at
}
const change = (object: CachedObject, deleted = false): Change => new Change(object, undefined, deleted, 0);
const at = (revision: number) => ({ group: 'a.b', revision });

describe('Definitions', () => {
  it('tell of names that others have, and that those which came before ask for', () => {
    const definitions = new Definitions(NOBODY);
    definitions.loaded([
      stored('old', 1, { plural: 'x', kind: 'X' }),
      stored('has', 3, { plural: 'y', kind: 'Y' }, { plural: 'y', kind: 'Other' }),
      stored('new', 4, { plural: 'z', kind: 'Z' }),
    ]);
    const { resources, kinds } = definitions.taken('me', at(2));
    assert.deepEqual([...resources].sort(), ['x', 'y']);
    assert.deepEqual([...kinds].sort(), ['Other', 'X']);
    assert.deepEqual([...definitions.taken('old', at(1)).resources], ['y']);
    assert.deepEqual([...definitions.taken('me', { group: 'c.d', revision: 9 }).resources], []);
  });

  it('have those looked at that changed, and those that lack a name whenever one may have come free', () => {
    const definitions = new Definitions(NOBODY);
    const names = { plural: 'x', kind: 'X' };
    definitions.loaded([
      stored('has', 1, names, names),
      stored('lacks', 2, { plural: 'y', kind: 'X' }, { plural: 'y' }),
    ]);
    assert.deepEqual(definitions.takeChanged().sort(), ['has', 'lacks']);
    assert.deepEqual(definitions.takeChanged(), []);
    definitions.changed(change(stored('has', 3, names, names), true));
    assert.deepEqual(definitions.takeChanged(), ['lacks']);
    assert.deepEqual([...definitions.taken('lacks', at(2)).kinds], []);
  });
});
