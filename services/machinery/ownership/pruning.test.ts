import assert from 'node:assert/strict';
import type { FieldsTree } from './fields-tree.js';
import { Scene } from './testing/scene.js';

const leaf = {};
const pod = (spec: object, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...metadata },
  spec,
});
const container = (o: object = {}): object => ({ name: 'c', image: 'i', ...o });
/** Without what the type always shows. */
const containersOf = (s: Scene): unknown =>
  (s.live['spec'] as { containers: { resources?: unknown }[] | null }).containers?.map(
    ({ resources: _, ...rest }) => rest,
  );

describe('what an applier does not apply any more', () => {
  it('takes its container along when that holds nothing of anybody else', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container()] }, { labels: { a: '1' }, annotations: { b: '1' } }));
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(s.live.metadata, { name: 'p' });
  });

  it('takes along what was put in by default', () => {
    const s = new Scene('core/v1.Pod', {
      defaults: (o) => {
        const [first] = (o['spec'] as { containers: { livenessProbe?: { periodSeconds?: number } }[] }).containers;
        if (first?.livenessProbe !== undefined) first.livenessProbe.periodSeconds ??= 10;
      },
    });
    const livenessProbe = { httpGet: { path: '/', port: 80 } };
    s.apply('one', pod({ containers: [container({ livenessProbe })] }));
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container()]);
  });

  it('leaves what others have in the same container', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container({ livenessProbe: { httpGet: { port: 80 }, periodSeconds: 5 } })] }));
    s.edit('two', (o) => {
      const { containers } = o['spec'] as { containers: { livenessProbe: { timeoutSeconds?: number } }[] };
      containers[0]!.livenessProbe.timeoutSeconds = 3;
    });
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container({ livenessProbe: { timeoutSeconds: 3 } })]);
    assert.deepEqual(s.owners, ['one', 'two']);
  });

  it('is an item as a whole, whatever others have set in it', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container(), { name: 'side', image: 'i' }] }));
    s.edit('two', (o) => {
      const { containers } = o['spec'] as { containers: { image: string }[] };
      containers[1]!.image = 'j';
    });
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container()]);
    assert.deepEqual(s.owners, ['one']);
  });

  it('is no item that another applies, nor its key', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container({ stdin: true }), { name: 'side', image: 'i' }] }));
    s.apply('two', pod({ containers: [{ name: 'side' }] }));
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container(), { name: 'side' }]);
    assert.deepEqual(s.fieldsOf('two'), {
      'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': leaf, 'f:name': leaf } } },
    });
  });

  it('does not take the key out of an item that another has without its fields', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container(), { name: 'side', image: 'i' }] }));
    const fieldsV1: FieldsTree = { 'f:spec': { 'f:containers': { 'k:{"name":"side"}': {} } } };
    s.setRecords([
      ...s.managers,
      { manager: 'two', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
    ]);
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container(), { name: 'side' }]);
  });

  it('is only a field where the records say so of an item', () => {
    const s = new Scene('core/v1.Pod');
    s.update('zero', pod({ containers: [container({ stdin: true })] }));
    const records = (manager: string, operation: string, item: FieldsTree): object => {
      const fieldsV1 = { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': item } } };
      return { manager, operation, apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 };
    };
    s.setRecords([records('one', 'Apply', { 'f:stdin': {} }), records('zero', 'Update', { 'f:image': {} })]);
    s.apply('one', pod({ restartPolicy: 'Never' }));
    assert.deepEqual(containersOf(s), [container()]);
  });

  it('is the value of a set', () => {
    const s = new Scene('core/v1.Pod');
    const containers = [container()];
    s.apply('one', pod({ containers }, { finalizers: ['a', 'b'] }));
    s.edit('two', (o) => o.metadata.finalizers?.push('c'));
    s.apply('one', pod({ containers }, { finalizers: ['b'] }));
    assert.deepEqual(s.live.metadata.finalizers, ['b', 'c']);
    s.apply('one', pod({ containers }));
    assert.deepEqual(s.live.metadata.finalizers, ['c']);
  });

  it('is an atomic list or map as a whole', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', pod({ containers: [container({ command: ['a', 'b'] })], nodeSelector: { disk: 'ssd' } }));
    s.apply('one', pod({ containers: [container()] }));
    assert.deepEqual(containersOf(s), [container()]);
    assert.equal((s.live['spec'] as { nodeSelector?: unknown }).nodeSelector, undefined);
  });

  it('leaves a container empty that another has applied empty', () => {
    const s = new Scene('core/v1.Pod');
    const volume = (emptyDir: object): object => pod({ volumes: [{ name: 'v', emptyDir }] });
    s.apply('one', volume({}));
    s.apply('two', volume({ medium: 'Memory' }));
    s.apply('two', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } });
    assert.deepEqual((s.live['spec'] as { volumes: unknown }).volumes, [{ name: 'v', emptyDir: {} }]);
  });

  it('stays when it was updated by another since', () => {
    const s = new Scene('core/v1.ConfigMap');
    const settings = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's' }, data });
    s.apply('one', settings({ a: '1', b: '1' }));
    s.update('two', settings({ a: '1', b: '2' }));
    s.apply('one', settings({ a: '1' }));
    assert.deepEqual(s.live['data'], { a: '1', b: '2' });
  });

  it('never is what says which object it is', () => {
    const s = new Scene('core/v1.ConfigMap');
    const metadata = { name: 's', namespace: 'n', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
    s.update('one', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    s.apply('two', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { a: '1' } } });
    s.apply('two', { apiVersion: 'v1', kind: 'ConfigMap' });
    assert.deepEqual(s.live, { kind: 'ConfigMap', apiVersion: 'v1', metadata });
  });

  it('never is what records of a client claim beyond that', () => {
    const s = new Scene('core/v1.ConfigMap');
    s.apply('one', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's', uid: 'u' }, data: { a: '1' } });
    const fieldsV1: FieldsTree = {
      'f:kind': {},
      'f:metadata': { 'f:name': {}, 'f:uid': {} },
      'f:nothing': { 'f:x': {} },
    };
    s.setRecords([{ manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }]);
    s.apply('one', { apiVersion: 'v1', kind: 'ConfigMap' });
    assert.deepEqual(s.live.metadata, { name: 's', uid: 'u' });
  });
});
