import { changed, digestOf } from '../history/body.js';
import type { Body, EventType, Line, OperationLine, Pool, Seen, Sent, WriteVerb } from '../history/lines.js';
import { matches } from '../history/matches.js';
import { randomOf, type Random } from '../random/random.js';

export interface Generate {
  readonly seed: number;
  readonly operations: number;
  /** How many of a hundred operations get no answer; half of them are done all the same. */
  readonly unanswered?: number;
}

interface Kept {
  readonly rv: number;
  readonly body: Body;
}

interface Change extends Kept {
  readonly ns: string;
  readonly name: string;
  readonly before: Body | undefined;
  readonly gone: boolean;
  readonly at: number;
}

export const POOLS: Readonly<Record<string, Pool>> = { a: 'main', q: 'quota', f: 'family', l: 'fence' };
export const QUOTA = 4;
const NAMES = 12;
const COLORS = ['red', 'green', 'blue'];
const CLIENTS = 5;
const SELECTORS = ['', '', 'color=red', 'color!=blue'];
const DELAY_MS = 5;

/** The lines of a run on a server without a fault, which is a map and a number here. */
export function generate(o: Generate): Line[] {
  return new Generator(o).lines();
}

class Generator {
  readonly #random: Random;
  readonly #o: Generate;
  #rv = 10;
  #now = 1;
  #tokens = 0;
  readonly #store = new Map<string, Kept>();
  readonly #changes: Change[] = [];
  readonly #lines: { readonly at: number; readonly line: Line }[] = [];
  /** What each client has seen of each object. */
  readonly #memory = new Map<string, Kept>();
  /** When each client is free again. */
  readonly #free = new Map<number, number>();
  #id = 0;

  constructor(o: Generate) {
    this.#o = o;
    this.#random = randomOf(o.seed);
  }

  lines(): Line[] {
    const lists = SELECTORS.map((selector, i) => this.#list(100 + i, 'a', selector));
    for (let i = 0; i < this.#o.operations; i++) this.#step();
    SELECTORS.forEach((selector, i) => this.#watch(i, selector, lists[i] as OperationLine));
    this.#turns();
    this.#family();
    const run: Line = {
      t: 'run',
      version: 1,
      seed: this.#o.seed,
      options: { servers: '3' },
      pools: POOLS,
      quota: QUOTA,
    };
    const fault: Line = { t: 'fault', name: 'kill-server', hits: [0], from: 1, to: this.#now };
    this.#lines.sort((a, b) => a.at - b.at);
    return [run, ...this.#lines.map(({ line }) => line), fault];
  }

  #step(): void {
    this.#now += this.#random.next();
    const client = this.#random.below(CLIENTS);
    if ((this.#free.get(client) ?? 0) > this.#now) return;
    const ns = this.#random.weighted({ a: 8, q: 2, l: 1 });
    const read = this.#random.next();
    if (read < 0.2) this.#list(client, ns, this.#random.pick(SELECTORS));
    else if (read < 0.4) this.#get(client, ns, this.#name());
    else this.#write(client, ns, this.#name());
  }

  #name(): string {
    return `o${this.#random.below(NAMES)}`;
  }

  /** Its time: it takes effect now. */
  #times(client: number): { id: number; client: number; start: number; end: number } {
    const start = Math.max(this.#now - this.#random.next() * DELAY_MS, this.#free.get(client) ?? 0); // not after now
    const end = this.#now + this.#random.next() * DELAY_MS;
    this.#free.set(client, end);
    return { id: this.#id++, client, start, end };
  }

  #emit(line: OperationLine): OperationLine {
    this.#lines.push({ at: line.end, line });
    return line;
  }

  #seen(client: number, ns: string, name: string, { rv, body }: Kept): Seen {
    this.#memory.set(`${client} ${ns}/${name}`, { rv, body });
    return [name, rv, digestOf(body), body];
  }

  #list(client: number, ns: string, selector: string): OperationLine {
    const seen = [...this.#store]
      .filter(([key, { body }]) => key.startsWith(`${ns}/`) && matches(selector, body.labels))
      .map(([key, kept]) => this.#seen(client, ns, key.slice(ns.length + 1), kept));
    const what = { ns, name: '', selector, code: 200, read: 'newest', rv: this.#rv, seen } as const;
    return this.#emit({ t: 'op', verb: 'list', ...this.#times(client), ...what });
  }

  #get(client: number, ns: string, name: string): void {
    const kept = this.#store.get(`${ns}/${name}`);
    const found = kept === undefined ? { code: 404 } : { code: 200, seen: [this.#seen(client, ns, name, kept)] };
    this.#emit({ t: 'op', verb: 'get', ...this.#times(client), ns, name, read: 'newest', ...found });
  }

  #write(client: number, ns: string, name: string): void {
    const times = this.#times(client);
    const known = this.#memory.get(`${client} ${ns}/${name}`);
    const verb: WriteVerb = ns === 'l' ? 'apply' : this.#random.pick(['create', 'update', 'patch', 'apply', 'delete']);
    if (verb === 'update' && known === undefined) return;
    const conditions = this.#conditions(verb, known);
    const sent = verb === 'delete' ? undefined : this.#sent(verb, ns, known?.body);
    const about = {
      t: 'op',
      verb,
      ...times,
      ns,
      name,
      ...conditions,
      ...(sent !== undefined && { sent, token: `t${this.#tokens}` }),
    } as const;
    const isUnanswered = this.#random.below(100) < (this.#o.unanswered ?? 0);
    if (isUnanswered && this.#random.below(2) === 0) {
      this.#emit({ ...about, code: 0 });
      return;
    }
    const code = this.#do(about, ns, name);
    const kept = this.#store.get(`${ns}/${name}`);
    const seen = code < 300 && kept !== undefined && verb !== 'delete' && !isUnanswered;
    const answer = seen ? { seen: [this.#seen(client, ns, name, kept)] } : {};
    this.#emit({ ...about, code: isUnanswered ? 0 : code, ...answer });
  }

  #conditions(verb: WriteVerb, known: Kept | undefined): { ifRv?: number; ifUid?: string } {
    if (known === undefined || (verb !== 'update' && verb !== 'delete')) return {};
    if (verb === 'update') return { ifRv: known.rv };
    const how = this.#random.below(3);
    if (how === 0) return {};
    return how === 1 ? { ifUid: known.body.uid } : { ifUid: known.body.uid, ifRv: known.rv };
  }

  #sent(verb: WriteVerb, ns: string, known: Body | undefined): Sent {
    const token = `t${++this.#tokens}`;
    const labels = { color: this.#random.pick(COLORS) };
    if (ns === 'l') return { data: { a: token, transitions: String(this.#rv) } };
    if (verb === 'create') return { labels, data: { v: token } };
    if (verb === 'update') return { labels, data: { ...known?.data, v: token } };
    return verb === 'patch' ? { labels, data: { p: token } } : { data: { a: token } };
  }

  /** @returns The status. */
  #do(op: Pick<OperationLine, 'verb' | 'sent' | 'ifRv' | 'ifUid'>, ns: string, name: string): number {
    const key = `${ns}/${name}`;
    const kept = this.#store.get(key);
    if (kept === undefined && !['create', 'apply'].includes(op.verb)) return 404;
    if (kept !== undefined && op.verb === 'create') return 409;
    if (op.ifRv !== undefined && op.ifRv !== kept?.rv) return 409;
    if (op.ifUid !== undefined && op.ifUid !== kept?.body.uid) return 409;
    const count = [...this.#store.keys()].filter((it) => it.startsWith('q/')).length;
    if (kept === undefined && ns === 'q' && count >= QUOTA) return 403;
    const rv = ++this.#rv;
    const about = { ns, name, rv, before: kept?.body, at: this.#now };
    if (op.verb === 'delete' && kept !== undefined) {
      this.#store.delete(key);
      this.#changes.push({ ...about, body: kept.body, gone: true });
      return 200;
    }
    const isWhole = op.verb === 'create' || op.verb === 'update';
    const made = changed(kept?.body, op.sent ?? {}, isWhole ? 'whole' : 'merge');
    const body = { uid: kept?.body.uid ?? `uid-${rv}`, ...made };
    this.#store.set(key, { rv, body });
    this.#changes.push({ ...about, body, gone: false });
    return 200;
  }

  /** One that is cut now and then, and goes on where it was. */
  #watch(watcher: number, selector: string, list: OperationLine): void {
    let from = list.rv ?? 0;
    let stream = watcher * 1000;
    let at = list.end;
    const about = { t: 'watch', watcher, ns: 'a', selector } as const;
    this.#lines.push({ at: list.end, line: { ...about, stream, from, list: list.id, at: list.end } });
    for (const change of this.#changes.filter(({ ns, rv }) => ns === 'a' && rv > from)) {
      at = Math.max(at, change.at + this.#random.next());
      const type = typeOf(change, selector);
      if (type === undefined) continue;
      const chance = this.#random.below(20);
      if (chance === 0) {
        this.#lines.push({ at, line: { t: 'cut', stream, at, why: 'reset' } });
        this.#lines.push({ at, line: { ...about, stream: ++stream, from, at } });
      }
      if (chance === 1)
        this.#lines.push({ at, line: { t: 'ev', stream, type: 'B', at, seen: ['', change.rv - 1, ''] } });
      const shown = type === 'D' ? (change.before ?? change.body) : change.body;
      const seen: Seen = [change.name, change.rv, digestOf(shown), shown];
      this.#lines.push({ at, line: { t: 'ev', stream, type, at, seen } });
      from = change.rv;
    }
  }

  #turns(): void {
    for (let i = 0; i < 6; i++) {
      const [from, to] = [(i * this.#now) / 6, ((i + 0.9) * this.#now) / 6];
      const line = { t: 'turn', lease: 'l', holder: `h${i % 2}`, transitions: i, from, to } as const;
      this.#lines.push({ at: to, line });
    }
  }

  #family(): void {
    const items = [{ name: 'p', uid: 'u1' }, { name: 'c', uid: 'u2', owner: 'u1' }]; // prettier-ignore
    this.#lines.push({ at: this.#now + 10, line: { t: 'final', ns: 'f', items } });
  }
}

function typeOf({ before, body, gone }: Change, selector: string): EventType | undefined {
  const was = before !== undefined && matches(selector, before.labels);
  const is = !gone && matches(selector, body.labels);
  if (is) return was ? 'M' : 'A';
  return was ? 'D' : undefined;
}
