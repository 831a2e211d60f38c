import assert from 'node:assert/strict';
import { vocabulary, type VocabularyName } from '../vocabulary/vocabulary.js';
import { loadCatalog, typeKey } from './catalog.js';
import { SCALAR_TYPES, type Catalog, type ResourceDeclaration } from './declarations.js';

const SCALARS = new Set<string>(SCALAR_TYPES);

const find = (catalog: Catalog, group: string, version: string, resource: string): ResourceDeclaration => {
  const found = catalog.resources.find((r) => r.group === group && r.version === version && r.resource === resource);
  assert.ok(found, `${group}/${version} ${resource}`);
  return found;
};

const keysOf = (r: ResourceDeclaration): readonly string[] => r.selectableFields.map((f) => f.key).sort();

for (const name of ['platform', 'kubernetes'] satisfies VocabularyName[]) {
  describe(`loadCatalog(), ${name} vocabulary`, () => {
    const catalog = loadCatalog(vocabulary(name));
    const keys = [...catalog.types.keys()];

    it('declares every type that a field refers to', () => {
      const missing = keys.flatMap((key) => {
        const { fields = [], listOf = 'string' } = catalog.types.of(key).declaration;
        const unknown = [...fields.map((f) => f.type), listOf].filter(
          (it) => !SCALARS.has(it) && !catalog.types.get(it),
        );
        return unknown.map((type) => `${key}: ${type}`);
      });
      assert.deepEqual(missing, []);
    });

    it('declares the type of every resource, list and sub-resource', () => {
      const kinds = catalog.resources.flatMap((r) => [
        r.type,
        ...(r.verbs.includes('list') ? [typeKey(r.group, r.version, r.listKind)] : []),
        typeKey(r.storage.group, r.storage.version, r.kind),
        ...r.subresources.map((s) => typeKey(s.group ?? r.group, s.version ?? r.version, s.kind)),
      ]);
      assert.deepEqual(
        kinds.filter((key) => catalog.types.get(key)?.declaration.fields === undefined),
        [],
      );
    });

    it('names each field of a type once', () => {
      const repeated = keys.filter((key) => {
        const { fields = [] } = catalog.types.of(key).declaration;
        return new Set(fields.map((f) => f.name)).size !== fields.length;
      });
      assert.deepEqual(repeated, []);
    });

    it('stores each resource in a version that is served', () => {
      for (const r of catalog.resources) find(catalog, r.storage.group, r.storage.version, r.resource);
    });

    it('leads from each deprecated version to one that is served', () => {
      const replaced = catalog.resources.filter((r) => r.replacement !== undefined);
      assert.ok(replaced.length > 8);
      for (const r of replaced) {
        const [group = '', version = ''] = (r.replacement ?? '').split('/');
        find(catalog, group, version, r.resource);
      }
    });

    it('has all of them', () => {
      assert.deepEqual([keys.length, catalog.resources.length], [778, 77]);
      assert.equal(keys.length, new Set(keys).size);
    });
  });
}

describe('loadCatalog()', () => {
  const catalog = loadCatalog(vocabulary('platform'));
  const served = new Set(catalog.resources.map((r) => `${r.group}/${r.version} ${r.resource}`));

  it('serves what the release serves', () => {
    const present = [
      '/v1 pods',
      'policy/v1beta1 podsecuritypolicies',
      'autoscaling/v2beta1 horizontalpodautoscalers',
      'authentication.platform.io/v1 selfsubjectreviews',
    ]; // the last one is asked for by newer clients
    const absent = [
      'authentication.platform.io/v1beta1 selfsubjectreviews', // introduced later
      'flowcontrol.apiserver.platform.io/v1 flowschemas',
      'admission.platform.io/v1 admissionreviews', // sent by a server, never served
      'imagepolicy.platform.io/v1alpha1 imagereviews',
    ];
    assert.deepEqual(
      present.filter((r) => !served.has(r)),
      [],
    );
    assert.deepEqual(
      absent.filter((r) => served.has(r)),
      [],
    );
    const onlyAsked = catalog.resources.filter((r) => !r.servedByDefault);
    assert.deepEqual(
      onlyAsked.map((r) => `${r.group}/${r.version} ${r.resource}`),
      [
        'authentication.platform.io/v1beta1 tokenreviews',
        'authorization.platform.io/v1beta1 localsubjectaccessreviews',
        'authorization.platform.io/v1beta1 selfsubjectaccessreviews',
        'authorization.platform.io/v1beta1 selfsubjectrulesreviews',
        'authorization.platform.io/v1beta1 subjectaccessreviews',
      ],
    );
    assert.ok(onlyAsked.every((r) => r.virtual && r.removed === '1.22'));
  });

  it('leaves out sub-resources of later releases and of gates that are off', () => {
    const pods = find(catalog, '', 'v1', 'pods').subresources.map((s) => s.name);
    assert.ok(pods.includes('ephemeralcontainers') && !pods.includes('resize'));
    assert.deepEqual(find(catalog, 'networking.platform.io', 'v1', 'networkpolicies').subresources, []);
  });

  it('says what to use instead of a deprecated version, and nothing of deprecations to come', () => {
    const { deprecated, removed, replacement } = find(catalog, 'policy', 'v1beta1', 'poddisruptionbudgets');
    assert.deepEqual(
      { deprecated, removed, replacement },
      { deprecated: '1.21', removed: '1.25', replacement: 'policy/v1' },
    );
    assert.equal(find(catalog, 'policy', 'v1beta1', 'podsecuritypolicies').replacement, undefined);
    assert.equal(
      find(catalog, 'flowcontrol.apiserver.platform.io', 'v1beta2', 'flowschemas').deprecated,
      undefined, // comes in 1.26
    );
  });

  it('stores events of every group as core events', () => {
    for (const [group, version] of [
      ['', 'v1'],
      ['events.platform.io', 'v1'],
      ['events.platform.io', 'v1beta1'],
    ] as const) {
      assert.deepEqual(find(catalog, group, version, 'events').storage, { group: '', version: 'v1' });
    }
  });

  it('selects services by how they are reached', () =>
    assert.deepEqual(keysOf(find(catalog, '', 'v1', 'services')), [
      'metadata.name',
      'metadata.namespace',
      'spec.clusterIP',
      'spec.type',
    ]));

  it('reads selectable fields of events by their place in a core event', () => {
    const events = find(catalog, 'events.platform.io', 'v1', 'events');
    const regarding = events.selectableFields.find((f) => f.key === 'regarding.name');
    assert.deepEqual(regarding, { key: 'regarding.name', paths: [['involvedObject', 'name']], absent: '' });
    const source = find(catalog, '', 'v1', 'events').selectableFields.find((f) => f.key === 'source');
    assert.deepEqual(source?.paths, [['source', 'component'], ['reportingComponent']]);
  });

  it('lets every listed resource be selected by name', () => {
    assert.deepEqual(keysOf(find(catalog, '', 'v1', 'configmaps')), ['metadata.name', 'metadata.namespace']);
    assert.deepEqual(keysOf(find(catalog, '', 'v1', 'nodes')), ['metadata.name', 'spec.unschedulable']);
    assert.deepEqual(keysOf(find(catalog, 'batch', 'v1', 'cronjobs')), ['metadata.name', 'metadata.namespace']);
    assert.deepEqual(keysOf(find(catalog, 'batch', 'v1beta1', 'cronjobs')), [
      'metadata.name',
      'metadata.namespace',
      'status.successful',
    ]);
    assert.deepEqual(keysOf(find(catalog, '', 'v1', 'bindings')), []);
  });

  it('says what an absent field reads as', () => {
    const absent = (group: string, resource: string, key: string): string | undefined =>
      find(catalog, group, 'v1', resource).selectableFields.find((f) => f.key === key)?.absent;
    assert.equal(absent('', 'nodes', 'spec.unschedulable'), 'false');
    assert.equal(absent('batch', 'jobs', 'status.successful'), '0');
    assert.equal(absent('', 'pods', 'spec.host'), '');
  });

  it('knows the rules of names and updates', () => {
    const rules = (group: string, resource: string): unknown[] => {
      const r = find(catalog, group, 'v1', resource);
      return [r.nameRule, r.nameMax, r.unconditionalUpdate, r.createOnUpdate];
    };
    assert.deepEqual(rules('', 'configmaps'), ['dns1123-subdomain', undefined, true, false]);
    assert.deepEqual(rules('', 'services'), ['dns1035-label', undefined, true, true]);
    assert.deepEqual(rules('batch', 'cronjobs'), ['dns1123-subdomain', 52, true, false]);
    assert.deepEqual(rules('coordination.platform.io', 'leases'), ['dns1123-subdomain', undefined, false, true]);
    assert.deepEqual(rules('rbac.authorization.platform.io', 'roles'), ['path-segment', undefined, true, true]);
    assert.deepEqual(rules('events.platform.io', 'events'), ['dns1123-subdomain', undefined, true, true]);
    assert.deepEqual(rules('admissionregistration.platform.io', 'validatingwebhookconfigurations'), [
      'dns1123-subdomain',
      undefined,
      false,
      false,
    ]);
  });

  it('speaks the vocabulary in groups, field names and values', () => {
    const kubernetes = loadCatalog(vocabulary('kubernetes'));
    const role = find(kubernetes, 'rbac.authorization.k8s.io', 'v1', 'clusterroles');
    assert.equal(role.type, 'rbac.authorization.k8s.io/v1.ClusterRole');
    const token = find(kubernetes, '', 'v1', 'serviceaccounts').subresources.find((s) => s.name === 'token');
    assert.equal(token?.group, 'authentication.k8s.io');
    assert.deepEqual(find(kubernetes, 'node.k8s.io', 'v1', 'runtimeclasses').storage, {
      group: 'node.k8s.io',
      version: 'v1',
    });
    assert.equal(find(kubernetes, 'events.k8s.io', 'v1beta1', 'events').replacement, 'events.k8s.io/v1');
    const fields = kubernetes.types.of('core/v1.NodeSystemInfo').fields.map((f) => f.name);
    assert.ok(fields.includes('kubeletVersion') && !fields.includes('nodeagentVersion'));
    const type = kubernetes.types.of('core/v1.Secret').field('type');
    assert.ok(type?.declaration.known?.includes('kubernetes.io/tls'));
  });

  it('knows no type of a group version that is not declared', () => {
    for (const key of ['', 'Pod', 'core/v2.Pod', '../resources.json', 'core/v1.', '__proto__.x', 'core/v1.__proto__']) {
      assert.equal(catalog.types.get(key), undefined, key);
    }
  });
});
