import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../machinery/meta/object.js';
import { StatusError } from '../../machinery/meta/status.js';
import { IMMEDIATELY, type DeleteOptions } from './delete-options.js';
import { checkPreconditions, deletionIsDue, nextDeletionStep, type DeletionStep } from './deletion.js';
import { DEFAULT_STRATEGY } from './strategy.js';
import { servedAs } from './testing/served.js';

const NOW = Date.parse('2024-01-01T00:00:00Z');
const MARKED = '2023-12-31T00:00:00Z';
const OWN = 'example.com/f';
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

const object = (metadata: ObjectMeta, more: object = {}): ApiObject => ({ kind: 'K', apiVersion: 'v1', metadata: { name: 'x', ...metadata }, ...more }); // prettier-ignore
const pods = servedAs('', 'v1', 'pods').stored.strategy;
const namespaces = servedAs('', 'v1', 'namespaces').stored.strategy;
const running = (metadata: ObjectMeta = {}): ApiObject => object(metadata, { spec: { nodeName: 'n' } });

describe('nextDeletionStep()', () => {
  const step = (
    of: ApiObject,
    options: Partial<DeleteOptions> = {},
    strategy = DEFAULT_STRATEGY,
    version = 'v1',
  ): DeletionStep => nextDeletionStep(strategy, of, { ...IMMEDIATELY, ...options }, { nowMs: NOW, version });
  /** The metadata of what is marked. */
  const marked = (of: ApiObject, options: Partial<DeleteOptions> = {}, strategy = DEFAULT_STRATEGY): ObjectMeta => {
    const next = step(of, options, strategy);
    assert.ok(next.do === 'mark', next.do);
    return next.object.metadata;
  };

  it('removes what nothing holds', () => assert.deepEqual(step(object({})), { do: 'remove' }));

  it('marks what has a finalizer, counts it once, and changes nothing in place', () => {
    const held = object({ finalizers: [OWN], generation: 1 });
    const { deletionTimestamp, deletionGracePeriodSeconds, generation } = marked(held);
    assert.deepEqual([deletionTimestamp, deletionGracePeriodSeconds, generation], ['2024-01-01T00:00:00Z', 0, 2]);
    assert.equal(held.metadata.deletionTimestamp, undefined);
    assert.equal(marked(object({ finalizers: [OWN], generation: 2, deletionTimestamp: MARKED }), { propagationPolicy: 'Orphan' }).generation, 2); // prettier-ignore
  });

  it('leaves dependents of some kinds to themselves where nothing is said, for clients of some versions', () => {
    const finalizersOf = (of: ApiObject, group: string, version: string, resource: string): unknown => {
      const next = step(of, {}, servedAs(group, version, resource).stored.strategy, version);
      return next.do === 'mark' ? next.object.metadata.finalizers : next.do;
    };
    assert.deepEqual(finalizersOf(object({}), '', 'v1', 'replicationcontrollers'), [ORPHAN]);
    assert.deepEqual(finalizersOf(object({}), 'batch', 'v1', 'jobs'), [ORPHAN]);
    assert.deepEqual(finalizersOf(object({}), 'batch', 'v1beta1', 'cronjobs'), [ORPHAN]);
    assert.equal(finalizersOf(object({}), 'batch', 'v1', 'cronjobs'), 'remove');
    assert.equal(finalizersOf(object({}), 'apps', 'v1', 'replicasets'), 'remove');
    assert.deepEqual(finalizersOf(object({ finalizers: [FOREGROUND] }), 'batch', 'v1', 'jobs'), [FOREGROUND]);
    assert.deepEqual(finalizersOf(object({ finalizers: [ORPHAN, OWN] }), 'batch', 'v1', 'jobs'), [ORPHAN, OWN]);
    assert.deepEqual(finalizersOf(object({ finalizers: [OWN] }), 'batch', 'v1', 'jobs'), [OWN, ORPHAN]);
    const jobs = servedAs('batch', 'v1', 'jobs').stored.strategy;
    assert.deepEqual(step(object({}), { propagationPolicy: 'Background' }, jobs), { do: 'remove' });
    assert.deepEqual(step(object({}), { orphanDependents: false }, jobs), { do: 'remove' });
  });

  it('keeps a kind without generation without', () => {
    assert.equal(marked(object({ finalizers: [OWN] })).generation, undefined);
  });

  for (const [finalizers, policy, expected] of [
    [[], 'Foreground', [FOREGROUND]],
    [[OWN], 'Orphan', [OWN, ORPHAN]],
    [[FOREGROUND, OWN], 'Orphan', [OWN, ORPHAN]],
    [[OWN, ORPHAN], 'Background', [OWN]],
  ] as const) {
    for (const deletionTimestamp of [undefined, MARKED]) {
      it(`makes ${finalizers.join()} with ${policy} ${expected.join()}${deletionTimestamp === undefined ? '' : ', also when it is marked'}`, () => {
        const metadata = {
          finalizers: [...finalizers],
          ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        };
        const next = marked(object(metadata), { propagationPolicy: policy });
        assert.deepEqual(next.finalizers, expected);
        assert.equal(next.deletionTimestamp, deletionTimestamp ?? '2024-01-01T00:00:00Z');
      });
    }
  }

  it('removes what is marked when the policy takes the last finalizer', () => {
    const waiting = object({ finalizers: [ORPHAN], deletionTimestamp: MARKED });
    assert.deepEqual(step(waiting, { propagationPolicy: 'Background' }), { do: 'remove' });
    assert.deepEqual(step(waiting, { orphanDependents: false }), { do: 'remove' });
  });

  it('does nothing where a second request adds nothing', () => {
    const waiting = object({ finalizers: [OWN, ORPHAN], deletionTimestamp: MARKED });
    for (const options of [{}, { propagationPolicy: 'Orphan' }, { orphanDependents: true }] as const) {
      assert.deepEqual(step(waiting, options), { do: 'nothing' });
    }
  });

  it('gives a running pod its time, which only gets shorter', () => {
    assert.equal(marked(running(), {}, pods).deletionGracePeriodSeconds, 30);
    assert.equal(marked(running(), { gracePeriodSeconds: 7 }, pods).deletionTimestamp, '2024-01-01T00:00:07Z');
    const winding = running({ deletionTimestamp: MARKED, deletionGracePeriodSeconds: 7, generation: 1 });
    assert.deepEqual(step(winding, { gracePeriodSeconds: 7 }, pods), { do: 'nothing' });
    assert.deepEqual(step(winding, { gracePeriodSeconds: 8, propagationPolicy: 'Foreground' }, pods), {
      do: 'nothing',
    });
    const shorter = marked(winding, { gracePeriodSeconds: 6 }, pods);
    assert.deepEqual([shorter.deletionGracePeriodSeconds, shorter.deletionTimestamp, shorter.generation], [6, '2024-01-01T00:00:06Z', 1]); // prettier-ignore
    assert.deepEqual(step(winding, { gracePeriodSeconds: 0 }, pods), { do: 'remove' });
  });

  it('marks a namespace as terminating, without a time', () => {
    const next = step(object({}, { spec: { finalizers: ['x'] }, status: { phase: 'Active' } }), {}, namespaces);
    assert.ok(next.do === 'mark');
    assert.deepEqual(next.object['status'], { phase: 'Terminating' });
    assert.ok(!('deletionGracePeriodSeconds' in next.object.metadata));
  });
});

describe('deletionIsDue()', () => {
  const due = (metadata: ObjectMeta, more: object = {}, strategy = DEFAULT_STRATEGY): boolean =>
    deletionIsDue(strategy, object(metadata, more));

  it('waits for finalizers, time and what the kind waits for', () => {
    assert.equal(due({ deletionTimestamp: MARKED }), true);
    assert.equal(due({ deletionTimestamp: MARKED, finalizers: [] }), true);
    assert.equal(due({}), false);
    assert.equal(due({ deletionTimestamp: MARKED, finalizers: [OWN] }), false);
    assert.equal(due({ deletionTimestamp: MARKED, deletionGracePeriodSeconds: 1 }), false);
    assert.equal(due({ deletionTimestamp: MARKED }, { spec: { finalizers: ['x'] } }, namespaces), false);
    assert.equal(due({ deletionTimestamp: MARKED }, { spec: {} }, namespaces), true);
  });
});

describe('checkPreconditions()', () => {
  it('refuses another object and another state', () => {
    const present = object({ uid: 'u', resourceVersion: '5' });
    const check = (uid?: string, resourceVersion?: string): void =>
      checkPreconditions({ group: '', resource: 'x' }, present, {
        ...IMMEDIATELY,
        preconditions: { uid, resourceVersion },
      });
    check();
    check('u', '5');
    for (const [uid, version] of [['v'], [undefined, '4']]) {
      assert.throws(
        () => check(uid, version),
        (err) => err instanceof StatusError && err.reason === 'Conflict',
      );
    }
  });
});
