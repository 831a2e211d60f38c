import assert from 'node:assert/strict';
import { vocabulary, type VocabularyName } from '../vocabulary/vocabulary.js';
import { loadCatalog, typeKey } from './catalog.js';
import { dataFiles, readData } from './data-files.js';
import type { Catalog } from './declarations.js';
import { loadDescriptions, type Descriptions } from './descriptions.js';
import type { Type, TypeGraph } from './graph.js';
import { isReached } from './release.js';

interface Entry {
  readonly is?: string;
  readonly fields?: Readonly<Record<string, string>>;
}
type Files = Readonly<Record<string, Readonly<Record<string, Entry>>>>;

/** Types of kinds that requests and answers have, and of their lists. */
function kinds({ resources }: Catalog): string[] {
  return resources.flatMap((d) => [
    d.type,
    ...(d.verbs.includes('list') ? [typeKey(d.group, d.version, d.listKind)] : []),
    ...d.subresources.map((sub) => typeKey(sub.group ?? d.group, sub.version ?? d.version, sub.kind)),
  ]);
}
const SHARED = ['Status', 'DeleteOptions', 'WatchEvent', 'APIVersions', 'APIGroupList', 'APIResourceList', 'Patch'];

/** Those and all that they lead to. */
function reachable(types: TypeGraph, from: readonly string[]): readonly Type[] {
  const found = new Set<Type>();
  const open = from.map((key) => types.of(key));
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (found.has(type) || type.key === type.scalar) continue;
    found.add(type);
    open.push(...type.declared.map((field) => field.type));
  }
  return [...found];
}

/** Members that documents tell nothing about: neither for the type they are shown in, nor for the one they are inlined from. */
function silentMembers(descriptions: Descriptions, { key, form, fields }: Type): string[] {
  if (form !== 'struct') return [];
  return fields
    .filter(({ declaration }) => !isReached(declaration.removedIn))
    .filter(({ name, owner }) => !(descriptions.ofField(key, name) ?? descriptions.ofField(owner.key, name)))
    .map(({ name }) => `${key}.${name}`);
}

const files: Files = Object.fromEntries(
  dataFiles('descriptions').map((file) => [file.slice(0, -'.json'.length), readData(`descriptions/${file}`)]),
);

describe('loadDescriptions()', () => {
  for (const name of ['platform', 'kubernetes'] as VocabularyName[]) {
    describe(`in the ${name} vocabulary`, () => {
      const { translate } = vocabulary(name);
      const catalog = loadCatalog(vocabulary(name));
      const descriptions = loadDescriptions(translate);
      const served = [...kinds(catalog), ...SHARED.map((kind) => `meta/v1.${kind}`)];

      it('has a sentence for every kind and every field of its first level', () => {
        assert.ok(served.length > 180);
        assert.deepEqual(
          served.filter((key) => !descriptions.ofType(key)),
          [],
        );
        assert.deepEqual(
          served.flatMap((key) => silentMembers(descriptions, catalog.types.of(key))),
          [],
        );
      });

      it('has one for all that kinds are made of', () => {
        const all = reachable(catalog.types, served);
        const silent = all.filter(({ form, key }) => form !== 'list' && !descriptions.ofType(key));
        assert.deepEqual(silent, []);
        assert.deepEqual(
          all.flatMap((type) => silentMembers(descriptions, type)),
          [],
        );
      });

      it('uses the words of the vocabulary', () => {
        const other = name === 'platform' ? /kube|k8s/i : /platform\.io|x-platform|nodeagent/i;
        const all = reachable(catalog.types, served).flatMap(({ key, declared }) => [
          descriptions.ofType(key),
          ...declared.map((field) => descriptions.ofField(key, field.name)),
        ]);
        assert.deepEqual(
          all.filter((text) => text !== undefined && other.test(text)),
          [],
        );
        const rbac = vocabulary(name).groups.rbac;
        assert.equal(descriptions.ofField(`${rbac}/v1.RoleRef`, 'apiGroup'), `The group of its kind: ${rbac}.`);
      });
    });
  }

  const descriptions = loadDescriptions((form) => form);

  it('tells the same of all versions of a type, unless one differs', () => {
    const of = (version: string): string | undefined =>
      descriptions.ofField(`autoscaling/${version}.ObjectMetricSource`, 'target');
    assert.equal(of('v2'), 'What the measurement should be.');
    assert.equal(of('v2'), of('v2beta2'));
    assert.equal(of('v2beta1'), 'The object.');
    assert.equal(descriptions.ofType('autoscaling/v2beta1.Scale'), descriptions.ofType('autoscaling/v1.Scale'));
  });

  it('goes on to the type that another is like', () => {
    assert.equal(
      descriptions.ofField('core/v1.ISCSIPersistentVolumeSource', 'iqn'),
      descriptions.ofField('core/v1.ISCSIVolumeSource', 'iqn'),
    );
    assert.equal(
      descriptions.ofField('events.platform.io/v1.Event', 'type'),
      descriptions.ofField('core/v1.Event', 'type'),
    );
  });

  it('knows what is alike in lists and conditions', () => {
    assert.match(descriptions.ofType('core/v1.PodList') ?? '', /^A list of Pod objects/);
    assert.match(descriptions.ofField('apps/v1.DeploymentCondition', 'lastTransitionTime') ?? '', /^When the status/);
  });

  it('knows nothing of what is not there', () => {
    assert.equal(descriptions.ofType('core/v1.Nothing'), undefined);
    assert.equal(descriptions.ofField('core/v1.Pod', 'nothing'), undefined);
    assert.equal(descriptions.ofField('core/v1.Pod', 'constructor'), undefined);
    assert.equal(descriptions.ofType('example.com/v1.Thing'), undefined);
  });

  it('has whole sentences, and none twice in a row', () => {
    for (const entries of Object.values(files)) {
      for (const [kind, { is, fields = {} }] of Object.entries(entries)) {
        for (const [field, text] of Object.entries({ '': is ?? 'A.', ...fields }))
          assert.match(text, /^[A-Z"0-9$][^\n]*\.$/, `${kind} ${field}`);
        const texts = Object.values(fields);
        assert.equal(texts.includes(is ?? ''), false, kind);
      }
    }
  });

  it('describes nothing that no type has', () => {
    const { types } = loadCatalog(vocabulary('platform'));
    const fieldsOf = new Map<string, Set<string>>();
    for (const key of types.keys()) {
      const { form, fields } = types.of(key);
      const slash = key.indexOf('/');
      const group = slash < 0 ? 'meta' : key.slice(0, slash);
      const place = `${group} ${key.slice(key.lastIndexOf('.') + 1)}`;
      const names = fieldsOf.get(place) ?? new Set<string>();
      fieldsOf.set(place, names);
      if (form !== 'scalar') for (const field of fields) names.add(field.name);
    }
    const strange = Object.entries(files)
      .filter(([group]) => group !== 'common')
      .flatMap(([group, entries]) =>
        Object.entries(entries).flatMap(([name, { fields = {} }]) => {
          const known = fieldsOf.get(`${group} ${name.slice(name.lastIndexOf('.') + 1)}`);
          if (known === undefined) return [`${group} ${name}`];
          return Object.keys(fields).flatMap((field) => (known.has(field) ? [] : [`${group} ${name}.${field}`]));
        }),
      );
    assert.deepEqual(strange, ['meta Info']); // of the document of the version, which is no type
  });
});
