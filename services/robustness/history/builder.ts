import {
  keyOf,
  outcomeOf,
  type Clash,
  type History,
  type Item,
  type Operation,
  type Session,
  type State,
  type WatchEvent,
} from './history.js';
import type {
  Body,
  CutLine,
  EventLine,
  FaultLine,
  FinalLine,
  Line,
  OperationLine,
  Pool,
  RunLine,
  Seen,
  TurnLine,
  WatchLine,
} from './lines.js';

/** How many clashes are kept: one is enough to fail. */
const MOST_CLASHES = 1_000;

/** Puts the lines of a run together. What is the same is kept once: a million operations fit into memory. */
export class HistoryBuilder {
  #run: RunLine | undefined;
  readonly #pools = new Map<string, Pool>();
  readonly #operations: Operation[] = [];
  readonly #items = new Map<string, Item>();
  readonly #states = new Map<Item, Map<number, State>>();
  /** What watchers by label were told to be gone. */
  readonly #bodies = new Map<Item, Map<string, Body>>();
  readonly #sessions: Session[] = [];
  readonly #sessionOf = new Map<number, Session>();
  readonly #sessionOfWatcher = new Map<number, Session>();
  readonly #cuts: CutLine[] = [];
  readonly #turns: TurnLine[] = [];
  readonly #faults: FaultLine[] = [];
  readonly #finals: FinalLine[] = [];
  readonly #clashes: Clash[] = [];
  readonly #words = new Map<string, string>();
  readonly #take: { readonly [T in Line['t']]: (line: Line & { t: T }) => void } = {
    run: (line) => this.#begin(line),
    op: (line) => this.#operation(line),
    watch: (line) => this.#stream(line),
    ev: (line) => this.#event(line),
    cut: (line) => void this.#cuts.push(line),
    turn: (line) => void this.#turns.push(line),
    fault: (line) => void this.#faults.push(line),
    final: (line) => void this.#finals.push(line),
  };

  /** Lines of sorts that are not known are of a later release, and are left out. */
  add(line: Line): void {
    if (Object.hasOwn(this.#take, line.t)) (this.#take[line.t] as (line: Line) => void)(line);
  }

  /** @throws {Error} When no line tells of the run. */
  finish(): History {
    if (this.#run === undefined) throw new Error('The history does not begin with the line of a run');
    const changes = new Map<string, State[]>();
    for (const item of this.#items.values()) {
      item.states = [...(this.#states.get(item)?.values() ?? [])].sort((a, b) => a.rv - b.rv);
      explain(item);
      const all = changes.get(item.ns) ?? [];
      changes.set(item.ns, all);
      for (const state of item.states) all.push(state);
    }
    for (const all of changes.values()) all.sort((a, b) => a.rv - b.rv);
    return {
      run: this.#run,
      operations: this.#operations,
      items: this.#items,
      sessions: this.#sessions,
      cuts: this.#cuts,
      turns: this.#turns,
      faults: this.#faults,
      finals: this.#finals,
      clashes: this.#clashes,
      changesOf: (ns) => changes.get(ns) ?? [],
      poolOf: (ns) => this.#pools.get(ns),
    };
  }

  #begin(line: RunLine): void {
    this.#run = line;
    for (const [ns, pool] of Object.entries(line.pools)) this.#pools.set(ns, pool);
  }

  #operation({ seen = [], ...line }: OperationLine): void {
    const ns = this.#word(line.ns);
    const states = seen.map((it) => this.#state(this.#item(ns, it[0]), it, line.end, false));
    const op: Operation = { ...line, ns, name: this.#word(line.name), verb: line.verb, states };
    this.#operations.push(op);
    if (op.verb === 'list') return;
    const item = this.#item(ns, op.name);
    const isDone = outcomeOf(op) === 'done';
    const isWrite = op.verb !== 'get';
    const [made] = states;
    if (isWrite && isDone && made !== undefined && op.verb !== 'delete') made.by ??= op;
    (isWrite && outcomeOf(op) !== 'refused' ? item.writes : item.others).push(op);
  }

  #stream(line: WatchLine): void {
    const running = this.#sessionOfWatcher.get(line.watcher);
    const { watcher, ns, selector, from } = line;
    const goesOn = running !== undefined && line.list === undefined;
    const session = goesOn ? running : { watcher, ns: this.#word(ns), selector, from, streams: [], events: [] };
    if (!goesOn) this.#sessions.push(session);
    session.streams.push({ from, first: session.events.length });
    this.#sessionOfWatcher.set(watcher, session);
    this.#sessionOf.set(line.stream, session);
  }

  #event({ stream, type, at, seen }: EventLine): void {
    const session = this.#sessionOf.get(stream);
    if (session === undefined) return;
    const [name, rv, digest] = seen;
    const event: WatchEvent = { type: this.#word(type) as EventLine['type'], rv, at, name: this.#word(name), digest };
    session.events.push(event);
    if (type === 'B') return;
    const isGone = type === 'D';
    const item = this.#item(session.ns, event.name);
    if (isGone && session.selector !== '') this.#mayBeGone(item, seen);
    else this.#state(item, seen, at, isGone);
  }

  /** It may be there still, and no longer match. Others who saw its end may rely on the body that is told here. */
  #mayBeGone(item: Item, [, rv, digest, body]: Seen): void {
    if (body === undefined) return;
    const known = this.#states.get(item)?.get(rv);
    if (known === undefined)
      this.#bodies.set(item, (this.#bodies.get(item) ?? new Map<string, Body>()).set(`${rv} ${digest}`, body)); // prettier-ignore
    else if (known.digest === digest) known.body ??= body;
  }

  #item(ns: string, name: string): Item {
    const key = keyOf(ns, name);
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const item: Item = { ns, name, states: [], writes: [], others: [], unknown: { seen: [], unseen: [] } };
    this.#items.set(key, item);
    this.#states.set(item, new Map());
    return item;
  }

  #state(item: Item, [, rv, digest, body]: Seen, at: number, gone: boolean): State {
    const states = this.#states.get(item) ?? new Map<number, State>();
    const known = states.get(rv);
    if (known === undefined) {
      const told = body ?? this.#bodies.get(item)?.get(`${rv} ${digest}`);
      const state: State = { item, rv, digest: this.#word(digest), body: told, gone, knownAt: at, by: undefined };
      states.set(rv, state);
      return state;
    }
    if (known.digest !== digest || known.gone !== gone) this.#clash({ item, rv, at });
    known.knownAt = Math.min(known.knownAt, at);
    if (known.digest === digest) known.body ??= body;
    return known;
  }

  #clash(clash: Clash): void {
    if (this.#clashes.length < MOST_CLASHES) this.#clashes.push(clash);
  }

  /** The one string that is kept of those that are equal. */
  #word(text: string): string {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    this.#words.set(text, text);
    return text;
  }
}

/** Finds, for states that no answered write made, the unanswered one by what it has written. */
function explain(item: Item): void {
  const waiting = new Map<string, Operation>();
  for (const op of item.writes) {
    if (outcomeOf(op) !== 'unknown' || op.verb === 'delete') continue;
    if (op.token !== undefined) waiting.set(op.token, op);
  }
  const seen = new Set<Operation>();
  for (const state of item.states) {
    for (const token of Object.values(state.body?.data ?? {})) {
      const op = waiting.get(token);
      if (op === undefined || seen.has(op)) continue;
      seen.add(op);
      state.by ??= op;
    }
  }
  const lives = new Set(item.states.filter(({ gone }) => gone).map(({ body }) => body?.uid));
  for (const op of item.writes) {
    if (outcomeOf(op) !== 'unknown') continue;
    if (op.verb === 'delete' && op.ifUid !== undefined && lives.has(op.ifUid)) seen.add(op);
    (seen.has(op) ? item.unknown.seen : item.unknown.unseen).push(op);
  }
}
