import assert from 'node:assert/strict';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../../plugin.js';
import { ask, pod, PODS, type Outcome } from '../../testing/pods.js';
import { ObjectsThere } from '../../testing/there.js';
import { limitRanger } from './plugin.js';

const RANGES = { group: '', resource: 'limitranges' };
const CLAIMS = { ...PODS, resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' };

/** A list of ranges, each of its items; they are called a, b, and so on. */
function there(...ranges: readonly (readonly object[])[]): ObjectsThere {
  const objects = new ObjectsThere();
  for (const [i, limits] of ranges.entries()) {
    objects.put(RANGES, { metadata: { name: 'abc'.charAt(i), namespace: 'ns' }, spec: { limits } });
  }
  return objects.put(RANGES, {
    metadata: { name: 'a', namespace: 'ns2' },
    spec: { limits: [{ type: 'Container', default: { cpu: '9' }, max: { cpu: '0' } }] },
  });
}

const admit = (
  objects: ObjectsThere,
  object: ApiObject,
  said: Partial<AdmissionRequest> = {},
  resource = PODS,
): Promise<Outcome> => ask(limitRanger({ vocabulary: vocabulary('platform'), objects }), object, said, resource);

type Amounts = Readonly<Record<string, string>>;
const container = (name: string, requests?: Amounts, limits?: Amounts): object => ({
  name,
  ...(requests === undefined ? {} : { resources: { requests, ...(limits === undefined ? {} : { limits }) } }),
});
const both = (amounts: Amounts, name = 'c'): object => container(name, amounts, amounts);
const resourcesOf = (spec: Outcome['spec'], list = 'containers'): unknown =>
  (spec[list] as { resources: unknown }[]).map(({ resources }) => resources);

describe('limitRanger()', () => {
  describe('defaults', () => {
    const items = [{ type: 'Container', default: { cpu: '500m', memory: '1Gi' }, defaultRequest: { memory: '500Mi', cpu: '100m' } }]; // prettier-ignore

    it('go to containers that do not say, and are noted', async () => {
      const spec = {
        initContainers: [container('i', { cpu: '1' }, { cpu: '1' })],
        containers: [container('c'), container('d', { cpu: '200m', memory: '2Gi' }, { memory: '2Gi' })],
      };
      const { why, spec: after, request } = await admit(there(items), pod(spec));
      assert.equal(why, '');
      assert.deepEqual(resourcesOf(after), [
        { requests: { cpu: '100m', memory: '500Mi' }, limits: { cpu: '500m', memory: '1Gi' } },
        { requests: { cpu: '200m', memory: '2Gi' }, limits: { cpu: '500m', memory: '2Gi' } },
      ]);
      assert.deepEqual(resourcesOf(after, 'initContainers'), [
        { requests: { cpu: '1', memory: '500Mi' }, limits: { cpu: '1', memory: '1Gi' } },
      ]);
      assert.deepEqual(request.object?.metadata.annotations, {
        'platform.io/limit-ranger':
          'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; ' +
          'cpu limit for container d; memory request for init container i; memory limit for init container i',
      });
    });

    it('come from all ranges, the first by its name before the others', async () => {
      const second = [{ type: 'Container', default: { cpu: '600m', 'ephemeral-storage': '2Gi' } }];
      const { spec, request } = await admit(there(items, second), pod());
      assert.deepEqual(resourcesOf(spec), [
        {
          requests: { cpu: '100m', memory: '500Mi' },
          limits: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '2Gi' },
        },
      ]);
      assert.deepEqual(request.object?.metadata.annotations, {
        'platform.io/limit-ranger': 'LimitRanger plugin set: ephemeral-storage limit for container c',
      });
    });

    it('are those for containers', async () => {
      const { spec, request } = await admit(there([{ type: 'Pod', default: { cpu: '1' } }]), pod());
      assert.deepEqual([resourcesOf(spec), request.object?.metadata.annotations], [[undefined], undefined]);
    });

    it('go to new pods alone', async () => {
      for (const said of [{ operation: 'UPDATE' }, { subresource: 'eviction' }] as const) {
        assert.deepEqual(resourcesOf((await admit(there(items), pod(), said)).spec), [undefined]);
      }
    });
  });

  const CONTAINER = {
    type: 'Container',
    min: { memory: '100Mi', cpu: '100m' },
    max: { cpu: '1', memory: '1Gi' },
    maxLimitRequestRatio: { cpu: '2' },
  };
  const POD = { ...CONTAINER, type: 'Pod' };
  const ok = { cpu: '600m', memory: '200Mi' };

  for (const [what, items, spec, why] of [
    [
      'too little',
      [CONTAINER],
      { containers: [container('c', { cpu: '50m', memory: '50Mi' }, { cpu: '60m', memory: '100Mi' })] },
      '[minimum cpu usage per Container is 100m, but request is 50m, minimum memory usage per Container is 100Mi, but request is 50Mi]',
    ],
    [
      'too much',
      [CONTAINER],
      { containers: [container('c', { cpu: '1500m', memory: '2Gi' }, { cpu: '2', memory: '2Gi' })] },
      '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]',
    ],
    [
      'too much at the start',
      [CONTAINER],
      { containers: [both(ok)], initContainers: [both({ cpu: '1100m', memory: '1Gi' }, 'i')] },
      'maximum cpu usage per Container is 1, but limit is 1100m',
    ],
    [
      'a request that is too much',
      [{ type: 'Container', max: { cpu: '1' } }],
      { containers: [container('c', { cpu: '2' }, { cpu: '1' })] },
      'maximum cpu usage per Container is 1, but request is 2',
    ],
    [
      'too high a ratio',
      [CONTAINER],
      { containers: [container('c', { cpu: '100m', memory: '100Mi' }, { cpu: '333m', memory: '100Mi' })] },
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.330000',
    ],
    [
      'no request to compare with',
      [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }],
      { containers: [container('c', { cpu: '0' }, { cpu: '1' })] },
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'no limit to compare with',
      [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }],
      { containers: [container('c', { cpu: '1' })] },
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    [
      'nothing where something is needed',
      [CONTAINER],
      {},
      '[minimum cpu usage per Container is 100m.  No request is specified, minimum memory usage per Container is 100Mi.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, maximum memory usage per Container is 1Gi.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]',
    ],
    [
      'the same of two containers, once',
      [{ type: 'Container', min: { cpu: '1' } }],
      { containers: [container('c'), container('d')] },
      'minimum cpu usage per Container is 1.  No request is specified',
    ],
    [
      'too much in all',
      [POD],
      { containers: [both(ok), both(ok, 'd')] },
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    ],
    [
      'too much memory in all',
      [POD],
      { containers: [both({ cpu: '100m', memory: '600Mi' }), both({ cpu: '100m', memory: '600Mi' }, 'd')] },
      'maximum memory usage per Pod is 1Gi, but limit is 1200Mi',
    ],
    [
      'a pod of which one container does not say',
      [{ type: 'Pod', min: { cpu: '100m' } }],
      { containers: [both(ok), container('d')] },
      'minimum cpu usage per Pod is 100m.  No request is specified',
    ],
    [
      'a pod of which the last container alone says',
      [{ type: 'Pod', min: { cpu: '100m' } }],
      { containers: [container('d'), both(ok)] },
      'minimum cpu usage per Pod is 100m.  No request is specified',
    ],
    [
      'a start that takes more than the rest',
      [POD],
      { initContainers: [both({ cpu: '1100m' }, 'i')], containers: [both(ok)] },
      'maximum cpu usage per Pod is 1, but limit is 1100m',
    ],
    [
      'too high a ratio in all',
      [POD],
      { containers: [container('c', { cpu: '200m', memory: '200Mi' }, { cpu: '900m', memory: '200Mi' })] },
      'cpu max limit to request ratio per Pod is 2, but provided ratio is 4.500000',
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      const { error } = await admit(there(items), pod(structuredClone(spec)));
      assert.equal(error?.message, `pods "p" is forbidden: ${why}`);
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  for (const [what, items, spec] of [
    [
      'just enough',
      [CONTAINER],
      { containers: [container('c', { cpu: '100m', memory: '100Mi' }, { cpu: '200m', memory: '1Gi' })] },
    ],
    [
      'containers of a start one after the other',
      [POD],
      { initContainers: [both(ok, 'i'), both(ok, 'j')], containers: [both(ok)] },
    ],
    [
      'what a start alone names',
      [{ type: 'Pod', min: { cpu: '100m' } }],
      { initContainers: [both(ok, 'i')], containers: [container('c')] },
    ],
    ['overhead beyond the bounds', [POD], { overhead: { cpu: '5' }, containers: [both(ok)] }],
    ['whatever is for claims', [{ ...CONTAINER, type: 'PersistentVolumeClaim' }], {}],
  ] as const) {
    // prettier-ignore
    it(`allows ${what}`, async () => assert.equal((await admit(there(items), pod(structuredClone(spec)))).why, ''));
  }

  it('refuses by the first range that is not kept', async () => {
    const most = (cpu: string): object => ({ type: 'Container', max: { cpu } });
    const { why } = await admit(
      there([most('4')], [most('2')], [most('1')]),
      pod({ containers: [both({ cpu: '3' })] }),
    );
    assert.match(why, /: maximum cpu usage per Container is 2, but limit is 3$/);
  });

  it('looks at new pods alone', async () => {
    for (const said of [{ operation: 'UPDATE' }, { subresource: 'binding' }] as const) {
      assert.equal((await admit(there([CONTAINER]), pod(), said)).why, '');
    }
  });

  describe('of claims', () => {
    const items = [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }];
    const claim = (storage: string, metadata: object = {}): ApiObject => ({
      ...pod({ resources: { requests: { storage } }, containers: undefined }, metadata),
      kind: 'PersistentVolumeClaim',
    });
    for (const [storage, operation, why] of [
      ['500Mi', 'CREATE', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi'],
      ['3Gi', 'CREATE', 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
      ['3Gi', 'UPDATE', 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
    ] as const) {
      it(`refuses ${storage} on ${operation}`, async () => {
        const outcome = await admit(there(items), claim(storage), { operation }, CLAIMS);
        assert.equal(outcome.why, `persistentvolumeclaims "p" is forbidden: ${why}`);
      });
    }
    it('allows what is within, what goes, and a status', async () => {
      assert.equal((await admit(there(items), claim('1500Mi'), {}, CLAIMS)).why, '');
      const going = claim('3Gi', { deletionTimestamp: '2026-01-01T00:00:00Z' });
      assert.equal((await admit(there(items), going, { operation: 'UPDATE' }, CLAIMS)).why, '');
      const status = { operation: 'UPDATE', subresource: 'status' } as const;
      assert.equal((await admit(there(items), claim('3Gi'), status, CLAIMS)).why, '');
    });
  });
});
