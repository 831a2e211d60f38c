import assert from 'node:assert/strict';
import { HistoryBuilder } from '../history/builder.js';
import { digestOf } from '../history/body.js';
import type { EventLine, Line, OperationLine, Seen } from '../history/lines.js';
import { generate, QUOTA } from '../testing/generate.js';
import { validate, type Verdict } from './validators.js';

const OPERATIONS = 1_500;
const LIMITS = { outageMs: 2_000 };

function verdictOn(lines: readonly Line[], limits: { outageMs: number | undefined } = LIMITS): Verdict {
  const builder = new HistoryBuilder();
  for (const line of lines) builder.add(line);
  return validate(builder.finish(), limits);
}

const promises = ({ found }: Verdict): string[] => [...new Set(found.map(({ promise }) => promise))].sort();

type Ops = (lines: readonly Line[]) => OperationLine[];
const operations: Ops = (lines) => lines.filter((it) => it.t === 'op');
const isEvent = (line: Line): line is EventLine => line.t === 'ev' && line.type !== 'B';

/** One that is in the middle, so that there is something before and after it. */
function middle<T>(items: readonly T[], fits: (item: T, index: number) => boolean = () => true): T {
  const fitting = items.filter(fits);
  const found = fitting[fitting.length >> 1];
  assert.ok(found !== undefined, 'the history has none');
  return found;
}

const without = (lines: readonly Line[], line: Line): Line[] => lines.filter((it) => it !== line);
const changed = <T extends Line>(lines: readonly Line[], line: T, by: Partial<T>): Line[] =>
  lines.map((it) => (it === line ? { ...it, ...by } : it));

const plainStream = (lines: readonly Line[]): EventLine[] =>
  lines.filter(isEvent).filter(({ stream }) => stream < 1000);
const selectedStream = (lines: readonly Line[]): EventLine[] =>
  lines.filter(isEvent).filter(({ stream }) => stream >= 2000 && stream < 3000);

function doneWrites(lines: readonly Line[], ...verbs: readonly string[]): OperationLine[] {
  return operations(lines).filter(({ verb, code, ns }) => ns === 'a' && code === 200 && verbs.includes(verb));
}

const isReadOf = (line: Line, rv: number): boolean => line.t === 'op' && (line.seen ?? []).some((it) => it[1] === rv);

/** Each of these faults is one that a server could have. */
const PLANTED: readonly { name: string; promise: string; plant: (lines: readonly Line[]) => Line[] }[] = [
  {
    name: 'an event that is missing',
    promise: 'reliable',
    plant: (lines) => without(lines, middle(plainStream(lines))),
  },
  {
    name: 'an event that is missing after a cut',
    promise: 'resumable',
    plant: (lines) => {
      const resumed = lines.findLast((it) => it.t === 'watch' && it.list === undefined && it.stream < 1000);
      assert.ok(resumed?.t === 'watch');
      return without(lines, first(lines, resumed.stream - 1));
    },
  },
  {
    name: 'two events in the wrong order',
    promise: 'ordered',
    plant: (lines) => {
      const events = plainStream(lines);
      const a = middle(events, (it, i) => events[i + 1]?.stream === it.stream);
      const b = events[events.indexOf(a) + 1]!;
      return lines.map((it) => (it === a ? { ...b, at: a.at } : it === b ? { ...a, at: b.at } : it));
    },
  },
  {
    name: 'an event that comes twice',
    promise: 'unique',
    plant: (lines) => {
      const event = middle(plainStream(lines));
      return lines.flatMap((it) => (it === event ? [it, it] : [it]));
    },
  },
  {
    name: 'an event after a bookmark of its version',
    promise: 'bookmarkable',
    plant: (lines) => {
      const bookmark = middle(lines, (it) => it.t === 'ev' && it.type === 'B' && it.stream < 1000) as EventLine;
      return changed(lines, bookmark, { seen: ['', bookmark.seen[1] + 1, ''] });
    },
  },
  {
    name: 'an event with another body',
    promise: 'atomic',
    plant: (lines) => {
      const event = middle(plainStream(lines), ({ type }) => type === 'M');
      const body = { uid: 'u', labels: {}, data: { v: 'x' } };
      return changed(lines, event, { seen: [event.seen[0], event.seen[1], digestOf(body), body] });
    },
  },
  {
    name: 'MODIFIED of what was not there',
    promise: 'previous state',
    plant: (lines) =>
      changed(
        lines,
        middle(plainStream(lines), ({ type }) => type === 'A'),
        { type: 'M' },
      ),
  },
  {
    name: 'DELETED with an old state',
    promise: 'previous state',
    plant: (lines) => {
      const event = middle(
        lines.filter(isEvent).filter(({ stream }) => stream < 2000),
        ({ type }) => type === 'D',
      );
      const body = { ...event.seen[3]!, data: { v: 'older' } };
      const seen: Seen = [event.seen[0], event.seen[1], digestOf(body), body];
      return lines.map((it) =>
        isEvent(it) && it.stream < 2000 && it.seen[1] === event.seen[1] && it.type === 'D' ? { ...it, seen } : it,
      );
    },
  },
  {
    name: 'an event that does not match',
    promise: 'selectors',
    plant: (lines) => {
      const shown = new Set(selectedStream(lines).map(({ seen }) => seen[1]));
      const events = selectedStream(lines);
      const after = middle(events);
      const alien = plainStream(lines).findLast(({ seen, type }) => seen[1] < after.seen[1] && !shown.has(seen[1]) && type === 'A'); // prettier-ignore
      const before = events.find(({ seen }) => seen[1] > alien!.seen[1])!;
      return lines.flatMap((it) => (it === before ? [{ ...alien!, stream: it.stream }, it] : [it]));
    },
  },
  {
    name: 'a label that came and is shown as MODIFIED',
    promise: 'selectors',
    plant: (lines) =>
      changed(
        lines,
        middle(selectedStream(lines), ({ type }) => type === 'A'),
        { type: 'M' },
      ),
  },
  {
    name: 'a label that went and is not shown',
    promise: 'reliable',
    plant: (lines) =>
      without(
        lines,
        middle(selectedStream(lines), ({ type }) => type === 'D'),
      ),
  },
  {
    name: 'a list by label with more',
    promise: 'selectors',
    plant: (lines) => {
      const list = middle(operations(lines), ({ selector, ns, rv }) => selector === 'color=red' && ns === 'a' && rv! > 50); // prettier-ignore
      const alien = operations(lines).filter(({ verb, rv, selector, ns }) => verb === 'list' && selector === '' && ns === 'a' && rv! <= list.rv!).at(-1)!; // prettier-ignore
      const other = alien.seen!.find(([name, , , body]) => body?.labels['color'] !== 'red' && !list.seen!.some((it) => it[0] === name))!; // prettier-ignore
      return changed(lines, list, { seen: [...list.seen!, other] });
    },
  },
  {
    name: 'a list that lacks something',
    promise: 'atomic',
    plant: (lines) => {
      const list = middle(operations(lines), ({ verb, ns, selector, seen }) => verb === 'list' && ns === 'a' && selector === '' && seen!.length > 3); // prettier-ignore
      return changed(lines, list, { seen: list.seen!.slice(1) });
    },
  },
  {
    name: 'a list of the past',
    promise: 'no stale reads',
    plant: (lines) => {
      const list = middle(operations(lines), ({ verb, ns, selector }) => verb === 'list' && ns === 'a' && selector === ''); // prettier-ignore
      return changed(lines, list, { start: list.end + 500, end: list.end + 501 });
    },
  },
  {
    name: 'a read of the past',
    promise: 'no stale reads',
    plant: (lines) => {
      const writes = doneWrites(lines, 'patch', 'apply', 'update');
      const write = middle(writes, ({ name, seen }) => writes.some((it) => it.name === name && it.seen![0]![3]!.uid === seen![0]![3]!.uid && it.seen![0]![1] > seen![0]![1])); // prettier-ignore
      const later = writes.find((it) => it.name === write.name && it.seen![0]![1] > write.seen![0]![1])!;
      const read: OperationLine = { t: 'op', id: 1e6, client: 1, verb: 'get', ns: 'a', name: write.name, read: 'newest', code: 200, start: later.end + 1, end: later.end + 2, seen: write.seen! }; // prettier-ignore
      return [...lines, read];
    },
  },
  {
    name: 'nothing found where something is',
    promise: 'no stale reads',
    plant: (lines) => {
      const get = middle(operations(lines), ({ verb, code, ns, start, name }) => verb === 'get' && code === 200 && ns === 'a' && isQuiet(lines, name, start)); // prettier-ignore
      const { seen: _, ...rest } = get;
      return lines.map((it) => (it === get ? { ...rest, code: 404 } : it));
    },
  },
  {
    name: 'a write that is lost',
    promise: 'no lost writes',
    plant: (lines) => {
      const patch = middle(doneWrites(lines, 'patch'), ({ seen }) => lines.filter((it) => isReadOf(it, seen![0]![1])).length >= 1); // prettier-ignore
      const token = patch.sent!.data!['p']!;
      // It was answered, and everything later is as if it had never been.
      return lines.map((it) => (it === patch ? it : forget(it, token)));
    },
  },
  {
    name: 'a version that is older than what was known',
    promise: 'ordered writes',
    plant: (lines) => {
      const write = middle(doneWrites(lines, 'apply'));
      return changed(lines, write, { start: write.end + 100, end: write.end + 101 });
    },
  },
  {
    name: 'a precondition that did not hold',
    promise: 'preconditions',
    plant: (lines) => {
      const update = middle(doneWrites(lines, 'update'));
      return changed(lines, update, { ifRv: update.ifRv! - 1 });
    },
  },
  {
    name: 'a refused write that was done',
    promise: 'no phantoms',
    plant: (lines) => {
      const write = middle(doneWrites(lines, 'patch'));
      const { seen: _, ...rest } = write;
      return lines.map((it) => (it === write ? { ...rest, code: 409 } : it));
    },
  },
  {
    name: 'a state that nobody wrote',
    promise: 'no phantoms',
    plant: (lines) => without(lines, middle(doneWrites(lines, 'patch'))),
  },
  {
    name: 'an end that nobody asked for',
    promise: 'no phantoms',
    plant: (lines) => {
      const gone = middle(plainStream(lines), ({ type }) => type === 'D');
      return lines.filter((it) => !(it.t === 'op' && it.verb === 'delete' && it.name === gone.seen[0]));
    },
  },
  {
    name: 'a delete that was answered and not done',
    promise: 'reliable',
    plant: (lines) => {
      const get = middle(operations(lines), ({ verb, code, ns, end, name }) => verb === 'get' && code === 200 && ns === 'a' && isQuiet(lines, name, end)); // prettier-ignore
      const { seen: _, read: __, ...rest } = get;
      return [...lines, { ...rest, id: 1e6, verb: 'delete' }];
    },
  },
  {
    name: 'a create that is refused for what is not there',
    promise: 'no stale reads',
    plant: (lines) => [
      ...lines,
      { t: 'op', id: 1e6, client: 1, verb: 'get', ns: 'a', name: 'never', read: 'newest', code: 404, start: 1, end: 2 },
      { t: 'op', id: 1e6, client: 1, verb: 'create', ns: 'a', name: 'never', code: 409, start: 3, end: 4 },
    ],
  },
  {
    name: 'a conflict without another version',
    promise: 'preconditions',
    plant: (lines) => {
      const get = middle(operations(lines), ({ verb, code, ns, start, name }) => verb === 'get' && code === 200 && ns === 'a' && isQuiet(lines, name, start)); // prettier-ignore
      const refused: OperationLine = { t: 'op', id: 1e6, client: 1, verb: 'update', ns: 'a', name: get.name, ifRv: get.seen![0]![1], code: 409, start: get.end + 0.01, end: get.end + 0.02 }; // prettier-ignore
      return [...lines, refused];
    },
  },
  {
    name: 'two leaders',
    promise: 'one leader',
    plant: (lines) => {
      const turn = middle(lines, (it) => it.t === 'turn');
      return lines.map((it) => (it === turn && it.t === 'turn' ? { ...it, from: it.from - it.to / 4 } : it));
    },
  },
  {
    name: 'a write of a leader of the past',
    promise: 'one leader',
    plant: (lines) => {
      const write = middle(operations(lines), ({ ns, verb, code, seen }) => ns === 'l' && verb === 'apply' && code === 200 && seen![0]![1] > 60); // prettier-ignore
      const [name, rv, , body] = write.seen![0]!;
      const old = { ...body!, data: { ...body!.data, transitions: '1' } };
      const seen: Seen[] = [[name, rv, digestOf(old), old]];
      return lines.map((it) => (it === write ? { ...write, seen } : it));
    },
  },
  {
    name: 'one object more than the quota allows',
    promise: 'quota',
    plant: (lines) => lines.map((it) => (it.t === 'run' ? { ...it, quota: QUOTA - 1 } : it)),
  },
  {
    name: 'a dependent without its owner',
    promise: 'no dangling dependents',
    plant: (lines) => lines.map((it) => (it.t === 'final' ? { ...it, items: it.items.slice(1) } : it)),
  },
  {
    name: 'a client that waits while a server is well',
    promise: 'available',
    plant: (lines) => {
      const get = middle(operations(lines), ({ verb }) => verb === 'get');
      return changed(lines, get, { start: get.start - LIMITS.outageMs - 10 });
    },
  },
];

const first = (lines: readonly Line[], stream: number): EventLine =>
  lines.find((it): it is EventLine => isEvent(it) && it.stream === stream)!;

/** Whether nobody writes the object around a time. */
const isQuiet = (lines: readonly Line[], name: string, at: number): boolean =>
  operations(lines).every(
    (it) =>
      it.ns !== 'a' || it.name !== name || it.verb === 'get' || it.code >= 400 || it.end < at - 8 || it.start > at + 12,
  );

/** A line as it would be had the data of this token not been written. */
function forget(line: Line, token: string): Line {
  const clean = (seen: Seen): Seen => {
    const [name, rv, , body] = seen;
    if (body?.data['p'] !== token) return seen;
    const { p: _, ...data } = body.data;
    return [name, rv, digestOf({ ...body, data }), { ...body, data }];
  };
  if (line.t === 'ev' && line.type !== 'B') return { ...line, seen: clean(line.seen) };
  return line.t === 'op' && line.seen !== undefined ? { ...line, seen: line.seen.map(clean) } : line;
}

/** As recorders write it: a body goes with the first line that tells of its version. */
function toldOnce(lines: readonly Line[]): Line[] {
  const told = new Set<string>();
  const once = (ns: string, [name, rv, digest, body]: Seen): Seen => {
    const key = `${ns}/${name} ${rv} ${digest}`;
    if (body === undefined || told.has(key)) return [name, rv, digest];
    told.add(key);
    return [name, rv, digest, body];
  };
  return lines.map((line) => {
    if (line.t === 'ev') return { ...line, seen: once('a', line.seen) };
    return line.t === 'op' && line.seen !== undefined
      ? { ...line, seen: line.seen.map((it) => once(line.ns, it)) }
      : line;
  });
}

describe('validate()', () => {
  it('finds nothing in what a server without a fault did, whatever was answered', () => {
    for (const unanswered of [0, 5, 30]) {
      for (let seed = 1; seed <= 15; seed++) {
        const lines = generate({ seed, operations: OPERATIONS, unanswered });
        for (const form of [lines, toldOnce(lines)]) {
          assert.deepEqual(verdictOn(form).found, [], `seed ${seed}, ${unanswered} % unanswered`);
        }
      }
    }
  });

  for (const { name, promise, plant } of PLANTED) {
    it(`finds ${name}`, () => {
      for (const seed of [1, 2, 3]) {
        const verdict = verdictOn(plant(generate({ seed, operations: OPERATIONS })));
        assert.ok(promises(verdict).includes(promise), `seed ${seed}: ${JSON.stringify(promises(verdict))}`);
      }
    });
  }
});
