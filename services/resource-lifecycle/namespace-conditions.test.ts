import assert from 'node:assert/strict';
import { conditionsAfter, isEmpty, type Emptied } from './namespace-conditions.js';

const NOTHING: Emptied = { undiscovered: [], failures: [], remaining: [] };
const LEFT: Emptied = {
  undiscovered: ['metrics.io/v1', 'a.io/v1'],
  failures: ['pods.: it is slow', 'jobs.batch: refused'],
  remaining: [
    { resource: 'pods.', count: 2, finalizers: new Map([['x/y', 1]]) },
    { resource: 'jobs.batch', count: 1, finalizers: new Map([['x/y', 1], ['a/b', 1]]) }, // prettier-ignore
  ],
};
const NOW = '2026-01-02T00:00:00Z';
const BEFORE = '2026-01-01T00:00:00Z';

describe('conditions of a namespace that ends', () => {
  it('tell what is left and why', () => {
    const found = conditionsAfter([], LEFT, NOW)?.map(({ type, status, reason, message }) => [type, status, reason, message]); // prettier-ignore
    assert.deepEqual(found, [
      ['NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed', 'Discovery failed for some groups, 2 failing: a.io/v1; metrics.io/v1'], // prettier-ignore
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'], // prettier-ignore
      ['NamespaceDeletionContentFailure', 'True', 'ContentDeletionFailed', 'Failed to delete all resource types, 2 remaining: jobs.batch: refused; pods.: it is slow'], // prettier-ignore
      ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'Some resources are remaining: jobs.batch has 1 resource instances, pods. has 2 resource instances'], // prettier-ignore
      ['NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain', 'Some content in the namespace has finalizers remaining: a/b in 1 resource instances, x/y in 2 resource instances'], // prettier-ignore
    ]);
  });

  it('tell what is in order', () => {
    const found = conditionsAfter([], NOTHING, NOW)?.map(({ status, reason }) => [status, reason]);
    assert.deepEqual(found, [
      ['False', 'ResourcesDiscovered'],
      ['False', 'ParsedGroupVersions'],
      ['False', 'ContentDeleted'],
      ['False', 'ContentRemoved'],
      ['False', 'ContentHasNoFinalizers'],
    ]);
  });

  it('are not written again when they say the same', () => {
    const first = conditionsAfter([], LEFT, BEFORE) ?? assert.fail();
    assert.equal(conditionsAfter(first, LEFT, NOW), undefined);
  });

  it('keep the time of a status that stays, and conditions of others', () => {
    const other = { type: 'Mine', status: 'True' };
    const first = conditionsAfter([other], LEFT, BEFORE) ?? assert.fail();
    const [pods] = LEFT.remaining;
    const next = conditionsAfter(first, { ...LEFT, failures: [], remaining: pods ? [pods] : [] }, NOW) ?? assert.fail();
    assert.deepEqual(next[0], other);
    const times = new Map(next.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    assert.equal(times.get('NamespaceContentRemaining'), BEFORE);
    assert.equal(times.get('NamespaceDeletionContentFailure'), NOW);
    assert.equal(next.length, 6);
  });

  it('bound what they list', () => {
    const failures = Array.from({ length: 30 }, (_, i) => `f${i}`);
    const [, , content] = conditionsAfter([], { ...NOTHING, failures }, NOW) ?? assert.fail();
    assert.match(content?.message ?? '', /30 remaining: f0; .*; and 10 more$/);
  });

  it('are about a namespace that is empty when nothing is left and nothing failed', () => {
    assert.equal(isEmpty(NOTHING), true);
    for (const member of ['undiscovered', 'failures', 'remaining'] as const) {
      assert.equal(isEmpty({ ...NOTHING, [member]: LEFT[member] }), false, member);
    }
  });
});
