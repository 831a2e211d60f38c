import assert from 'node:assert/strict';

import { revision, type Revision } from '../store.js';
import { Lineage, type Head } from './lineage.js';

const at = (n: number): Revision => revision(n);
const head = (n: number, cluster = 1n): Head => ({ revision: at(n), cluster });

describe('Lineage', () => {
  let lineage: Lineage;
  beforeEach(() => {
    lineage = new Lineage();
    assert.equal(lineage.continues(head(10), at(0)), true);
  });

  it('is continued from what was newest when the question went out', () => {
    assert.equal(lineage.continues(head(10), at(10)), true);
    assert.equal(lineage.continues(head(9), at(10)), false);
    lineage.saw(at(12));
    assert.equal(lineage.continues(head(10), at(10)), true, 'what was told meanwhile does not count');
  });

  it('is not continued by another cluster, however far that is', () => {
    assert.equal(lineage.continues(head(1000, 2n), at(10)), false);
    assert.equal(lineage.newest, 10);
  });

  it('notes how far it has come, and never goes back', () => {
    lineage.saw(at(12));
    lineage.saw(at(11));
    assert.equal(lineage.newest, 12);
    lineage.continues(head(15), at(12));
    assert.equal(lineage.newest, 15);
    lineage.continues(head(14), at(12));
    assert.equal(lineage.newest, 15);
    lineage.continues(head(3), at(12));
    assert.equal(lineage.newest, 15);
  });

  it('begins again with another head, in its cluster', () => {
    lineage.restart(head(4, 2n));
    assert.equal(lineage.newest, 4);
    assert.equal(lineage.continues(head(4, 2n), at(4)), true);
    assert.equal(lineage.continues(head(20, 1n), at(4)), false);
  });
});
