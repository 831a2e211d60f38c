import assert from 'node:assert/strict';
import { loadCatalog } from '../types/catalog.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { layOver, NotLaidOver } from './apply-over.js';
import { structShape } from './shape.js';

const { types } = loadCatalog(vocabulary('platform'));
const shape = structShape(types.of('core/v1.Pod'));
const POD = {
  metadata: { name: 'p', labels: { a: '1' }, finalizers: ['x'] },
  spec: {
    nodeName: 'n',
    containers: [
      { name: 'a', image: 'a:1', args: ['-v'], ports: [{ containerPort: 80 }] },
      { name: 'b', image: 'b:1' },
    ],
  },
};

describe('layOver()', () => {
  it('lays members, maps, sets and items over those that are there, and takes nothing out', () => {
    const before = structuredClone(POD);
    const after = layOver(shape, POD, {
      metadata: { labels: { b: '2' }, finalizers: ['y'] },
      spec: { nodeName: 'm', containers: [{ name: 'b', image: 'b:2' }, { name: 'c', image: 'c:1' }] }, // prettier-ignore
    });
    assert.deepEqual(after, {
      metadata: { name: 'p', labels: { a: '1', b: '2' }, finalizers: ['x', 'y'] },
      spec: {
        nodeName: 'm',
        containers: [POD.spec.containers[0], { name: 'b', image: 'b:2' }, { name: 'c', image: 'c:1' }],
      },
    });
    assert.deepEqual(POD, before);
  });

  it('takes ports by their number and their protocol', () => {
    const ports = [{ containerPort: 80, protocol: 'TCP', name: 'web' }, { containerPort: 80, protocol: 'UDP' }]; // prettier-ignore
    const after = layOver(shape, POD, { spec: { containers: [{ name: 'a', ports }] } }) as typeof POD;
    assert.deepEqual(after.spec.containers[0], {
      ...POD.spec.containers[0],
      ports: [
        { containerPort: 80, protocol: 'TCP', name: 'web' },
        { containerPort: 80, protocol: 'UDP' },
      ],
    });
  });

  const typed = 'failed to convert patch object to typed object: ';
  const atomic = 'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ';
  for (const [config, why] of [
    [{ spec: { size: 1 } }, `${typed}.spec.size: field not declared in schema`],
    [
      { spec: { containers: [{ name: 'a', size: 1 }] } },
      `${typed}.spec.containers[0].size: field not declared in schema`,
    ],
    [{ spec: { containers: [{ name: 'a', args: [] }] } }, `${atomic}.spec.containers[0].args`],
    [{ spec: { nodeSelector: {}, containers: [] } }, `${atomic}.spec.nodeSelector`],
  ] as const) {
    it(`does not take ${JSON.stringify(config)}`, () =>
      assert.throws(
        () => layOver(shape, POD, config),
        (err) => err instanceof NotLaidOver && err.message === why,
      ));
  }

  it('does not take items that cannot be told apart', () => {
    const twice = { spec: { containers: [{ name: 'a' }, { name: 'a' }] } };
    assert.throws(() => layOver(shape, POD, twice), NotLaidOver);
  });
});
