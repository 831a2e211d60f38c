import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  difference,
  equal,
  intersection,
  isEmpty,
  LEAF,
  NO_FIELDS,
  pathsOf,
  union,
  unionAll,
  type FieldsTree,
} from './fields-tree.js';
import { decodeManagedFields } from './managed-fields.js';

const leaf = {};

/** The canonical tree of a list of paths. */
function treeOf(paths: readonly (readonly string[])[]): FieldsTree {
  return paths.reduce(
    (tree, path) =>
      union(
        tree,
        path.reduceRight<FieldsTree>((node, key) => ({ [key]: node }), LEAF),
      ),
    {},
  );
}

const element = fc.constantFrom('f:a', 'f:b', 'f:__proto__', 'k:{"name":"x"}', 'v:"y"', 'i:0');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const tree = fc.array(path, { maxLength: 12 }).map(treeOf);
/** A set as everybody understands it. */
const setOf = (fields: FieldsTree): Set<string> => new Set(pathsOf(fields).map((p) => JSON.stringify(p)));
const bytes = (fields: FieldsTree): string => JSON.stringify(fields);

describe('a tree of fields', () => {
  it('writes membership of a node with children as "."', () => {
    const parent = { 'f:spec': leaf };
    const child = { 'f:spec': { 'f:replicas': leaf } };
    assert.equal(bytes(union(parent, child)), '{"f:spec":{".":{},"f:replicas":{}}}');
    assert.equal(bytes(union(child, parent)), '{"f:spec":{".":{},"f:replicas":{}}}');
    assert.equal(bytes(difference(union(parent, child), child)), bytes(parent));
    assert.equal(bytes(difference(union(parent, child), parent)), bytes(child));
  });

  it('takes out a parent without its children', () => {
    assert.deepEqual(difference({ 'f:a': { 'f:b': leaf } }, { 'f:a': leaf }), { 'f:a': { 'f:b': leaf } });
  });

  it('comes back itself when nothing changes', () => {
    const a = treeOf([['f:a', 'f:b'], ['f:c']]);
    assert.equal(union(a, { 'f:c': leaf }), a);
    assert.equal(difference(a, { 'f:d': leaf }), a);
    assert.equal(difference(a, NO_FIELDS), a);
  });

  it('shares what does not change', () => {
    const a = treeOf([['f:a', 'f:b'], ['f:c']]);
    assert.equal(difference(a, { 'f:c': leaf })['f:a'], a['f:a']);
  });
});

describe('the algebra of trees', () => {
  const both = (law: (a: FieldsTree, b: FieldsTree) => void): void => {
    fc.assert(fc.property(tree, tree, law), { numRuns: 300 });
  };

  it('is that of sets of paths', () => {
    both((a, b) => {
      const [inA, inB] = [setOf(a), setOf(b)];
      assert.deepEqual(setOf(union(a, b)), new Set([...inA, ...inB].sort()), 'union');
      assert.deepEqual([...setOf(difference(a, b))].sort(), [...inA].filter((p) => !inB.has(p)).sort(), 'difference');
      assert.deepEqual(
        [...setOf(intersection(a, b))].sort(),
        [...inA].filter((p) => inB.has(p)).sort(),
        'intersection',
      );
    });
  });

  it('gives equal sets equal bytes', () => {
    both((a, b) => {
      assert.equal(bytes(union(a, b)), bytes(union(b, a)));
      assert.equal(bytes(intersection(a, b)), bytes(intersection(b, a)));
      assert.equal(bytes(union(difference(a, b), intersection(a, b))), bytes(a));
      assert.equal(bytes(difference(union(a, b), b)), bytes(difference(a, b)));
      assert.equal(equal(a, b), bytes(a) === bytes(b));
    });
  });

  it('joins many as it joins two', () => {
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 6 }), (trees) => {
        assert.equal(bytes(unionAll(trees)), bytes(trees.reduce(union, NO_FIELDS)));
      }),
    );
  });

  it('changes neither side', () => {
    both((a, b) => {
      const before = bytes(a) + bytes(b);
      union(a, b);
      difference(a, b);
      intersection(a, b);
      assert.equal(bytes(a) + bytes(b), before);
    });
  });

  it('leaves nothing of a set without itself', () => {
    fc.assert(
      fc.property(tree, (a) => {
        const copy = structuredClone(a);
        assert.ok(isEmpty(difference(a, copy)));
        assert.ok(equal(union(a, copy), a) && equal(intersection(a, copy), a));
      }),
    );
  });

  it('makes trees that are read as they are', () => {
    both((a, b) => {
      for (const fields of [union(a, b), difference(a, b), intersection(a, b)]) {
        const [entry] =
          decodeManagedFields([
            { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: fields },
          ]) ?? [];
        assert.equal(entry?.fieldsV1, fields, bytes(fields));
      }
    });
  });
});
