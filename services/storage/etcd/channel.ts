import { StoreError } from '../store.js';
import { readTls, type Endpoint, type TlsFiles } from './endpoints.js';
import { closedError, messageOf, unavailable } from './errors.js';
import type { StoreLog } from './log.js';
import { openSession, type Session, type SessionTimes } from './session.js';

/** So long an attempt that failed answers for those that come after it: a store that is away is not hammered. */
const FAILURE_HOLDS_MS = 50;

export interface ChannelOptions {
  readonly endpoints: readonly Endpoint[];
  readonly tls: TlsFiles;
  readonly times: SessionTimes;
  readonly log: StoreLog;
}

/**
 * One connection at a time, to whichever of several endpoints serves. A connection that ends or is retired is replaced
 * when the next call needs one, beginning with the endpoint after it.
 */
export class Channel {
  readonly endpoints: readonly Endpoint[];
  readonly #o: ChannelOptions;
  readonly #closing = new AbortController();
  /** All that are not yet closed, the retired ones included. */
  readonly #sessions = new Set<Session>();
  #current: Session | undefined;
  #connecting: Promise<Session> | undefined;
  #next = 0;

  constructor(o: ChannelOptions) {
    this.#o = o;
    this.endpoints = o.endpoints;
  }

  /** The connection in use, if there is one. */
  get ready(): Session | undefined {
    return this.#current?.usable === true ? this.#current : undefined;
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * The connection in use, or a new one: every endpoint is tried once. Callers that come meanwhile share the attempt.
   * @throws {StoreError} `unavailable` when no endpoint can be reached; `closed`
   */
  connect(): Promise<Session> {
    if (this.closed) return Promise.reject(closedError());
    if (this.ready !== undefined) return Promise.resolve(this.ready);
    if (this.#connecting === undefined) {
      const over = (): void => void (this.#connecting = undefined);
      this.#connecting = this.#tryAll();
      this.#connecting.then(over, () => setTimeout(over, FAILURE_HOLDS_MS).unref());
    }
    return this.#connecting;
  }

  /** Turns away from a connection that does not serve. Calls under way on it may finish. */
  retire(session: Session, reason: string): void {
    if (this.#drop(session)) this.#o.log.warn('Store connection left', { endpoint: session.endpoint.url, reason });
    session.retire();
  }

  close(): void {
    this.#closing.abort();
    this.#current = undefined;
    for (const session of this.#sessions) session.destroy(closedError());
    this.#sessions.clear();
  }

  async #tryAll(): Promise<Session> {
    if (this.#current !== undefined) this.#drop(this.#current);
    const failures: string[] = [];
    for (let i = 0; i < this.endpoints.length; i++) {
      const endpoint = this.endpoints[this.#next % this.endpoints.length];
      if (endpoint === undefined) break;
      try {
        const session = await this.#try(endpoint);
        this.#current = session;
        return session;
      } catch (err) {
        if (this.closed) throw closedError();
        failures.push(`${endpoint.url}: ${messageOf(err)}`);
        this.#next++;
      }
    }
    throw new StoreError('unavailable', `Cannot reach the store: ${failures.join('; ')}`);
  }

  async #try(endpoint: Endpoint): Promise<Session> {
    const { times } = this.#o;
    const tls = endpoint.secure ? await readTls(this.#o.tls) : {};
    const events = {
      ended: (it: Session): void => this.#ended(it),
      closed: (it: Session): void => void this.#sessions.delete(it),
    };
    const session = await openSession({ endpoint, tls, times, events }, this.#closing.signal);
    if (this.closed || session.ended !== undefined) {
      session.destroy(closedError());
      throw session.ended ?? unavailable('the connection was closed');
    }
    this.#sessions.add(session);
    return session;
  }

  #ended(session: Session): void {
    if (!this.#drop(session) || this.closed) return;
    this.#o.log.warn('Store connection lost', {
      endpoint: session.endpoint.url,
      reason: messageOf(session.ended),
    });
  }

  /** Whether it was the one in use. */
  #drop(session: Session): boolean {
    if (this.#current !== session) return false;
    this.#current = undefined;
    this.#next++;
    return true;
  }
}
