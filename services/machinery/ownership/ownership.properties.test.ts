import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeObject } from '../schema/decode.js';
import { arbitraryOf } from '../types/testing/arbitrary.js';
import { difference, equal, isEmpty, NO_FIELDS, pathsOf, union, type FieldsTree, printPath } from './fields-tree.js';
import { decodeManagedFields } from './managed-fields.js';
import { ObjectWalker } from './object-walker.js';
import { objectShape, structShape, type StructShape } from './shape.js';
import { catalog, Scene } from './testing/scene.js';

/** Kinds that between them have every marker. */
const KINDS = [
  'core/v1.Pod',
  'core/v1.Service',
  'core/v1.ConfigMap',
  'core/v1.Node',
  'core/v1.PersistentVolume',
  'apps/v1.Deployment',
  'admissionregistration.platform.io/v1.MutatingWebhookConfiguration',
  'apiextensions.platform.io/v1.CustomResourceDefinition',
  'flowcontrol.apiserver.platform.io/v1beta2.FlowSchema',
];
const shapeOf = (key: string): StructShape => objectShape(structShape(catalog.types.of(key)));

type Body = Record<string, unknown>;

/** Two objects of a kind, as a client may send them: the shared metadata says that they are one object. */
const pairs = fc.constantFrom(...KINDS).chain((key) => {
  const object = arbitraryOf(catalog, key, { maxDepth: 5 }).map((made) => distinct(key, made));
  return fc.record({ key: fc.constant(key), a: object, b: object });
});

/** Without items that cannot be told apart, which are refused in what is applied. */
function distinct(key: string, object: Body): Body {
  const walker = new ObjectWalker(shapeOf(key), () => ({}));
  const decoded = decodeObject(catalog.types.of(key), { ...object, metadata: metadataOf(object) }).value as Body;
  for (let tries = 0; tries < 50; tries++) {
    const place = duplicateIn(walker, decoded);
    if (place === undefined) return decoded;
    shorten(decoded, place);
  }
  throw new Error('too many duplicates');
}

function metadataOf({ metadata }: Body): object {
  const { labels, annotations, finalizers, ownerReferences } = metadata as Body;
  return Object.fromEntries(
    Object.entries({ name: 'x', labels, annotations, finalizers, ownerReferences }).filter(([, v]) => v !== undefined),
  );
}

/** The path of a list with two items of one name, as the error prints it; also of items without their key. */
function duplicateIn(walker: ObjectWalker, object: Body): string | undefined {
  try {
    walker.applied(object);
    return undefined;
  } catch (err) {
    return /Kind=\w+\): (.*): (?:duplicate|element)/s.exec((err as Error).message)?.[1];
  }
}

/** Leaves the list at a path one item at most, and none where that has no name either. */
function shorten(object: Body, place: string): void {
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, child] of Object.entries(node as Body)) {
      if (Array.isArray(child)) {
        if (place.startsWith(`${path}.${name}`) && child.length > 0) child.length = child.length > 1 ? 1 : 0;
        child.forEach((item) => visit(item, `${path}.${name}`));
      } else visit(child, `${path}.${name}`);
    }
  };
  visit(object, '');
}

/**
 * With the keys of items that may be left out, for they have a default: who writes one out changes nothing that the item
 * is, and it stays when he lets go, as part of the item's name.
 */
const withKeys = (object: unknown): unknown =>
  JSON.parse(JSON.stringify(object), (_key, node: unknown) =>
    Array.isArray(node) ? node.map((item: unknown) => (isPort(item) ? { protocol: 'TCP', ...item } : item)) : node,
  );
const isPort = (item: unknown): item is object =>
  typeof item === 'object' && item !== null && ('port' in item || 'containerPort' in item);

const bytes = (value: unknown): string => JSON.stringify(value);
const covers = (all: FieldsTree, part: FieldsTree): boolean => isEmpty(difference(part, all));
const ownedBy = (s: Scene): FieldsTree => s.managers.reduce((sum, e) => union(sum, e.fieldsV1), NO_FIELDS);
const walkerFor = (key: string): ObjectWalker =>
  new ObjectWalker(shapeOf(key), () => decodeObject(catalog.types.of(key), {}).value);

const RUNS = { numRuns: 60 };
const holds = (law: (it: { key: string; a: Body; b: Body }) => void): void => {
  fc.assert(fc.property(pairs, law), RUNS);
};

describe('applying', () => {
  it('twice is the same as once', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.update('zero', a);
      const managers = s.apply('one', b, { force: true });
      const object = bytes(s.object);
      assert.equal(s.apply('one', b), managers);
      assert.equal(bytes(s.object), object);
    });
  });

  it('an object to itself changes nothing, and shares all that is applied', () => {
    holds(({ key, a }) => {
      const s = new Scene(key);
      s.update('zero', a);
      const object = bytes(s.object);
      const zero = s.fieldsOf('zero');
      s.apply('one', a);
      assert.equal(bytes(s.object), object);
      assert.ok(equal(s.fieldsOf('zero') ?? NO_FIELDS, zero ?? NO_FIELDS));
    });
  });

  it('with force leaves the applier exactly the fields of his configuration', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.apply('one', a);
      s.apply('two', b, { force: true });
      assert.equal(bytes(s.fieldsOf('two') ?? {}), bytes(walkerFor(key).applied(b)));
    });
  });

  it('with force shows every value of the configuration', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.apply('one', a);
      s.apply('two', b, { force: true });
      const walker = walkerFor(key);
      const { changed, removed } = walker.diff(b, s.object);
      const applied = walker.applied(b);
      const lost = pathsOf(difference(applied, difference(difference(applied, removed), changed)));
      assert.deepEqual(lost.map(printPath), []);
    });
  });

  it('without the fields again takes out what nobody else has', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.apply('one', a);
      const before = bytes(s.object);
      const { managers } = s;
      s.apply('two', b, { force: true });
      s.apply('one', a, { force: true });
      s.apply('two', { apiVersion: b['apiVersion'], kind: b['kind'], metadata: { name: 'x' } });
      assert.equal(sorted(withKeys(s.object)), sorted(withKeys(JSON.parse(before))));
      assert.deepEqual(
        s.managers.map((e) => e.fieldsV1),
        managers.map((e) => e.fieldsV1),
      );
    });
  });

  it('fails exactly when it would take from others, and force never fails', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.update('zero', a);
      const before = s.fieldsOf('zero') ?? NO_FIELDS;
      let isRefused = false;
      try {
        s.apply('one', b);
      } catch {
        isRefused = true;
        s.apply('one', b, { force: true });
      }
      const lost = difference(before, s.fieldsOf('zero') ?? NO_FIELDS);
      assert.equal(isRefused, !isEmpty(lost));
    });
  });
});

describe('updating', () => {
  it('leaves no field without owner, and none with an owner that is not there', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.update('zero', a);
      s.update('one', b);
      const walker = walkerFor(key);
      const owned = ownedBy(s);
      assert.ok(covers(owned, walker.diff(undefined, s.object).changed), 'owned');
      const all = walker.diff({}, s.object).changed;
      assert.deepEqual(pathsOf(difference(owned, all)).map(printPath), []);
    });
  });

  it('there and back leaves all with the one who went there and back, but what never changed', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.update('zero', a);
      const before = s.fieldsOf('zero') ?? NO_FIELDS;
      s.update('one', b);
      s.update('one', a);
      const [zero, one] = [s.fieldsOf('zero') ?? NO_FIELDS, s.fieldsOf('one') ?? NO_FIELDS];
      assert.ok(covers(before, zero));
      assert.ok(covers(union(zero, one), before));
      assert.deepEqual(pathsOf(difference(zero, difference(zero, one))).map(printPath), []);
    });
  });

  it('makes records that are read as they are', () => {
    holds(({ key, a, b }) => {
      const s = new Scene(key);
      s.update('zero', a);
      s.apply('one', b, { force: true });
      const text = bytes(s.managers);
      const raw = JSON.parse(text) as { fieldsV1: unknown }[];
      const decoded = decodeManagedFields(raw);
      assert.equal(bytes(decoded), text);
      decoded?.forEach((entry, i) => assert.equal(entry.fieldsV1, raw[i]?.fieldsV1));
    });
  });
});

/** The order of items and of members is not what is compared. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, node: unknown) => {
    if (Array.isArray(node)) return node.map((item) => sorted(item)).sort();
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).sort(([x], [y]) => (x < y ? -1 : 1)));
  });
}
