import type { AuditBackend, OnLost, Sink } from './backend.js';

export interface BlockingOptions {
  /** Requests whose event cannot be written must not go on. */
  readonly strict: boolean;
  /** Most events in one write. */
  readonly maxEvents: number;
  /** Longest that `close` waits for what is under way. */
  readonly closeMs: number;
  readonly onLost: OnLost;
}

/** Requests wait for their events. */
export interface BlockingBackend extends AuditBackend {
  emit(event: string): Promise<boolean>;
}

/** Events that are written together, and the requests that wait for that. */
interface Group {
  readonly events: string[];
  readonly written: Promise<boolean>;
  readonly settle: (written: boolean) => void;
}

/**
 * Each request waits until its events are written. While a write is under way, what comes in is gathered for the next
 * one, so that many requests share the price of one. How much waits is bounded by how many requests there are.
 */
export function blocking(sink: Sink, o: BlockingOptions): BlockingBackend {
  const over = new AbortController();
  let gathering: Group | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  const write = async ({ events, settle }: Group): Promise<void> => {
    let lost = 0;
    for (let at = 0; at < events.length; at += o.maxEvents) {
      const some = events.slice(at, at + o.maxEvents);
      try {
        await sink.write(some, over.signal);
      } catch (err) {
        lost += some.length;
        o.onLost(sink.name, some.length, err);
      }
    }
    settle(lost === 0 || !o.strict);
  };
  const run = async (): Promise<void> => {
    await new Promise(setImmediate); // requests that came in together are written together
    for (let next = gathering; next !== undefined; next = gathering) {
      gathering = undefined;
      await write(next);
    }
    running = undefined;
  };

  return {
    emit: (event) => {
      if (closed) {
        o.onLost(sink.name, 1, new Error('The server is stopping'));
        return Promise.resolve(!o.strict);
      }
      gathering ??= group();
      gathering.events.push(event);
      running ??= run();
      return gathering.written;
    },
    close: async () => {
      const limit = setTimeout(() => over.abort(new Error('The server is stopping')), o.closeMs);
      while (running !== undefined) await running; // events that still come are written, too
      closed = true;
      clearTimeout(limit);
      await sink.close();
    },
  };
}

function group(): Group {
  let settle: Group['settle'] = () => undefined;
  const written = new Promise<boolean>((resolve) => (settle = resolve));
  return { events: [], written, settle };
}
