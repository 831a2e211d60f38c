import { linesOf } from '../history/read.js';
import { keyOf } from '../history/history.js';
import type { Body, EventLine, Line, OperationLine, Seen } from '../history/lines.js';
import type { Found } from '../validators/validators.js';

/** Objects whose history is shown, and lines of each: those nearest to what went wrong. */
const MOST_OBJECTS = 20;
const MOST_LINES = 400;

/** What somebody saw or did of one object. */
export interface ObjectLine {
  readonly from: number;
  readonly to: number;
  /** e.g. `client 3`, `watcher 1 (color=red)` */
  readonly who: string;
  readonly what: string;
  readonly answer: string;
  readonly rv: number | undefined;
  readonly body: Body | undefined;
  readonly operation: number | undefined;
}

export interface ObjectLines {
  /** `namespace/name` */
  readonly object: string;
  /** When the first thing went wrong. */
  readonly at: number | undefined;
  readonly lines: readonly ObjectLine[];
}

/** The histories of the objects that failed, from one more look at the file. */
export async function objectLines(path: string, found: readonly Found[]): Promise<ObjectLines[]> {
  const failed = new Map<string, number | undefined>();
  for (const { object, at } of found) {
    if (object !== undefined && !failed.has(object) && failed.size < MOST_OBJECTS) failed.set(object, at);
  }
  if (failed.size === 0) return [];
  const collector = new Collector(new Set(failed.keys()));
  for await (const line of linesOf(path)) collector.add(line);
  return [...failed].map(([object, at]) => ({ object, at, lines: nearest(collector.of(object), at) }));
}

function nearest(lines: readonly ObjectLine[], at: number | undefined): ObjectLine[] {
  const near =
    at === undefined ? [...lines].reverse() : [...lines].sort((a, b) => Math.abs(a.to - at) - Math.abs(b.to - at));
  return near.slice(0, MOST_LINES).sort((a, b) => a.to - b.to);
}

class Collector {
  readonly #objects: ReadonlySet<string>;
  readonly #lines = new Map<string, ObjectLine[]>();
  readonly #streams = new Map<number, { readonly ns: string; readonly who: string }>();
  /** By object, version and digest: a body is told once. */
  readonly #bodies = new Map<string, Body>();

  constructor(objects: ReadonlySet<string>) {
    this.#objects = objects;
  }

  of(object: string): readonly ObjectLine[] {
    return this.#lines.get(object) ?? [];
  }

  add(line: Line): void {
    if (line.t === 'watch') {
      const { stream, ns, watcher, selector } = line;
      this.#streams.set(stream, { ns, who: `watcher ${watcher}${selector === '' ? '' : ` (${selector})`}` });
    } else if (line.t === 'ev') {
      this.#event(line);
    } else if (line.t === 'op') {
      this.#operation(line);
    }
  }

  #event({ stream, type, at, seen }: EventLine): void {
    const { ns, who } = this.#streams.get(stream) ?? { ns: '', who: `stream ${stream}` };
    const object = keyOf(ns, seen[0]);
    if (!this.#objects.has(object)) return;
    const about = { from: at, to: at, who, what: EVENTS[type], answer: '', operation: undefined };
    this.#push(object, { ...about, rv: seen[1], body: this.#bodyOf(object, seen) });
  }

  #operation(op: OperationLine): void {
    const about = { from: op.start, to: op.end, who: `client ${op.client}`, what: whatOf(op), answer: answerOf(op), operation: op.id }; // prettier-ignore
    if (op.verb !== 'list') {
      const object = keyOf(op.ns, op.name);
      const [seen] = op.seen ?? [];
      if (this.#objects.has(object)) this.#push(object, { ...about, rv: seen?.[1], body: this.#bodyOf(object, seen) });
      return;
    }
    for (const seen of op.seen ?? []) {
      const object = keyOf(op.ns, seen[0]);
      if (this.#objects.has(object)) this.#push(object, { ...about, rv: seen[1], body: this.#bodyOf(object, seen) });
    }
  }

  #bodyOf(object: string, seen: Seen | undefined): Body | undefined {
    if (seen === undefined) return undefined;
    const [, rv, digest, body] = seen;
    const key = `${object} ${rv} ${digest}`;
    if (body !== undefined) this.#bodies.set(key, body);
    return this.#bodies.get(key);
  }

  #push(object: string, line: ObjectLine): void {
    const lines = this.#lines.get(object);
    if (lines === undefined) this.#lines.set(object, [line]);
    else lines.push(line);
  }
}

const EVENTS = { A: 'ADDED', M: 'MODIFIED', D: 'DELETED', B: 'BOOKMARK' } as const;

const answerOf = ({ code, reason = '' }: OperationLine): string =>
  code === 0 ? `no answer: ${reason}` : `${code} ${reason}`.trim();

function whatOf({ verb, sent, ifRv, ifUid, read, selector = '', rv }: OperationLine): string {
  const parts = [
    verb,
    read === undefined ? '' : read,
    selector,
    rv === undefined ? '' : `of version ${rv}`,
    ifRv === undefined ? '' : `if version ${ifRv}`,
    ifUid === undefined ? '' : `if uid ${ifUid}`,
    sent === undefined ? '' : JSON.stringify(sent),
  ];
  return parts.filter((part) => part !== '').join(' ');
}
