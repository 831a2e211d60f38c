import type { OutgoingHttpHeaders } from 'node:http';
import { backoffMs } from '../../machinery/loop/backoff.js';
import { rest } from '../../machinery/loop/repeat.js';
import type { Credential, Credentials } from '../credentials/credential.js';
import { CredentialError } from '../credentials/credential.js';
import { deadline, firstOf, unlessAborted, type Deadline } from '../deadline/deadline.js';
import type { ServerTrust } from '../kubeconfig/connection.js';
import { ClientConfigError } from '../kubeconfig/member.js';
import { RateLimit } from '../queue/rate-limit.js';
import { Agents } from '../remote/agents.js';
import { retryAfterMs } from '../remote/answer.js';
import { openExchange, readWhole, shown, type Exchange, type Exchanged, type Opened } from '../remote/exchange.js';
import type { Liveness } from '../remote/http2-sessions.js';
import { RemoteError } from '../remote/remote-service.js';
import { Servers } from './servers.js';

export interface TransportOptions {
  /** https addresses of the same server, in the order of preference. */
  readonly servers: readonly URL[];
  readonly trust: ServerTrust;
  /** Closed with the client. */
  readonly credentials: Credentials;
  /** Headers by which another user is impersonated. */
  readonly impersonation?: Readonly<Record<string, string | readonly string[]>>;
  readonly userAgent: string;
  /** Requests a second, on average. Infinity: as many as there are. @default 50 */
  readonly qps?: number;
  /** Requests at once. @default 100 */
  readonly burst?: number;
  /** Longest time of a request with its repetitions, and of the beginning of a watch. @default 60 000 */
  readonly timeoutMs?: number;
  /** @default By whether there are other addresses to be asked instead. */
  readonly patience?: Patience;
  /** Told of each request that was sent, also of those that are repeated. */
  readonly observe?: (request: SentRequest) => void;
}

export interface SentRequest {
  readonly method: string;
  /** With the port. */
  readonly host: string;
  /** Of the answer; undefined: none came. */
  readonly status: number | undefined;
  /** Until the answer began, or none was waited for any more. */
  readonly seconds: number;
}

/**
 * How long an address may let a client wait, before it asks another one. On a connection that is not answered to in time
 * everything fails: reads and watches go on elsewhere, of writes nobody knows whether they were done.
 */
export interface Patience {
  /** Until a new connection stands, TLS included. */
  readonly connectMs: number;
  /** Until a read is answered, where it can be asked elsewhere. */
  readonly answerMs: number;
  /** Of HTTP/2: kept connections are asked whether they live. */
  readonly alive: Liveness;
}

/** A request, to whichever address. */
export interface ApiRequest {
  readonly method: Exchange['method'];
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

const QPS = 50;
const BURST = 100;
const TIMEOUT_MS = 60_000;
/** With one address, which may be that of a load balancer: another connection may lead to another server. */
const PATIENT: Patience = { connectMs: 10_000, answerMs: Infinity, alive: { everyMs: 5_000, withinMs: 5_000 } };
/** A server that hangs is left within 2 s; one that is slow to answer with everything it has is not. */
const HASTY: Patience = { connectMs: 1_500, answerMs: 5_000, alive: { everyMs: 750, withinMs: 1_000 } };
/** A page has 500 objects of 3 MB at most; none comes near. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** HTTP/1.1 needs a connection for each watch. */
const MAX_SOCKETS = 1_024;
/** Most times that a request is repeated because the server said so. */
const MOST_RETRIES = 10;
/** Most times that it is sent where no connection stands, for each address. */
const TRIES = 2;
const PAUSE = { leastMs: 50, mostMs: 1_000 };
const UNAUTHORIZED = 401;

/** Answers after which a request is sent again when they say when. Other errors may have come after the work was done. */
const NOT_DONE = new Set([429, 503]);

/** Requests to a server that may have several addresses: with credentials, at a rate, again when that is safe. */
export class Transport {
  readonly #o: TransportOptions;
  readonly #agents: Agents;
  readonly #servers: Servers;
  readonly #patience: Patience;
  readonly #rate: RateLimit;
  readonly #closed = new AbortController();

  constructor(o: TransportOptions) {
    const wrong = o.servers.find(({ protocol }) => protocol !== 'https:');
    if (wrong !== undefined) throw new Error(`The address of the server must be an https URL, not ${wrong.origin}`);
    this.#o = o;
    this.#servers = new Servers(o.servers);
    this.#patience = o.patience ?? (this.#hasOthers ? HASTY : PATIENT);
    this.#agents = new Agents(o.trust, { maxSockets: MAX_SOCKETS, forStreams: this.#patience.alive });
    this.#rate = new RateLimit(o.qps ?? QPS, o.burst ?? BURST);
  }

  /** The whole answer, whatever it is. @throws {RemoteError} @throws `signal.reason` */
  async send(request: ApiRequest, signal: AbortSignal): Promise<Exchanged> {
    const limit = this.#limit(request, signal);
    const whole: Ask<Exchanged> = async (e, opened) => wholeOf(e, opened, limit.signal);
    try {
      return await this.#repeat(request, whole, limit.signal);
    } finally {
      limit.end();
    }
  }

  /**
   * An answer that goes on until `signal` fires or the client is closed; all of it when it says that it is an error.
   *
   * @returns `end` is called when it has been read.
   */
  async open(request: ApiRequest, signal: AbortSignal): Promise<{ answer: Exchanged | Opened; end: () => void }> {
    const limit = this.#limit(request, signal);
    let isRead = false;
    const begin: Ask<Exchanged | Opened> = async (e, opened, server) => {
      if (opened.status >= 400) return wholeOf(e, opened, limit.signal);
      opened.stream.once('close', () => {
        if (!isRead && !opened.isWhole() && !limit.signal.aborted) this.#servers.failed(server);
      });
      return opened;
    };
    try {
      const answer = await this.#repeat(request, begin, limit.signal);
      limit.relax();
      const end = (): void => {
        isRead = true;
        limit.end();
      };
      return { answer, end };
    } catch (err) {
      limit.end();
      throw err;
    }
  }

  close(): void {
    this.#closed.abort(new RemoteError('The client is closed'));
    this.#o.credentials.close();
    this.#agents.close();
  }

  get #timeoutMs(): number {
    return this.#o.timeoutMs ?? TIMEOUT_MS;
  }

  get #hasOthers(): boolean {
    return this.#servers.count > 1;
  }

  #limit(request: ApiRequest, signal: AbortSignal): Deadline {
    const ms = this.#timeoutMs;
    const outer = firstOf(signal, this.#closed.signal);
    const why = `${request.method} ${pathOf(request)}: no answer within ${ms} ms`;
    const limit = deadline(ms, outer.signal, () => new RemoteError(why, { failure: 'timeout' }));
    const end = (): void => {
      limit.end();
      outer.end();
    };
    return { ...limit, end };
  }

  /** Sends a request until it is answered with something else than "not now", or must not be sent again. */
  async #repeat<T extends Head>(request: ApiRequest, ask: Ask<T>, signal: AbortSignal): Promise<T> {
    await this.#rate.take(signal);
    const until = performance.now() + this.#timeoutMs;
    let retries = 0;
    let failures = 0;
    const most = TRIES * this.#servers.count;
    for (;;) {
      const server = this.#servers.current;
      let pauseMs: number | undefined;
      try {
        const patience = failures < most - 1 ? this.#patience : PATIENT;
        const answer = await this.#authenticated({ request, server, patience, ask }, signal);
        this.#servers.answered(server);
        pauseMs = repeatAfterMs(request, answer);
        const isLast = pauseMs === undefined || retries++ >= MOST_RETRIES || performance.now() + pauseMs > until;
        if (isLast) return answer;
      } catch (err) {
        if (!(err instanceof RemoteError) || !isOfServer(err)) throw err;
        this.#servers.failed(server);
        if (signal.aborted || !mayRepeat(request, err) || ++failures >= most) throw err;
        if (this.#servers.current === server) pauseMs = backoffMs(failures, PAUSE);
      }
      await rest(pauseMs ?? 0, signal);
      signal.throwIfAborted();
    }
  }

  /** A second time with another credential, when the first one is not known to the server. */
  async #authenticated<T extends Head>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
    const first = await this.#credential(signal);
    const answer = await this.#once(attempt, first, signal);
    if (answer.status !== UNAUTHORIZED || !this.#o.credentials.refused(first)) return answer;
    return await this.#once(attempt, await this.#credential(signal), signal);
  }

  async #once<T extends Head>(
    { request, server, patience, ask }: Attempt<T>,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<T> {
    const e = this.#exchange(request, server, credential, patience.connectMs);
    const { answerMs } = patience;
    if (request.method !== 'GET' || answerMs === Infinity) return ask(e, await this.#opened(e, signal), server);
    const late = `${shown(e)}: no answer within ${answerMs} ms`;
    const limit = deadline(answerMs, signal, () => new RemoteError(late, { failure: 'timeout' }));
    try {
      return await ask(e, await this.#opened(e, limit.signal).finally(() => limit.relax()), server);
    } catch (err) {
      limit.end();
      throw err;
    }
  }

  async #opened(e: Exchange, signal: AbortSignal): Promise<Opened> {
    const from = performance.now();
    let status: number | undefined;
    try {
      const opened = await openExchange(e, signal);
      ({ status } = opened);
      return opened;
    } finally {
      this.#o.observe?.({ method: e.method, host: e.url.host, status, seconds: (performance.now() - from) / 1000 });
    }
  }

  async #credential(signal: AbortSignal): Promise<Credential> {
    try {
      return await unlessAborted(this.#o.credentials.current(signal), signal);
    } catch (err) {
      const isOurs = err instanceof CredentialError || err instanceof ClientConfigError;
      throw isOurs ? new RemoteError(err.message, { failure: 'credentials', cause: err }) : err;
    }
  }

  #exchange(
    { method, path, headers, body }: ApiRequest,
    server: URL,
    credential: Credential,
    connectMs: number,
  ): Exchange {
    return {
      method,
      url: urlOf(server, path),
      headers: {
        'user-agent': this.#o.userAgent,
        ...(this.#o.impersonation as OutgoingHttpHeaders | undefined),
        ...headers,
        ...credential.headers,
      },
      ...(body === undefined ? {} : { body }),
      ...this.#agents.for(credential),
      maxBytes: MAX_ANSWER_BYTES,
      connectMs,
      isRepeatable: method === 'GET' && !this.#hasOthers, // which are asked instead
    };
  }
}

type Head = Pick<Exchanged, 'status' | 'headers'>;
/** Makes of an answer that has begun the one that is wanted. */
type Ask<T> = (e: Exchange, opened: Opened, server: URL) => Promise<T>;

interface Attempt<T> {
  readonly request: ApiRequest;
  readonly server: URL;
  readonly patience: Patience;
  readonly ask: Ask<T>;
}

const wholeOf = async (e: Exchange, opened: Opened, signal: AbortSignal): Promise<Exchanged> => ({
  status: opened.status,
  headers: opened.headers,
  body: await readWhole(e, opened, signal),
});

const pathOf = ({ path }: ApiRequest): string => path.split('?', 1)[0] ?? '';

/** An address may have a path of its own, under which the server is. */
function urlOf(server: URL, path: string): URL {
  const base = server.pathname.endsWith('/') ? server.pathname.slice(0, -1) : server.pathname;
  return new URL(`${server.origin}${base}${path}`);
}

/** Whether it says something about the server that was asked. */
const isOfServer = ({ failure }: RemoteError): boolean => ['connection', 'untrusted', 'timeout'].includes(failure);

/** A write whose answer was lost may have been done. */
const mayRepeat = ({ method }: ApiRequest, { isUnsent }: RemoteError): boolean => isUnsent || method === 'GET';

/** @returns undefined: it is an answer. */
function repeatAfterMs({ method }: ApiRequest, { status, headers }: Head): number | undefined {
  const isAsked = NOT_DONE.has(status) || (status >= 500 && method === 'GET');
  return isAsked ? retryAfterMs(headers['retry-after'], Date.now()) : undefined;
}
