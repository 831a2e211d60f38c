import assert from 'node:assert/strict';
import { simplePath } from './simple-path.js';

describe('simplePath()', () => {
  it('gives the members on the way', () => {
    assert.deepEqual(simplePath('.spec.replicas'), ['spec', 'replicas']);
    assert.deepEqual(simplePath(`.spec['a.b/c']["d\\"e"]`), ['spec', 'a.b/c', 'd"e']);
  });

  it('gives nothing for what is more than that', () => {
    for (const path of ['', 'spec', '.spec[0]', '.spec.*', '.spec..a', '.a b'])
      assert.equal(simplePath(path), undefined, path);
  });
});
