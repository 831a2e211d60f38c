import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../plugin.js';
import { ask } from '../testing/pods.js';
import { ObjectsThere } from '../testing/there.js';
import { defaultIngressClass, defaultStorageClass } from './default-classes.js';

const words = vocabulary('platform');
const { networking, storage } = words.groups;

const thing = (spec: object, annotations: Record<string, string> = {}): ApiObject => ({
  kind: 'K',
  apiVersion: 'v1',
  metadata: { name: 'x', namespace: 'ns', annotations },
  spec,
});
const DEFAULT = { [words.annotations.defaultIngressClass]: 'true' };
const STORAGE_DEFAULT = { [words.annotations.defaultStorageClass]: 'true' };
const BETA_DEFAULT = { [words.annotations.betaDefaultStorageClass]: 'true' };

type Marks = Readonly<Record<string, Record<string, string>>>;
type Row = readonly [
  what: string,
  classes: Marks,
  object: ApiObject,
  said: Partial<AdmissionRequest>,
  outcome: unknown,
];

const check = (
  make: typeof defaultIngressClass,
  names: { group: string; resource: string; classes: { group: string; resource: string }; member: string },
  rows: readonly Row[],
): void => {
  for (const [what, classes, object, said, outcome] of rows) {
    it(what, async () => {
      const objects = new ObjectsThere();
      for (const [name, annotations] of Object.entries(classes)) {
        objects.put(names.classes, { metadata: { name, annotations } });
      }
      const { group, resource } = names;
      const got = await ask(make({ vocabulary: words, objects }), object, said, {
        group,
        resource,
        version: 'v1',
        kind: 'K',
      });
      assert.deepEqual(got.why === '' ? got.spec : got.why, outcome);
    });
  }
};

describe('defaultIngressClass()', () => {
  const names = {
    group: networking,
    resource: 'ingresses',
    classes: { group: networking, resource: 'ingressclasses' },
    member: 'ingressClassName',
  };
  const refused = (count: number): string =>
    `ingresses.networking.platform.io "x" is forbidden: Internal error occurred: ${count} default IngressClasses were found, only 1 allowed`;
  check(defaultIngressClass, names, [
    ['gives the default', { a: {}, b: DEFAULT }, thing({ rules: [] }), {}, { rules: [], ingressClassName: 'b' }],
    ['gives none where there is no default', { a: {} }, thing({}), {}, {}],
    ['knows one word for true', { a: { [words.annotations.defaultIngressClass]: 'True' } }, thing({}), {}, {}],
    ['leaves a class', { a: DEFAULT }, thing({ ingressClassName: 'c' }), {}, { ingressClassName: 'c' }],
    ['leaves an empty class', { a: DEFAULT }, thing({ ingressClassName: '' }), {}, { ingressClassName: '' }],
    ['leaves the annotation', { a: DEFAULT }, thing({}, { [words.annotations.ingressClass]: '' }), {}, {}],
    ['refuses where there are several', { a: DEFAULT, b: DEFAULT, c: {} }, thing({}), {}, refused(2)],
    ['counts them', { a: DEFAULT, b: DEFAULT, c: DEFAULT }, thing({}), {}, refused(3)],
    ['does not mind several where a class is named', { a: DEFAULT, b: DEFAULT }, thing({ ingressClassName: 'a' }), {}, { ingressClassName: 'a' }], // prettier-ignore
    ['ignores updates', { a: DEFAULT }, thing({}), { operation: 'UPDATE', oldObject: thing({}) }, {}],
    ['ignores sub-resources', { a: DEFAULT }, thing({}), { subresource: 'status' }, {}],
  ]);

  it('sees a class that another server has just made', async () => {
    const objects = new ObjectsThere().put(names.classes, { metadata: { name: 'a', annotations: DEFAULT } }, 'stored');
    const declaration = { group: networking, resource: 'ingresses', version: 'v1', kind: 'Ingress' };
    const { spec } = await ask(defaultIngressClass({ vocabulary: words, objects }), thing({}), {}, declaration);
    assert.deepEqual(spec, { ingressClassName: 'a' });
  });
});

describe('defaultStorageClass()', () => {
  const names = {
    group: '',
    resource: 'persistentvolumeclaims',
    classes: { group: storage, resource: 'storageclasses' },
    member: 'storageClassName',
  };
  const refused =
    'persistentvolumeclaims "x" is forbidden: Internal error occurred: 2 default StorageClasses were found';
  check(defaultStorageClass, names, [
    ['gives the default', { a: {}, b: STORAGE_DEFAULT }, thing({ x: 1 }), {}, { x: 1, storageClassName: 'b' }],
    ['knows the older annotation', { a: BETA_DEFAULT }, thing({}), {}, { storageClassName: 'a' }],
    ['counts a class with both annotations once', { a: { ...STORAGE_DEFAULT, ...BETA_DEFAULT } }, thing({}), {}, { storageClassName: 'a' }], // prettier-ignore
    ['gives none where there is no default', { a: {} }, thing({}), {}, {}],
    ['leaves an empty class', { a: STORAGE_DEFAULT }, thing({ storageClassName: '' }), {}, { storageClassName: '' }],
    ['leaves the annotation', { a: STORAGE_DEFAULT }, thing({}, { [words.annotations.betaStorageClass]: 'z' }), {}, {}],
    ['refuses where there are several', { a: STORAGE_DEFAULT, b: BETA_DEFAULT }, thing({}), {}, refused],
    ['ignores updates', { a: STORAGE_DEFAULT }, thing({}), { operation: 'UPDATE', oldObject: thing({}) }, {}],
  ]);
});
