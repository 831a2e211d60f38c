import assert from 'node:assert/strict';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { ReadSchemas } from './read-schemas.js';

describe('ReadSchemas', () => {
  const schema = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: 'self.kind == "A"' }, { rule: 'self.nope' }],
  };

  it('reads a schema once', () => {
    const read = new ReadSchemas(vocabulary('kubernetes'));
    const first = read.of(schema);
    assert.equal(first.type, 'object');
    assert.equal(read.of(schema), first);
    assert.notEqual(read.of({ ...schema }), first);
  });

  it('checks its rules once, in their order', () => {
    const read = new ReadSchemas(vocabulary('kubernetes'));
    const rules = read.rulesOf(read.of(schema), true);
    assert.deepEqual(
      rules.map((made) => 'why' in made),
      [false, true],
    );
    assert.equal(read.rulesOf(read.of(schema), true), rules);
    const inside = read.rulesOf(read.of({ ...schema }), false);
    assert.deepEqual(
      inside.map((made) => 'why' in made),
      [true, true],
    );
  });
});
