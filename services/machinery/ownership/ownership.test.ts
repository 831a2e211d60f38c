import assert from 'node:assert/strict';
import { hasReason, StatusError } from '../meta/status.js';
import { Scene } from './testing/scene.js';

const leaf = {};
const settings = (data: Record<string, string>, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'default', ...metadata },
  data,
});
const data = (...names: string[]): object => ({ 'f:data': Object.fromEntries(names.map((n) => [`f:${n}`, leaf])) });
const scene = (): Scene => new Scene('core/v1.ConfigMap');
const isConflict = (err: unknown): boolean => hasReason(err, 'Conflict');

describe('the table of field ownership', () => {
  it('moves a field to the manager that updates it', () => {
    const s = scene();
    s.apply('one', settings({ a: '1', b: '1' }));
    s.update('two', settings({ a: '2', b: '1' }));
    assert.equal(s.live['data'] && (s.live['data'] as Record<string, string>)['a'], '2');
    assert.deepEqual(s.fieldsOf('one'), data('b'));
    assert.deepEqual(s.fieldsOf('two'), data('a'));
  });

  it('refuses an apply that changes the field of another, and leaves all as it was', () => {
    const s = scene();
    s.update('one', settings({ a: '1' }));
    const { object, managers } = s;
    assert.throws(() => s.apply('two', settings({ a: '2' })), isConflict);
    assert.equal(s.object, object);
    assert.equal(s.managers, managers);
  });

  it('gives a field to the applier alone when he forces', () => {
    const s = scene();
    s.update('one', settings({ a: '1', b: '1' }));
    s.apply('two', settings({ a: '1' }));
    s.apply('three', settings({ a: '3' }), { force: true });
    assert.deepEqual(s.live['data'], { a: '3', b: '1' });
    assert.deepEqual(s.fieldsOf('three'), data('a'));
    assert.equal(s.fieldsOf('two'), undefined);
    assert.deepEqual(s.fieldsOf('one'), { 'f:data': { '.': leaf, 'f:b': leaf } });
  });

  it('shares a field among those that apply the same value', () => {
    const s = scene();
    s.apply('one', settings({ a: '1' }));
    s.apply('two', settings({ a: '1' }));
    assert.deepEqual([s.fieldsOf('one'), s.fieldsOf('two')], [data('a'), data('a')]);
  });

  it('refuses to change a shared field without force, whoever asks', () => {
    const s = scene();
    s.apply('one', settings({ a: '1' }));
    s.apply('two', settings({ a: '1' }));
    assert.throws(() => s.apply('one', settings({ a: '2' })), isConflict);
  });

  it('lets an update of a shared field take it from all', () => {
    const s = scene();
    s.apply('one', settings({ a: '1' }));
    s.apply('two', settings({ a: '1' }));
    s.edit('three', (o) => (o['data'] = { a: '3' }));
    assert.deepEqual(s.owners, ['three']);
  });

  it('deletes a field that its only owner does not apply any more', () => {
    const s = scene();
    s.apply('one', settings({ a: '1', b: '1' }));
    s.apply('one', settings({ a: '1' }));
    assert.deepEqual(s.live['data'], { a: '1' });
    assert.deepEqual(s.fieldsOf('one'), data('a'));
  });

  it('keeps a field that another manager owns too', () => {
    const s = scene();
    s.apply('one', settings({ a: '1', b: '1' }));
    s.apply('two', settings({ b: '1' }));
    s.apply('one', settings({ a: '1' }));
    assert.deepEqual(s.live['data'], { a: '1', b: '1' });
    assert.deepEqual(s.fieldsOf('two'), data('b'));
  });

  it('resets a field that has a default when it is not applied any more', () => {
    const defaults = (o: object): object => Object.assign({ sessionAffinity: 'None' }, o);
    const s = new Scene('core/v1.Service', { defaults: (o) => (o['spec'] = defaults(o['spec'] as object)) });
    const service = (spec: object): object => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec });
    s.apply('one', service({ clusterIP: 'None', sessionAffinity: 'ClientIP' }));
    s.apply('one', service({ clusterIP: 'None' }));
    assert.equal((s.live['spec'] as { sessionAffinity: string }).sessionAffinity, 'None');
    assert.deepEqual(s.fieldsOf('one'), { 'f:spec': { 'f:clusterIP': leaf } });
  });

  it('removes the entry of a manager that owns nothing', () => {
    const s = scene();
    s.apply('one', settings({ a: '1' }));
    s.apply('one', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } });
    assert.deepEqual(s.managers, []);
    assert.equal(s.live['data'], undefined);
  });
});

describe('Ownership.update()', () => {
  it('gives the creator everything but what says which object it is, and what only the server writes', () => {
    const s = scene();
    s.update('one', {
      ...settings({ a: '1' }, { labels: { app: 'x' }, finalizers: ['f/x'], uid: 'u', generation: 3, selfLink: '/x' }),
      immutable: false,
    });
    assert.deepEqual(s.managers, [
      {
        manager: 'one',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': leaf, 'f:a': leaf },
          'f:immutable': leaf,
          'f:metadata': {
            'f:finalizers': { '.': leaf, 'v:"f/x"': leaf },
            'f:labels': { '.': leaf, 'f:app': leaf },
          },
        },
      },
    ]);
  });

  it('does not own what a type always shows', () => {
    const s = new Scene('apps/v1.Deployment');
    s.update('one', {
      metadata: { name: 'd' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        strategy: { rollingUpdate: { maxSurge: 1 } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
            nodeSelector: { disk: 'ssd' },
          },
        },
      },
    });
    assert.equal(
      JSON.stringify(s.fieldsOf('one')),
      JSON.stringify({
        'f:spec': {
          'f:replicas': {},
          'f:selector': {},
          'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {} } },
          'f:template': {
            'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
            'f:spec': {
              'f:containers': {
                'k:{"name":"c"}': {
                  '.': {},
                  'f:image': {},
                  'f:name': {},
                  'f:ports': {
                    '.': {},
                    'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
                  },
                  'f:resources': {},
                },
              },
              'f:nodeSelector': {},
            },
          },
        },
      }),
    );
  });

  it('returns the very list when nothing changed', () => {
    const s = scene();
    const managers = s.update('one', settings({ a: '1' }));
    assert.equal(s.update('two', settings({ a: '1' })), managers);
  });

  it('moves the time of a writer who gives what is his another value', () => {
    const s = scene();
    const [before] = s.update('one', settings({ a: '1' }));
    const [after] = s.update('one', settings({ a: '2' }));
    assert.deepEqual(after, { ...before, time: '2024-01-01T00:00:02Z' });
  });

  it('moves the time of the writer, and no other', () => {
    const s = scene();
    s.update('one', settings({ a: '1', b: '1' }));
    s.update('two', settings({ a: '2', b: '1', c: '1' }));
    s.update('two', settings({ a: '2', b: '2', c: '1' }));
    assert.deepEqual(
      s.managers.map((e) => [e.manager, e.time]),
      [
        ['one', '2024-01-01T00:00:01Z'],
        ['two', '2024-01-01T00:00:03Z'],
      ],
    );
  });

  it('makes what is removed nobody’s', () => {
    const s = scene();
    s.apply('one', settings({ a: '1', b: '1' }));
    s.update('two', settings({ a: '1', b: '1', c: '1' }));
    s.update('three', settings({ a: '1' }));
    assert.deepEqual(s.owners, ['one']);
    assert.deepEqual(s.fieldsOf('one'), data('a'));
  });

  it('tells apart the operations, versions and sub-resources of one manager', () => {
    const s = new Scene('autoscaling/v2.HorizontalPodAutoscaler', {}, ['autoscaling/v1', 'autoscaling/v2']);
    const scaler = (max: number, min: number): object => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas: max, minReplicas: min, scaleTargetRef: { kind: 'D', name: 'x' } },
    });
    s.apply('one', scaler(3, 1));
    s.edit('one', (o) => ((o['spec'] as { maxReplicas: number }).maxReplicas = 4));
    s.edit('one', (o) => ((o['spec'] as { minReplicas: number }).minReplicas = 2), { version: 'autoscaling/v1' });
    s.edit('one', (o) => (o['status'] = { desiredReplicas: 2 }), { subresource: 'status' });
    assert.deepEqual(
      s.managers.map((e) => [e.operation, e.apiVersion, e.subresource ?? '', JSON.stringify(e.fieldsV1)]),
      [
        ['Apply', 'autoscaling/v2', '', '{"f:spec":{"f:scaleTargetRef":{"f:kind":{},"f:name":{}}}}'],
        ['Update', 'autoscaling/v2', '', '{"f:spec":{"f:maxReplicas":{}}}'],
        ['Update', 'autoscaling/v1', '', '{"f:spec":{"f:minReplicas":{}}}'],
        ['Update', 'autoscaling/v2', 'status', '{"f:status":{"f:desiredReplicas":{}}}'],
      ],
    );
  });

  it('compares in the version of each entry, and drops entries of versions that are gone', () => {
    const s = new Scene('autoscaling/v2.HorizontalPodAutoscaler', {}, ['autoscaling/v1', 'autoscaling/v2']);
    s.update(
      'one',
      {
        metadata: { name: 'h' },
        spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: { kind: 'D', name: 'x' } },
      },
      { version: 'autoscaling/v1' },
    );
    s.setRecords([
      ...s.managers,
      {
        manager: 'old',
        operation: 'Update',
        apiVersion: 'autoscaling/v9',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:x': {} },
      },
    ]);
    s.edit('two', (o) => {
      const { metrics } = o['spec'] as { metrics: { resource: { target: { averageUtilization: number } } }[] };
      metrics[0]!.resource.target.averageUtilization = 60;
    });
    assert.deepEqual(s.fieldsOf('two'), { 'f:spec': { 'f:metrics': leaf } });
    assert.deepEqual(s.fieldsOf('one'), { 'f:spec': { 'f:maxReplicas': leaf, 'f:scaleTargetRef': leaf } });
    assert.equal(s.fieldsOf('old'), undefined);
  });

  it('knows items by their keys wherever they stand', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (...containers: object[]): object => ({ metadata: { name: 'p' }, spec: { containers } });
    s.update('one', pod({ name: 'a', image: '1' }, { name: 'b', image: '1' }));
    s.update('two', pod({ name: 'b', image: '2' }, { name: 'a', image: '1' }, { name: 'c', image: '1' }));
    const containers = (entry: unknown): unknown =>
      (entry as { 'f:spec': { 'f:containers': unknown } })['f:spec']['f:containers'];
    const all = { '.': leaf, 'f:image': leaf, 'f:name': leaf, 'f:resources': leaf };
    assert.deepEqual(containers(s.fieldsOf('one')), {
      'k:{"name":"a"}': all,
      'k:{"name":"b"}': { '.': leaf, 'f:name': leaf, 'f:resources': leaf },
    });
    assert.deepEqual(containers(s.fieldsOf('two')), { 'k:{"name":"b"}': { 'f:image': leaf }, 'k:{"name":"c"}': all });
  });

  it('holds items that share a key for one, without owners inside', () => {
    const s = new Scene('core/v1.Pod');
    const env = (...values: string[]): object => ({
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', env: values.map((value) => ({ name: 'A', value })) }] },
    });
    const envOf = (manager: string): unknown => {
      const fields = s.fieldsOf(manager)?.['f:spec']?.['f:containers']?.['k:{"name":"c"}']?.['f:env'];
      return fields && JSON.stringify(fields);
    };
    s.update('one', env('1', '2'));
    assert.equal(envOf('one'), '{".":{},"k:{\\"name\\":\\"A\\"}":{}}');
    s.update('two', env('1', '3'));
    assert.deepEqual([envOf('one'), envOf('two')], ['{}', '{"k:{\\"name\\":\\"A\\"}":{}}']);
    s.update('three', env('1'));
    assert.equal(envOf('two'), undefined);
    assert.equal(envOf('three'), '{"k:{\\"name\\":\\"A\\"}":{".":{},"f:name":{},"f:value":{}}}');
    s.update('four', env('1', '2'));
    assert.deepEqual([envOf('three'), envOf('four')], [undefined, '{"k:{\\"name\\":\\"A\\"}":{}}']);
    s.update('five', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', env: [{ name: 'B' }] }] } });
    assert.equal(envOf('four'), undefined);
  });

  it('takes names of members for data, whatever they are', () => {
    const s = scene();
    s.update(
      'one',
      settings(JSON.parse('{"__proto__":"1","constructor":"2","10":"3","9":"4"}') as Record<string, string>),
    );
    assert.deepEqual(Object.keys(s.fieldsOf('one')?.['f:data'] ?? {}), [
      '.',
      'f:10',
      'f:9',
      'f:__proto__',
      'f:constructor',
    ]);
    s.edit('two', (o) => (o['data'] = { constructor: '2' }));
    assert.deepEqual(s.fieldsOf('one'), { 'f:data': { '.': leaf, 'f:constructor': leaf } });
  });

  it('names a writer without a name', () => {
    const s = scene();
    s.update('', settings({ a: '1' }));
    assert.deepEqual(s.owners, ['unknown']);
  });
});

describe('Ownership.apply()', () => {
  it('owns what the configuration says and no more', () => {
    const s = new Scene('core/v1.Pod');
    s.apply('one', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels: {}, creationTimestamp: null },
      spec: {
        hostNetwork: false,
        nodeName: null,
        containers: [{ name: 'c', ports: [{ containerPort: 80 }], env: [], command: [], resources: {} }],
      },
    });
    assert.deepEqual(s.fieldsOf('one'), {
      'f:metadata': { 'f:labels': leaf },
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': leaf,
            'f:command': leaf,
            'f:name': leaf,
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': leaf, 'f:containerPort': leaf } },
            'f:resources': leaf,
          },
        },
        'f:hostNetwork': leaf,
        'f:nodeName': leaf,
      },
    });
  });

  it('sees no difference between two ways to write a value', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (cpu: string): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', resources: { limits: { cpu } } }] },
    });
    s.update('one', pod('1'));
    s.apply('two', pod('1000m'));
    assert.deepEqual(s.owners, ['two', 'one']);
  });

  it('changes only what is applied', () => {
    const s = scene();
    s.update('one', settings({ a: '1' }, { labels: { x: '1' }, uid: 'u-1', resourceVersion: '7' }));
    s.apply('two', settings({ b: '2' }, { annotations: { y: '1' } }));
    assert.deepEqual(s.live, {
      ...settings(
        { a: '1', b: '2' },
        { annotations: { y: '1' }, labels: { x: '1' }, uid: 'u-1', resourceVersion: '7' },
      ),
    });
  });

  it('lets the applier go on from what he read when he sends a resourceVersion', () => {
    const s = scene();
    s.update('one', settings({ a: '1' }, { resourceVersion: '7' }));
    s.apply('two', settings({ b: '2' }, { resourceVersion: '6' }));
    assert.equal(s.live.metadata.resourceVersion, '6'); // whoever stores it compares
  });

  it('says with null that a field should go, which others may have something against', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    s.update('one', pod({ nodeName: 'n', containers: [{ name: 'c' }] }));
    assert.throws(() => s.apply('two', pod({ nodeName: null })), isConflict);
    s.apply('two', pod({ nodeName: null }), { force: true });
    assert.equal((s.live['spec'] as { nodeName?: string }).nodeName, undefined);
    assert.equal(s.fieldsOf('one')?.['f:spec']?.['f:nodeName'], undefined);
  });

  it('says nothing with null about an object or a list that holds something', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    s.update('one', pod({ containers: [{ name: 'c' }], securityContext: { runAsUser: 1 } }));
    const before = JSON.stringify(s.object);
    s.apply('two', pod({ containers: null, securityContext: null }));
    assert.equal(JSON.stringify(s.object), before);
  });

  it('contests a value that means nothing, as it would take away something', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    s.update('one', pod({ hostNetwork: true, containers: [{ name: 'c' }] }));
    assert.throws(() => s.apply('two', pod({ hostNetwork: false })), isConflict);
  });

  it('gives what was there before the first apply an owner, where there are no records', () => {
    const s = scene();
    s.update('one', settings({ a: '1', b: '1' }));
    s.managers = [];
    s.apply('two', settings({ a: '1' }));
    assert.deepEqual(
      s.managers.map((e) => [e.manager, e.operation, e.apiVersion, e.fieldsV1]),
      [
        ['two', 'Apply', 'v1', data('a')],
        ['before-first-apply', 'Update', 'v1', { 'f:data': { '.': leaf, 'f:a': leaf, 'f:b': leaf } }],
      ],
    );
    s.managers = [];
    assert.throws(() => s.apply('two', settings({ a: '2' })), /conflict with "before-first-apply" using v1: \.data\.a/);
  });

  it('creates, and has nobody to ask', () => {
    const s = scene();
    s.apply('one', settings({ a: '1' }));
    assert.deepEqual(s.live, settings({ a: '1' }));
    assert.deepEqual(s.owners, ['one']);
  });

  it('returns the very list, and the same bytes, when the same is applied again', () => {
    const s = scene();
    const managers = s.apply('one', settings({ a: '1' }));
    const bytes = JSON.stringify(s.object);
    assert.equal(s.apply('one', settings({ a: '1' })), managers);
    assert.equal(JSON.stringify(s.object), bytes);
  });

  it('keeps one entry for an applier through versions', () => {
    const s = new Scene('autoscaling/v2.HorizontalPodAutoscaler', {}, ['autoscaling/v1', 'autoscaling/v2']);
    const scaler = (apiVersion: string, spec: object): object => ({
      apiVersion,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h', labels: { a: 'b' } },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'x' }, ...spec },
    });
    s.apply('one', scaler('autoscaling/v1', { minReplicas: 2 }), { version: 'autoscaling/v1' });
    s.apply('one', scaler('autoscaling/v2', {}));
    assert.deepEqual(
      s.managers.map((e) => [e.operation, e.apiVersion, e.time]),
      [['Apply', 'autoscaling/v2', '2024-01-01T00:00:02Z']],
    );
    assert.equal((s.live['spec'] as { minReplicas?: number }).minReplicas, undefined);
  });

  it('does not take out what a manager of another version has under another name', () => {
    const s = new Scene('autoscaling/v2.HorizontalPodAutoscaler', {}, ['autoscaling/v1', 'autoscaling/v2']);
    const base = { kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' } };
    const ref = { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'x' } };
    const target = { type: 'Utilization', averageUtilization: 50 };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    s.apply('one', { apiVersion: 'autoscaling/v2', ...base, spec: { ...ref, metrics } });
    s.apply(
      'two',
      { apiVersion: 'autoscaling/v1', ...base, spec: { targetCPUUtilizationPercentage: 50 } },
      { version: 'autoscaling/v1' },
    );
    s.apply('one', { apiVersion: 'autoscaling/v2', ...base, spec: ref });
    assert.deepEqual((s.live['spec'] as { metrics: unknown }).metrics, metrics);
    assert.deepEqual(s.fieldsOf('two'), { 'f:spec': { 'f:targetCPUUtilizationPercentage': leaf } });
  });

  it('finds conflicts with managers of other versions in theirs', () => {
    const s = new Scene('autoscaling/v2.HorizontalPodAutoscaler', {}, ['autoscaling/v1', 'autoscaling/v2']);
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'x' } };
    s.update(
      'one',
      { metadata: { name: 'h' }, spec: { ...spec, targetCPUUtilizationPercentage: 50 } },
      { version: 'autoscaling/v1' },
    );
    const target = { type: 'Utilization', averageUtilization: 60 };
    const config = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] },
    };
    assert.throws(
      () => s.apply('two', config),
      /conflict with "one" using autoscaling\/v1: \.spec\.targetCPUUtilizationPercentage/,
    );
  });

  it('refuses an item without a key that may be absent', () => {
    const s = new Scene('core/v1.ServiceAccount');
    assert.throws(
      () => s.apply('one', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, secrets: [{}] }),
      /\.secrets: element 0: associative list with keys has an element that omits key field "name" \(and doesn't have default value\)$/,
    );
  });

  const refused: Readonly<Record<string, readonly [object, RegExp]>> = {
    'two items with one key': [
      { spec: { containers: [{ name: 'c' }, { name: 'c' }] } },
      /^failed to create typed patch object \(default\/p; \/v1, Kind=Pod\): \.spec\.containers: duplicate entries for key \[name="c"\]$/,
    ],
    'two items that a default makes the same': [
      { spec: { containers: [{ name: 'c', ports: [{ containerPort: 1 }, { containerPort: 1, protocol: 'TCP' }] }] } },
      /\.spec\.containers\[name="c"\]\.ports: duplicate entries for key \[containerPort=1,protocol="TCP"\]$/,
    ],
    'one value twice in a set': [
      { metadata: { name: 'p', finalizers: ['x', 'x'] } },
      /\.metadata\.finalizers: duplicate entries for key \[="x"\]$/,
    ],
    'two items without the key that is always there': [
      { spec: { containers: [{ image: 'c' }, { image: 'i' }] } },
      /\.spec\.containers: duplicate entries for key \[name=""\]$/,
    ],
    'an item that is null': [{ spec: { containers: [null] } }, /element 0: .* may not have a null element$/],
    'an item that is no object': [{ spec: { containers: ['c'] } }, /element 0: .* may not have non-map elements$/],
    'an object in a set': [{ metadata: { name: 'p', finalizers: [{}] } }, /element 0: .* a map type$/],
    'a list in a set': [{ metadata: { name: 'p', finalizers: [[]] } }, /element 0: .* lists as elements$/],
    'null in a set': [{ metadata: { name: 'p', finalizers: [null] } }, /element 0: .* explicit null$/],
    records: [{ metadata: { name: 'p', managedFields: [] } }, /^metadata\.managedFields must be nil$/],
    'another version': [
      { apiVersion: 'v2' },
      /^Incorrect version specified in apply patch\. Specified patch version: v2, expected: v1$/,
    ],
    'a value of another kind': [{ spec: { containers: 'none' } }, /cannot unmarshal string/],
  };
  for (const [what, [config, message]] of Object.entries(refused)) {
    it(`refuses a configuration with ${what}`, () => {
      const s = new Scene('core/v1.Pod');
      const metadata = { name: 'p', namespace: 'default' };
      assert.throws(
        () => s.apply('one', { apiVersion: 'v1', kind: 'Pod', metadata, ...config }),
        (err) => err instanceof StatusError && err.code === 400 && message.test(err.message),
      );
    });
  }

  it('tolerates live items with one key, and puts the applied one in their place', () => {
    const s = new Scene('core/v1.Pod');
    const pod = (...env: object[]): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', env }] },
    });
    s.update('one', pod({ name: 'A', value: '1' }, { name: 'B', value: '1' }, { name: 'A', value: '2' }));
    s.apply('two', pod({ name: 'B', value: '1' }));
    const envNow = (): unknown => (s.live['spec'] as { containers: { env: unknown }[] }).containers[0]?.env;
    assert.deepEqual(envNow(), [
      { name: 'A', value: '1' },
      { name: 'B', value: '1' },
      { name: 'A', value: '2' },
    ]);
    assert.throws(() => s.apply('two', pod({ name: 'A', value: '3' })), isConflict);
    s.apply('two', pod({ name: 'A', value: '3' }), { force: true });
    assert.deepEqual(envNow(), [
      { name: 'A', value: '3' },
      { name: 'B', value: '1' },
    ]);
  });
});
