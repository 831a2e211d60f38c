import assert from 'node:assert/strict';
import fc from 'fast-check';
import { keyOf, type AnyObject, type Live } from '../rest/resource-type.js';
import { IndexedStore } from './indexed-store.js';

type Stored = Live<AnyObject>;
const unexpected = (err: unknown): void => assert.fail(String(err));

const object = (namespace: string, name: string, labels: Readonly<Record<string, string>> = {}): Stored => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name, ...(namespace === '' ? {} : { namespace }), labels, uid: name, resourceVersion: '1' },
});
const valuesOf = ({ metadata: { labels = {} } }: Stored): string[] => Object.values(labels);

describe('IndexedStore', () => {
  it('finds the same as a look at all objects, after any puts and removals', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const namespace = fc.constantFrom('', 'x', 'y');
    const labels = fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2', 'x'));
    const step = fc.record({ namespace, name, labels, isRemoval: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), fc.nat(10), (steps, indexAt) => {
        const store = new IndexedStore<AnyObject>(unexpected);
        const model = new Map<string, Stored>();
        steps.forEach(({ namespace, name, labels, isRemoval }, i) => {
          if (i === indexAt) store.index('values', valuesOf);
          const it = object(namespace, name, labels);
          const key = keyOf(it.metadata);
          assert.equal(isRemoval ? store.remove(key) : store.put(it), model.get(key));
          if (isRemoval) model.delete(key);
          else model.set(key, it);
        });
        store.index('values', steps.length > indexAt ? valuesOf : (it) => valuesOf(it));
        const all = [...model.values()];
        const sorted = (found: readonly Stored[]): string[] => found.map((it) => keyOf(it.metadata)).sort();
        assert.equal(store.size, model.size);
        assert.deepEqual(sorted(store.list()), sorted(all));
        for (const [key, it] of model) assert.equal(store.get(key), it);
        for (const namespace of ['x', 'y', 'z']) {
          assert.deepEqual(
            sorted(store.list(namespace)),
            sorted(all.filter((it) => it.metadata.namespace === namespace)),
          );
        }
        for (const value of ['1', '2', 'x', '3']) {
          assert.deepEqual(sorted(store.by('values', value)), sorted(all.filter((it) => valuesOf(it).includes(value))));
        }
      }),
    );
  });

  it('keeps one function for each name', () => {
    const store = new IndexedStore<AnyObject>(unexpected);
    store.index('values', valuesOf);
    store.index('values', valuesOf);
    assert.throws(() => store.index('values', () => []), /"values"/);
    assert.throws(() => store.index('', () => []), /""/);
    assert.throws(() => store.by('others', 'x'), /others/);
  });

  it('tells of a function that throws, and holds the object all the same', () => {
    const failures: unknown[] = [];
    const store = new IndexedStore<AnyObject>((err) => failures.push(err));
    store.index('values', () => {
      throw new Error('wrong');
    });
    store.put(object('x', 'a'));
    assert.equal(failures.length, 1);
    assert.equal(store.list('x').length, 1);
    assert.deepEqual(store.by('values', '1'), []);
  });
});
