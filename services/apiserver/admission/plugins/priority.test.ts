import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../plugin.js';
import { ask, pod, PODS, type Outcome } from '../testing/pods.js';
import { ObjectsThere } from '../testing/there.js';
import { priority } from './priority.js';

const GROUP = 'scheduling.platform.io';
const CLASSES = { group: GROUP, resource: 'priorityclasses' };
const DECLARATION = { ...PODS, ...CLASSES, kind: 'PriorityClass' };

const priorityClass = (name: string, value: number, more: object = {}): ApiObject => ({
  kind: 'PriorityClass',
  apiVersion: `${GROUP}/v1`,
  metadata: { name },
  value,
  preemptionPolicy: 'PreemptLowerPriority',
  ...more,
});
const high = priorityClass('high', 100, { preemptionPolicy: 'Never' });
const usual = priorityClass('usual', 50, { globalDefault: true });

const admit = (
  classes: readonly ApiObject[],
  object: ApiObject,
  said: Partial<AdmissionRequest> = {},
  resource = PODS,
): Promise<Outcome> => {
  const objects = new ObjectsThere();
  for (const one of classes) objects.put(CLASSES, one);
  return ask(priority({ vocabulary: vocabulary('platform'), objects }), object, said, resource);
};

const PREEMPTS = 'PreemptLowerPriority';
const given = 'must not be provided in pod spec; priority admission controller computed';

describe('priority()', () => {
  for (const [what, classes, spec, expected] of [
    ['none where there is no class', [], {}, [undefined, 0, PREEMPTS]],
    ['none where there is no default', [high], {}, [undefined, 0, PREEMPTS]],
    ['the default', [high, usual], {}, ['usual', 50, PREEMPTS]],
    [
      'the least of two defaults',
      [usual, priorityClass('less', 40, { globalDefault: true })],
      {},
      ['less', 40, PREEMPTS],
    ],
    ['that of its class', [high, usual], { priorityClassName: 'high' }, ['high', 100, 'Never']],
    [
      'that of a class of the system',
      [priorityClass('system-node-critical', 2000001000)],
      { priorityClassName: 'system-node-critical' },
      ['system-node-critical', 2000001000, PREEMPTS],
    ],
    [
      'what it says itself, when that is the same',
      [high],
      { priorityClassName: 'high', priority: 100, preemptionPolicy: 'Never' },
      ['high', 100, 'Never'],
    ],
  ] as const) {
    // prettier-ignore
    it(`gives a pod ${what}`, async () => {
      const { why, spec: after } = await admit(classes, pod(spec));
      assert.equal(why, '');
      assert.deepEqual([after['priorityClassName'], after['priority'], after['preemptionPolicy']], expected);
    });
  }

  for (const [what, spec, why] of [
    ['an unknown class', { priorityClassName: 'nope' }, 'no PriorityClass with name nope was found'],
    [
      'a priority without a class',
      { priority: 5 },
      `the integer value of priority (5) ${given} 0 from the given PriorityClass name`,
    ],
    [
      'another priority',
      { priorityClassName: 'high', priority: 0 },
      `the integer value of priority (0) ${given} 100 from the given PriorityClass name`,
    ],
    [
      'another policy',
      { priorityClassName: 'high', preemptionPolicy: PREEMPTS },
      `the string value of PreemptionPolicy (${PREEMPTS}) ${given} Never from the given PriorityClass name`,
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      const { error } = await admit([high], pod(spec));
      assert.equal(error?.message, `pods "p" is forbidden: ${why}`);
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  it('asks the store for a class that the cache does not have', async () => {
    const objects = new ObjectsThere().put(CLASSES, high, 'stored');
    const plugin = priority({ vocabulary: vocabulary('platform'), objects });
    assert.equal((await ask(plugin, pod({ priorityClassName: 'high' }))).spec['priority'], 100);
  });

  it('keeps the priority of a pod that is updated without', async () => {
    const oldObject = pod({ priority: 7, preemptionPolicy: 'Never' });
    const { spec } = await admit([usual], pod(), { operation: 'UPDATE', oldObject });
    assert.deepEqual([spec['priority'], spec['preemptionPolicy'], spec['priorityClassName']], [7, 'Never', undefined]);
    const own = await admit([usual], pod({ priority: 8, preemptionPolicy: PREEMPTS }), { operation: 'UPDATE', oldObject }); // prettier-ignore
    assert.deepEqual([own.spec['priority'], own.spec['preemptionPolicy']], [8, PREEMPTS]);
  });

  it('leaves sub-resources alone', async () => {
    const { why, spec } = await admit([usual], pod({ priority: 5 }), { subresource: 'binding' });
    assert.deepEqual([why, spec['priorityClassName']], ['', undefined]);
  });

  describe('of classes', () => {
    const write = (classes: readonly ApiObject[], next: ApiObject, operation: 'CREATE' | 'UPDATE' = 'CREATE') =>
      admit(classes, next, { operation }, DECLARATION);
    const second = priorityClass('second', 40, { globalDefault: true });

    it('refuses a second default', async () => {
      for (const operation of ['CREATE', 'UPDATE'] as const) {
        const { error } = await write([usual], second, operation);
        const only = 'PriorityClass usual is already marked as default. Only one default can exist';
        assert.equal(error?.message, `priorityclasses.${GROUP} "second" is forbidden: ${only}`);
        assert.deepEqual(error.details, { name: 'second', group: GROUP, kind: 'priorityclasses' });
      }
    });

    it('allows the first default, a change of it, and others', async () => {
      assert.equal((await write([high], second)).why, '');
      assert.equal((await write([usual], usual, 'UPDATE')).why, '');
      assert.equal((await write([usual], high)).why, '');
    });
  });
});
