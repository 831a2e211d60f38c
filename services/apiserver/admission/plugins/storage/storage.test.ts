import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { ask } from '../../testing/pods.js';
import { ObjectsThere } from '../../testing/there.js';
import { persistentVolumeClaimResize } from './claim-resize.js';
import { storageObjectInUseProtection } from './in-use-protection.js';
import { persistentVolumeLabel } from './volume-label.js';

const words = vocabulary('platform');
const kubernetes = vocabulary('kubernetes');
const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' };
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume' };

const object = (spec: object, metadata: ObjectMeta = {}): ApiObject => ({
  kind: 'K',
  apiVersion: 'v1',
  metadata: { name: 'x', ...metadata },
  spec,
});

describe('persistentVolumeClaimResize()', () => {
  const classes = { group: words.groups.storage, resource: 'storageclasses' };
  const storageClass = (name: string, members: object = {}): object => ({ metadata: { name }, ...members });
  const objects = new ObjectsThere()
    .put(classes, storageClass('grows', { allowVolumeExpansion: true }))
    .put(classes, storageClass('new', { allowVolumeExpansion: true }), 'stored')
    .put(classes, storageClass('stays', { allowVolumeExpansion: false }))
    .put(classes, storageClass('silent'));
  const plugin = persistentVolumeClaimResize({ vocabulary: words, objects });
  const claim = (size: string | undefined, storageClassName?: string, beta?: string): ApiObject =>
    object(
      { storageClassName, resources: { requests: { storage: size } } },
      beta === undefined ? {} : { annotations: { [words.annotations.betaStorageClass]: beta } },
    );
  const NO =
    'persistentvolumeclaims "x" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

  for (const [what, old, next, why] of [
    ['refuses growth without a class', claim('1Gi'), claim('2Gi'), NO],
    ['refuses growth with an empty class', claim('1Gi', ''), claim('2Gi', ''), NO],
    ['refuses growth with a class that is not there', claim('1Gi', 'gone'), claim('2Gi', 'gone'), NO],
    ['refuses growth where the class says no', claim('1Gi', 'stays'), claim('2Gi', 'stays'), NO],
    ['refuses growth where the class says nothing', claim('1Gi', 'silent'), claim('2Gi', 'silent'), NO],
    ['allows growth where the class says so', claim('1Gi', 'grows'), claim('2Gi', 'grows'), ''],
    ['allows it where only the store knows the class', claim('1Gi', 'new'), claim('2Gi', 'new'), ''],
    ['compares amounts, not texts', claim('1024Mi', 'stays'), claim('1Gi', 'stays'), ''],
    ['has nothing against less', claim('2Gi', 'stays'), claim('1Gi', 'stays'), ''],
    ['minds a first size', object({}), claim('1Gi', 'stays'), NO],
    ['knows the older annotation', claim('1Gi', undefined, 'grows'), claim('2Gi'), ''],
    ['asks the annotation first', claim('1Gi', 'grows', 'stays'), claim('2Gi', 'grows', 'stays'), NO],
    ['asks the class that the claim has', claim('1Gi', 'stays'), claim('2Gi', 'grows'), NO],
  ] as const) {
    it(what, async () => {
      assert.equal((await ask(plugin, next, { operation: 'UPDATE', oldObject: old }, CLAIMS)).why, why);
    });
  }

  it('looks at changes of the claim itself', async () => {
    const status = { operation: 'UPDATE', oldObject: claim('1Gi'), subresource: 'status' } as const;
    assert.equal((await ask(plugin, claim('2Gi'), status, CLAIMS)).why, '');
    assert.equal((await ask(plugin, claim('2Gi'), {}, CLAIMS)).why, '');
  });
});

describe('storageObjectInUseProtection()', () => {
  for (const [what, from, resource, had, has] of [
    ['keeps claims', words, CLAIMS, undefined, ['platform.io/pvc-protection']],
    ['keeps volumes', words, VOLUMES, undefined, ['platform.io/pv-protection']],
    ['adds to what is there', words, CLAIMS, ['a.b/c'], ['a.b/c', 'platform.io/pvc-protection']],
    [
      'adds nothing twice',
      words,
      VOLUMES,
      ['platform.io/pv-protection', 'a.b/c'],
      ['platform.io/pv-protection', 'a.b/c'],
    ],
    ['speaks the words of the installation', kubernetes, CLAIMS, [], ['kubernetes.io/pvc-protection']],
    ['does so for volumes', kubernetes, VOLUMES, [], ['kubernetes.io/pv-protection']],
  ] as const) {
    it(what, async () => {
      const plugin = storageObjectInUseProtection({ vocabulary: from });
      const made = object({}, had === undefined ? {} : { finalizers: [...had] });
      assert.equal((await ask(plugin, made, {}, resource)).why, '');
      assert.deepEqual(made.metadata.finalizers, has);
    });
  }

  it('leaves what is not new, and sub-resources', async () => {
    const plugin = storageObjectInUseProtection({ vocabulary: words });
    for (const said of [{ operation: 'UPDATE', oldObject: object({}) }, { subresource: 'status' }] as const) {
      const next = object({});
      await ask(plugin, next, said, CLAIMS);
      assert.equal(next.metadata.finalizers, undefined);
    }
  });
});

describe('persistentVolumeLabel()', () => {
  const labels = { [words.labels.region]: 'r', [words.labels.zone]: 'z' };
  const annotations = { 'pv.platform.io/provisioned-by': 'a.b/c' };
  const disk = { awsElasticBlockStore: { volumeID: 'v' } };
  const no = (what: string): string =>
    `persistentvolumes "x" is forbidden: error querying ${what}: there is no cloud provider`;
  for (const [what, volume, why] of [
    ['leaves volumes of no cloud', object({ hostPath: { path: '/x' } }), ''],
    ['refuses a disk of AWS', object(disk), no('AWS EBS volume')],
    ['refuses a disk of GCE', object({ gcePersistentDisk: { pdName: 'x' } }), no('GCE PD volume')],
    ['refuses a disk of Azure', object({ azureDisk: {} }), no('AzureDisk volume')],
    ['refuses a disk of vSphere', object({ vsphereVolume: {} }), no('vSphere volume')],
    ['takes what a provisioner has labelled', object(disk, { labels, annotations }), ''],
    ['takes no labels of others', object(disk, { labels }), no('AWS EBS volume')],
    ['needs both labels', object(disk, { labels: { [words.labels.zone]: 'z' }, annotations }), no('AWS EBS volume')],
    ['needs the region, too', object(disk, { labels: { [words.labels.region]: 'r' }, annotations }), no('AWS EBS volume')], // prettier-ignore
  ] as const) {
    it(what, async () => {
      assert.equal((await ask(persistentVolumeLabel({ vocabulary: words }), volume, {}, VOLUMES)).why, why);
    });
  }
});
