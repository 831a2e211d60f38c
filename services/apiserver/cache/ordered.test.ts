import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CachedObject } from './cached-object.js';
import { GenerationBudget } from './generations.js';
import { joinedIn, OrderedObjects, type ObjectFilter, type Snapshot } from './ordered.js';
import { cached, PREFIX } from './testing/objects.js';

const END = `${PREFIX.slice(0, -1)}0`;
const key = (name: string): string => `${PREFIX}ns/${name}`;
const names = (s: Snapshot, from = PREFIX, to = END): string[] => [...s.between(from, to)].map((o) => o.name);
const parsedItems = (s: Snapshot, from = PREFIX, to = END): { metadata: { name: string; resourceVersion: string } }[] =>
  JSON.parse(`[${[...s.items(from, to)].map(String).join('').slice(1)}]`) as {
    metadata: { name: string; resourceVersion: string };
  }[];
const numbered = (n: number): string => String(n).padStart(4, '0');

function filled(count: number): OrderedObjects {
  const objects = new OrderedObjects();
  for (let i = 0; i < count; i++) objects.set(cached('ns', numbered(i), i + 1));
  return objects;
}

describe('OrderedObjects', () => {
  it('keeps key order whatever the order of arrival', () => {
    const objects = new OrderedObjects();
    for (const name of ['c', 'a', 'b']) objects.set(cached('ns', name, 1));
    assert.deepEqual(names(objects), ['a', 'b', 'c']);
  });

  it('replaces an object at its key', () => {
    const objects = filled(3);
    objects.set(cached('ns', '0001', 50));
    assert.equal(objects.size, 3);
    assert.deepEqual(
      parsedItems(objects).map((i) => i.metadata.resourceVersion),
      ['1', '50', '3'],
    );
  });

  it('shows list items without kind and apiVersion, joined over many leaves', () => {
    const items = parsedItems(filled(500));
    assert.equal(items.length, 500);
    assert.deepEqual(Object.keys(items[0] ?? {}), ['metadata']);
    assert.deepEqual(
      items.map((i) => i.metadata.name),
      Array.from({ length: 500 }, (_, i) => numbered(i)),
    );
  });

  it('shows a changed object in items that were joined before', () => {
    const objects = filled(200);
    parsedItems(objects);
    objects.set(cached('ns', '0150', 999));
    assert.equal(parsedItems(objects)[150]?.metadata.resourceVersion, '999');
  });

  it('cuts ranges inside of leaves', () => {
    const objects = filled(300);
    assert.deepEqual(
      parsedItems(objects, key('0070'), key('0073')).map((i) => i.metadata.name),
      ['0070', '0071', '0072'],
    );
    assert.deepEqual([...objects.items(key('0500'), END)], []);
    assert.equal(objects.count(key('0070'), END), 230);
    assert.equal(objects.count(key('0070'), key('0073')), 3);
    assert.equal(objects.keyAfter(key('0070'), 5), key('0075'));
    assert.equal(objects.keyAfter(key('0290'), 10), undefined);
  });

  it('does not change a snapshot when objects come, change and go', () => {
    const objects = filled(200);
    const before = objects.snapshot();
    objects.set(cached('ns', '0100', 999));
    objects.set(cached('ns', '0100x', 1000));
    objects.delete(key('0050'));
    assert.equal(before.size, 200);
    assert.deepEqual(
      parsedItems(before).map((i) => i.metadata.resourceVersion),
      Array.from({ length: 200 }, (_, i) => String(i + 1)),
    );
    assert.equal(objects.size, 200);
    assert.equal(names(objects).includes('0050'), false);
  });

  describe('joined items', () => {
    const all = (objects: Snapshot, filter?: ObjectFilter): Buffer[] => [...objects.items(PREFIX, END, filter)];
    const even: ObjectFilter = { id: 'even', matches: (o) => o.revision % 2 === 0 };
    let due: (() => void)[];
    let objects: OrderedObjects;
    const begin = (maxBytes: number): void => {
      due = [];
      let now = 0;
      const budget = new GenerationBudget(
        { maxBytes, turnMs: 10 },
        { now: () => (now += 10), later: (act) => void due.push(act) },
      );
      objects = new OrderedObjects(joinedIn(budget));
      for (let i = 0; i < 40; i++) objects.set(cached('ns', numbered(i), i + 1));
    };
    const turn = (): void => {
      for (const act of due.splice(0)) act();
    };

    it('are kept for lists, for each filter and for snapshots', () => {
      begin(1e6);
      const before = [all(objects)[0], all(objects, even)[0]];
      assert.notEqual(before[0]?.length, before[1]?.length);
      assert.ok(all(objects.snapshot())[0] === before[0]);
      assert.ok(all(objects, even)[0] === before[1]);
    });

    it('are made again once an object has changed', () => {
      begin(1e6);
      all(objects, even);
      objects.set(cached('ns', '0001', 99));
      assert.equal(all(objects, even).join('').includes('"0001"'), false);
    });

    it('are forgotten when nobody asks for them', () => {
      begin(1e6);
      const [before] = all(objects);
      turn();
      assert.ok(all(objects)[0] === before);
      turn();
      turn();
      assert.ok(all(objects)[0] !== before);
    });

    it('keep no more than the budget has room for', () => {
      begin(1);
      for (let i = 0; i < 300; i++) objects.set(cached('ns', numbered(i), i + 1)); // several leaves
      const [before] = all(objects);
      assert.ok(all(objects)[0] !== before);
    });

    it('are kept for few filters', () => {
      begin(1e6);
      const before = all(objects, even)[0];
      for (let i = 0; i < 5; i++) all(objects, { ...even, id: String(i) });
      assert.ok(all(objects, even)[0] !== before);
    });
  });

  it('agrees with a sorted map after any sequence of changes and snapshots', () => {
    const step = fc.record({ do: fc.constantFrom('set', 'delete', 'snapshot'), n: fc.nat({ max: 300 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.nat({ max: 300 }), fc.nat({ max: 300 }), (steps, a, b) => {
        const objects = new OrderedObjects();
        const model = new Map<string, CachedObject>();
        const kept: { snapshot: Snapshot; names: string[] }[] = [];
        const sorted = (): CachedObject[] => [...model.values()].sort((x, y) => (x.key < y.key ? -1 : 1));
        for (const [i, { do: what, n }] of steps.entries()) {
          const object = cached('ns', numbered(n), i + 1);
          if (what === 'set') {
            objects.set(object);
            model.set(object.key, object);
          } else if (what === 'delete') assert.equal(objects.delete(object.key), model.delete(object.key));
          else kept.push({ snapshot: objects.snapshot(), names: sorted().map((o) => o.name) });
        }
        const [from, to] = [key(numbered(Math.min(a, b))), key(numbered(Math.max(a, b)))];
        const within = sorted().filter((o) => o.key >= from && o.key < to);
        assert.deepEqual(
          names(objects, from, to),
          within.map((o) => o.name),
        );
        assert.equal(objects.count(from, to), within.length);
        assert.equal(objects.size, model.size);
        assert.deepEqual(
          parsedItems(objects, from, to).map((x) => x.metadata.name),
          within.map((o) => o.name),
        );
        for (const { snapshot, names: then } of kept) assert.deepEqual(names(snapshot), then);
      }),
      { numRuns: 60 },
    );
  });
});
