import assert from 'node:assert/strict';
import fc from 'fast-check';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { ObjectMeta, OwnerReference } from '../machinery/types/generated/meta.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { endingOf, OwnerGraph, ownersOf, type GraphNode } from './owner-graph.js';

const { configMaps: type, namespaces } = builtInTypes(vocabulary('platform'));

type Ending = ReturnType<typeof endingOf>;
type Owner = readonly [uid: string, blocks?: boolean, name?: string];

const FINALIZERS = { foreground: ['foregroundDeletion'], orphan: ['orphan'], plain: ['example.com/mine'] } as const;

function node(uid: string, owners: readonly Owner[] = [], ending?: Ending, more: Partial<ObjectMeta> = {}): GraphNode {
  const ownerReferences = owners.map(([of, blockOwnerDeletion = false, name = of]): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: of,
    blockOwnerDeletion,
  }));
  const deleted = ending === undefined ? {} : { deletionTimestamp: 'now', finalizers: FINALIZERS[ending] };
  const metadata = { name: uid, namespace: 'ns', uid, resourceVersion: '1', ownerReferences, ...deleted, ...more };
  return { type, object: { kind: 'ConfigMap', apiVersion: 'v1', metadata } };
}

describe('OwnerGraph', () => {
  let graph: OwnerGraph;
  let told: Set<string>;
  beforeEach(() => {
    told = new Set();
    graph = new OwnerGraph({ examine: (uid) => told.add(uid), orphan: (uid) => told.add(`orphan ${uid}`) });
  });
  const toldOf = (change: () => void): readonly string[] => {
    told.clear();
    change();
    return [...told].sort();
  };

  it('has an object looked at whose owner was not seen, whichever comes first', () => {
    assert.deepEqual(
      toldOf(() => graph.observe(node('a', [['o']]))),
      ['a'],
    );
    assert.deepEqual(
      toldOf(() => graph.observe(node('o'))),
      [],
    );
    assert.deepEqual(
      toldOf(() => graph.observe(node('b', [['o']]))),
      [],
    );
    assert.deepEqual(
      toldOf(() => graph.forget('o')),
      ['a', 'b'],
    );
  });

  it('takes an owner for the one that is meant only where kind, name and namespace are the same', () => {
    graph.observe(node('o'));
    graph.observe(node('w', [], undefined, { namespace: 'other' }));
    const keeps = (reference: OwnerReference): boolean => graph.keeps(reference, node('a'));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' };
    assert.ok(keeps(reference));
    assert.ok(keeps({ ...reference, apiVersion: 'v2' }));
    assert.ok(!keeps({ ...reference, apiVersion: 'apps/v1' }));
    assert.ok(!keeps({ ...reference, kind: 'Secret' }));
    assert.ok(!keeps({ ...reference, name: 'p' }));
    assert.ok(!keeps({ ...reference, uid: 'p' }));
    assert.ok(!keeps({ ...reference, name: 'w', uid: 'w' }));
    assert.ok(graph.isElsewhere({ ...reference, name: 'w', uid: 'w' }, node('a')));
    assert.ok(!graph.isElsewhere({ ...reference, name: 'x', uid: 'w' }, node('a')));
    assert.ok(!graph.isElsewhere(reference, node('a')));
  });

  it('lets objects without a namespace own those of any', () => {
    const { object } = node('n', [], undefined, { namespace: undefined as never });
    graph.observe({ type: namespaces, object });
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'n', uid: 'n' };
    assert.ok(graph.keeps(reference, node('a')));
  });

  it('has dependents looked at, and the object itself, when it is deleted in the foreground', () => {
    graph.observe(node('o'));
    graph.observe(node('a', [['o']]));
    assert.deepEqual(
      toldOf(() => graph.observe(node('o', [], 'foreground'))),
      ['a', 'o'],
    );
    assert.deepEqual(
      toldOf(() => graph.observe(node('b', [['o', true]]))),
      ['b'],
    );
    assert.ok(graph.isBlocked('o'));
    assert.deepEqual(
      toldOf(() => graph.observe(node('b', [['o', false]]))),
      ['b', 'o'],
    );
    assert.ok(!graph.isBlocked('o'));
  });

  it('says once when dependents are to be orphaned', () => {
    graph.observe(node('o'));
    assert.deepEqual(
      toldOf(() => graph.observe(node('o', [], 'orphan'))),
      ['orphan o'],
    );
    assert.deepEqual(
      toldOf(() => graph.observe(node('o', [], 'orphan'))),
      [],
    );
  });

  it('waits for nothing that is itself', () => {
    graph.observe(node('o', [['o', true]], 'foreground'));
    assert.ok(!graph.isBlocked('o'));
    assert.deepEqual([...graph.ownersInCycle('o')], []);
  });

  it('finds owners that wait for an object which waits for them', () => {
    graph.observe(node('a', [['c', true]], 'foreground'));
    graph.observe(node('b', [['a', true], ['x', true]], 'foreground')); // prettier-ignore
    graph.observe(node('c', [['b', true]]));
    assert.deepEqual([...graph.ownersInCycle('b')], []);
    graph.observe(node('c', [['b', true]], 'foreground'));
    assert.deepEqual([...graph.ownersInCycle('b')], ['a']);
    assert.deepEqual([...graph.ownersInCycle('c')], ['b']);
    graph.observe(node('a', [['c', false]], 'foreground'));
    assert.deepEqual([...graph.ownersInCycle('b')], []);
  });

  describe('beside a model that keeps objects alone', () => {
    const UIDS = ['a', 'b', 'c', 'd', 'e'];
    const uid = fc.constantFrom(...UIDS);
    const owners = fc.uniqueArray(fc.tuple(uid, fc.boolean()), { maxLength: 3, selector: ([of]) => of });
    const ending = fc.constantFrom<Ending>(undefined, undefined, 'foreground', 'orphan', 'plain');
    const change = fc.record({ uid, owners, ending, isGone: fc.integer({ max: 3 }).map((n) => n === 0) });

    /** By the definitions, from scratch. */
    class Model {
      readonly objects = new Map<string, GraphNode>();

      refers(from: string, to: string): readonly OwnerReference[] {
        const object = this.objects.get(from)?.object;
        return object === undefined ? [] : ownersOf(object).filter((it) => it.uid === to);
      }

      isForeground(of: string): boolean {
        const object = this.objects.get(of)?.object;
        return object !== undefined && endingOf(object) === 'foreground';
      }

      blocks(from: string, to: string): boolean {
        return from !== to && this.refers(from, to).some((it) => it.blockOwnerDeletion === true);
      }

      isBlocked(of: string): boolean {
        return UIDS.some((other) => this.blocks(other, of));
      }

      dependentsOf(of: string): readonly string[] {
        return UIDS.filter((other) => this.refers(other, of).length > 0);
      }

      isKept(of: string): boolean {
        const object = this.objects.get(of)?.object;
        return object !== undefined && ownersOf(object).every((it) => this.objects.has(it.uid ?? '') && !this.isForeground(it.uid ?? '')); // prettier-ignore
      }

      /** Whether `from` waits for `to` through others that wait. */
      waits(from: string, to: string, seen = new Set<string>()): boolean {
        if (seen.has(from) || !this.isForeground(from)) return false;
        seen.add(from);
        const next = UIDS.filter((other) => this.blocks(other, from) && this.isForeground(other));
        return next.some((other) => other === to || this.waits(other, to, seen));
      }

      ownersInCycle(of: string): readonly string[] {
        return UIDS.filter((owner) => this.blocks(of, owner) && this.isForeground(owner) && this.waits(of, owner));
      }

      /** All that there is to do. */
      get due(): ReadonlySet<string> {
        const due = UIDS.flatMap((of) => {
          const object = this.objects.get(of)?.object;
          const how = object && endingOf(object);
          if (object === undefined) return [];
          if (how === 'foreground') return this.isBlocked(of) ? [] : [of];
          if (how === 'orphan') return [`orphan ${of}`];
          return how === 'plain' || this.isKept(of) ? [] : [of];
        });
        return new Set(due);
      }

      get inCycle(): readonly string[] {
        return UIDS.filter((of) => this.isForeground(of) && this.ownersInCycle(of).length > 0);
      }
    }

    it('says the same, and tells of all that becomes due', () => {
      fc.assert(
        fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
          const effects = new Set<string>();
          const tested = new OwnerGraph({ examine: (of) => effects.add(of), orphan: (of) => effects.add(`orphan ${of}`) }); // prettier-ignore
          const model = new Model();
          for (const { uid: of, owners: refs, ending: how, isGone } of changes) {
            const [due, cycles] = [model.due, model.inCycle.length];
            const present = model.objects.get(of);
            effects.clear();
            if (isGone) {
              model.objects.delete(of);
              tested.forget(of);
            } else {
              // A deletion is never taken back.
              const marked = how ?? (present && endingOf(present.object));
              model.objects.set(of, node(of, refs, marked));
              tested.observe(node(of, refs, marked));
            }
            for (const it of model.due) assert.ok(due.has(it) || effects.has(it), `nobody hears of ${it}`);
            if (cycles === 0 && model.inCycle.length > 0) assert.ok(model.inCycle.some((it) => effects.has(it)));
            for (const it of UIDS) {
              const names = tested.dependentsOf(it).map(({ object }) => object.metadata.uid);
              assert.deepEqual([...names].sort(), model.dependentsOf(it));
              assert.equal(tested.hasDependents(it), names.length > 0);
              assert.equal(tested.isBlocked(it), model.isBlocked(it));
              const known = tested.get(it);
              if (known !== undefined) assert.equal(tested.isKept(known), model.isKept(it));
              if (model.isForeground(it)) assert.deepEqual([...tested.ownersInCycle(it)].sort(), model.ownersInCycle(it)); // prettier-ignore
            }
          }
        }),
        { numRuns: 500 },
      );
    });
  });
});
