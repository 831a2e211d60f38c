import assert from 'node:assert/strict';
import { traceBy, traced, traceHeaders, type Tracing } from './trace.js';

describe('traced()', () => {
  afterEach(() => traceBy(undefined));

  it('just works where nothing is traced', () => {
    assert.equal(
      traced('a', {}, () => 1),
      1,
    );
    assert.deepEqual(traceHeaders(), {});
  });

  it('tells of what it does otherwise', () => {
    const told: string[] = [];
    const tracing: Tracing = {
      within: (name, _, work) => {
        told.push(name);
        return work();
      },
      headers: () => ({ traceparent: 'here' }),
    };
    traceBy(tracing);
    assert.equal(
      traced('a', {}, () => traced('b', {}, () => 2)),
      2,
    );
    assert.deepEqual([told, traceHeaders()], [['a', 'b'], { traceparent: 'here' }]);
  });
});
