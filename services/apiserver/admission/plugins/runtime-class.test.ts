import assert from 'node:assert/strict';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../plugin.js';
import { ask, pod, type Outcome } from '../testing/pods.js';
import { ObjectsThere } from '../testing/there.js';
import { runtimeClass } from './runtime-class.js';

const CLASSES = { group: 'node.platform.io', resource: 'runtimeclasses' };
const toleration = { key: 'k', operator: 'Exists', effect: 'NoSchedule' };
const podFixed = { cpu: '500m', memory: '10Mi' };

const admit = (spec: object, said: Partial<AdmissionRequest> = {}): Promise<Outcome> => {
  const objects = new ObjectsThere()
    .put(CLASSES, { metadata: { name: 'plain' }, handler: 'h' })
    .put(CLASSES, { metadata: { name: 'new' }, overhead: { podFixed } }, 'stored')
    .put(CLASSES, {
      metadata: { name: 'heavy' },
      handler: 'h',
      overhead: { podFixed },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [toleration] },
    });
  return ask(runtimeClass({ vocabulary: vocabulary('platform'), objects }), pod(spec), said);
};

describe('runtimeClass()', () => {
  const other = { key: 'o', operator: 'Exists' };
  for (const [what, spec, expected] of [
    ['nothing without a class', {}, [undefined, undefined, undefined]],
    ['nothing of a class that says nothing', { runtimeClassName: 'plain' }, [undefined, undefined, undefined]],
    ['what its class says', { runtimeClassName: 'heavy' }, [podFixed, { a: 'b' }, [toleration]]],
    [
      'the same when it says so itself',
      {
        runtimeClassName: 'heavy',
        overhead: { memory: '10Mi', cpu: '500m' },
        nodeSelector: { a: 'b', x: 'y' },
        tolerations: [toleration, other],
      },
      [podFixed, { a: 'b', x: 'y' }, [toleration, other]],
    ],
    [
      'tolerations after its own',
      { runtimeClassName: 'heavy', tolerations: [other] },
      [podFixed, { a: 'b' }, [other, toleration]],
    ],
    [
      'what a class says that the cache does not have yet',
      { runtimeClassName: 'new' },
      [podFixed, undefined, undefined],
    ],
  ] as const) {
    // prettier-ignore
    it(`gives a pod ${what}`, async () => {
      const { why, spec: after } = await admit(structuredClone(spec));
      assert.equal(why, '');
      assert.deepEqual([after['overhead'], after['nodeSelector'], after['tolerations']], expected);
    });
  }

  for (const [what, spec, why] of [
    ['an unknown class', { runtimeClassName: 'nope' }, 'pod rejected: RuntimeClass "nope" not found'],
    [
      'another overhead',
      { runtimeClassName: 'heavy', overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'an overhead without a class',
      { overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'an overhead that its class does not have',
      { runtimeClassName: 'plain', overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'other nodes',
      { runtimeClassName: 'heavy', nodeSelector: { a: 'c' } },
      'conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      const { error } = await admit(spec);
      assert.equal(error?.message, `pods "p" is forbidden: ${why}`);
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  it('looks at new pods alone', async () => {
    for (const said of [{ operation: 'UPDATE' }, { subresource: 'eviction' }] as const) {
      assert.equal((await admit({ runtimeClassName: 'nope', overhead: {} }, said)).why, '');
    }
  });
});
