import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Heap, type HeapItem } from './queue-heap.js';

interface Item extends HeapItem {
  rank: number;
}

describe('Heap', () => {
  it('has the least of its items on top, whatever is put in, moved or taken out', () => {
    const step = fc.record({
      item: fc.nat({ max: 15 }),
      do: fc.constantFrom('settle', 'settle', 'remove', 'pop'),
      rank: fc.nat({ max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const items: Item[] = Array.from({ length: 16 }, () => ({ place: -1, rank: 0 }));
        const heap = new Heap<Item>((a, b) => a.rank < b.rank);
        const inside = new Set<Item>();
        for (const { item: at, do: what, rank } of steps) {
          const item = what === 'pop' ? heap.top : items[at];
          if (item === undefined) continue;
          if (what === 'settle') {
            item.rank = rank;
            heap.settle(item);
            inside.add(item);
          } else {
            heap.remove(item);
            inside.delete(item);
          }
          const least = Math.min(...[...inside].map((i) => i.rank));
          assert.equal(heap.top?.rank ?? Infinity, least);
          for (const i of items) assert.equal(i.place >= 0, inside.has(i));
        }
      }),
    );
  });
});
