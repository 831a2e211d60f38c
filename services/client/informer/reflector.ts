import { backoffMs } from '../../machinery/loop/backoff.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { Log } from '../../machinery/log/log.js';
import { firstOf } from '../deadline/deadline.js';
import { ApiError, isApiError, type ResourceClient, type WatchEvent, type WatchOptions } from '../rest/client.js';
import type { AnyObject, Live } from '../rest/resource-type.js';
import type { Selection } from './informer.js';

/** Takes what a reflector brings. */
export interface Sink<T extends AnyObject> {
  /** All that there is comes with `put` from now on, up to `end`: what does not come is gone. */
  begin(): void;
  put(object: Live<T>): void;
  remove(last: Live<T>): void;
  end(): void;
}

/** What is known of the server, by all reflectors of a process. */
export interface Server {
  /** Whether watches may begin with the state; false once one was refused. */
  streamsState: boolean;
}

export interface ReflectorOptions<T extends AnyObject> {
  readonly client: Pick<ResourceClient<T>, 'type' | 'pages' | 'watch'>;
  readonly selection: Selection;
  readonly sink: Sink<T>;
  readonly server: Server;
  readonly log: Log;
  /** @default 100 ms to 30 s */
  readonly retry?: { readonly leastMs: number; readonly mostMs: number };
}

const RETRY = { leastMs: 100, mostMs: 30_000 };
/** Servers send bookmarks about once a minute. A watch that gives nothing for so long is dead. */
const SILENT_MS = 4 * 60_000;
const MOST_TIMES_AHEAD = 3;
/** Any state that the server has at hand. */
const ANY = '0';
/** The newest state there is. */
const NEWEST = '';

/** A watch gave nothing, not even bookmarks: the server is dead, or waits for a version that never comes. */
class Silent extends Error {}

/** Follows the objects of a resource into a sink: all that there is, then each change, for as long as it runs. */
export class Reflector<T extends AnyObject> {
  readonly #o: ReflectorOptions<T>;
  /** Where a watch goes on; undefined: everything has to come once more. */
  #resumeAt: string | undefined;
  /** How old the state may be that comes once more: no older than what was seen. */
  #atLeast = ANY;
  #hasMoved = false;
  /** How often in a row the server had not seen yet where to go on. */
  #timesAhead = 0;

  constructor(o: ReflectorOptions<T>) {
    this.#o = o;
  }

  /** Resolves when `signal` fires. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!hasFired(signal)) {
      try {
        await this.#follow(signal);
      } catch (err) {
        if (hasFired(signal)) return;
        this.#failed(err);
      }
      failures = this.#moved() ? 0 : failures + 1;
      await rest(backoffMs(failures, this.#o.retry ?? RETRY), signal);
    }
  }

  /** Whether anything came since the last call. */
  #moved(): boolean {
    const hasMoved = this.#hasMoved;
    this.#hasMoved = false;
    return hasMoved;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#resumeAt === undefined && !this.#o.server.streamsState) await this.#list(signal);
    if (this.#resumeAt === undefined) await this.#stream(signal);
    else await this.#watch({ resourceVersion: this.#resumeAt }, (event) => this.#take(event), signal);
  }

  #failed(err: unknown): void {
    const { resource } = this.#o.client.type;
    if (!isGone(err) && !isAhead(err) && !(err instanceof Silent)) {
      this.#o.log.warn('Informer was interrupted, and tries again', { resource, err });
      return;
    }
    // A server that lags behind catches up; one whose store was put back does not.
    if (isAhead(err) && this.#resumeAt !== undefined && ++this.#timesAhead < MOST_TIMES_AHEAD) return;
    if (!isGone(err) || this.#resumeAt === undefined) this.#atLeast = NEWEST;
    this.#resumeAt = undefined;
    this.#o.log.info('Informer begins anew', { resource });
  }

  /** All that there is, in pages. */
  async #list(signal: AbortSignal): Promise<void> {
    const { client, selection, sink } = this.#o;
    sink.begin();
    let version = '';
    const state = { ...selection, ...this.#state };
    try {
      for await (const page of client.pages(state, signal)) {
        for (const object of page.items) sink.put(object);
        version = page.resourceVersion;
      }
    } catch (err) {
      if (!isGone(err) || version === '') throw err;
      for await (const page of client.pages({ ...selection, limit: 0 }, signal)) {
        sink.begin(); // of one page
        for (const object of page.items) sink.put(object);
        version = page.resourceVersion;
      }
    }
    sink.end();
    this.#seen(version);
  }

  /** All that there is as events, and the changes that follow. */
  async #stream(signal: AbortSignal): Promise<void> {
    const { sink, server } = this.#o;
    sink.begin();
    const take = (event: WatchEvent<Live<T>>): void => {
      if (this.#resumeAt !== undefined) this.#take(event);
      else if (event.type === 'DELETED') sink.remove(event.object);
      else if (event.type !== 'BOOKMARK') sink.put(event.object);
      else if (event.isInitialEnd) {
        sink.end();
        this.#seen(event.resourceVersion);
      }
    };
    const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
    try {
      await this.#watch({ ...this.#state, ...initial }, take, signal);
    } catch (err) {
      // Servers that do not know this refuse it, each in its way.
      if (!(err instanceof ApiError) || ![400, 422].includes(err.code)) throw err;
      server.streamsState = false;
      this.#hasMoved = true;
    }
  }

  get #state(): Pick<WatchOptions, 'resourceVersion' | 'resourceVersionMatch'> {
    if (this.#atLeast === NEWEST) return {};
    return { resourceVersion: this.#atLeast, resourceVersionMatch: 'NotOlderThan' };
  }

  async #watch(o: WatchOptions, take: (event: WatchEvent<Live<T>>) => void, signal: AbortSignal): Promise<void> {
    const { client, selection } = this.#o;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Silent('A watch gave nothing for minutes')), SILENT_MS);
    const either = firstOf(signal, silence.signal);
    try {
      for await (const event of client.watch({ ...selection, ...o, allowWatchBookmarks: true }, either.signal)) {
        timer.refresh();
        this.#hasMoved = true;
        take(event);
      }
    } finally {
      either.end();
      clearTimeout(timer);
    }
  }

  #take(event: WatchEvent<Live<T>>): void {
    const { sink } = this.#o;
    if (event.type === 'DELETED') sink.remove(event.object);
    else if (event.type !== 'BOOKMARK') sink.put(event.object);
    this.#seen(event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion);
  }

  #seen(version: string): void {
    this.#timesAhead = 0;
    this.#resumeAt = version;
    this.#atLeast = version;
  }
}

const GONE = 410;
const isGone = (err: unknown): boolean => err instanceof ApiError && err.code === GONE;

/** The server has not seen yet what was asked for: it lags behind another one, or its store was put back. */
const isAhead = (err: unknown): boolean =>
  isApiError(err) && (err.status?.details?.causes ?? []).some(({ reason }) => reason === 'ResourceVersionTooLarge');
