import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';

/** Servers of which it is remembered what they speak, and how long. A server that changes is asked again by then. */
const MAX_ORIGINS = 512;
const REMEMBERED_MS = 10 * 60_000;
/** A session that nothing was asked on for so long is closed. */
const IDLE_MS = 90_000;
/** Longest time to connect where the caller says nothing. */
const CONNECT_MS = 30_000;
/** A session that does not answer to a ping for so long is dead. */
const PING_MS = 2_000;

export interface Http2SessionsOptions {
  readonly secureContext: SecureContext;
  /** Name that the certificate has to have. @default The host. */
  readonly serverName: string | undefined;
  readonly rejectUnauthorized: boolean;
  /**
   * Answers are long and many at once: what waits to be read of one must not hold up the others, and sessions show that
   * they live. @default Answers are short.
   */
  readonly forStreams?: Liveness;
}

/** How often a session is asked whether it lives, and how long that answer may take before all that is on it fails. */
export interface Liveness {
  readonly everyMs: number;
  readonly withinMs: number;
}

/** Bytes of one answer, and of all on a session, that may come before they are read; megabytes that Node may hold. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 1024 * 1024 * 1024;
const SESSION_MEMORY_MB = 1024;

/** A kept session, or that the server speaks HTTP/1.1 alone. */
type Spoken = ClientHttp2Session | 'http/1.1';

/** Sessions with servers that offer HTTP/2 (RFC 9113, 3.2), one each. The first connection to a server finds out. */
export class Http2Sessions {
  readonly #o: Http2SessionsOptions;
  readonly #known: LRUCache<string, Promise<Spoken>>;
  readonly #open = new Set<ClientHttp2Session>();
  #isRetired = false;

  constructor(o: Http2SessionsOptions) {
    this.#o = o;
    this.#known = new LRUCache({
      max: MAX_ORIGINS,
      ttl: REMEMBERED_MS,
      dispose: (spoken) => void spoken.then(closeGently, () => undefined),
    });
  }

  /**
   * @param connectMs Longest time until a new connection stands.
   * @returns undefined for a server that speaks HTTP/1.1. @throws {Error} As sockets and TLS do.
   */
  async of({ hostname, port }: URL, connectMs = CONNECT_MS): Promise<ClientHttp2Session | undefined> {
    const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
    const origin = `${host} ${port}`;
    let spoken = this.#known.get(origin);
    if (spoken === undefined) {
      spoken = this.#find(origin, host, port === '' ? 443 : Number(port), connectMs);
      this.#known.set(origin, spoken);
    }
    const found = await spoken;
    return found === 'http/1.1' ? undefined : found;
  }

  /** No more is asked here: sessions end with what is under way on them. */
  retire(): void {
    this.#isRetired = true;
    this.#known.clear();
  }

  /** What is under way fails. */
  close(): void {
    this.retire();
    for (const session of this.#open) session.destroy();
  }

  #find(origin: string, host: string, port: number, connectMs: number): Promise<Spoken> {
    const forget = (): unknown => this.#known.peek(origin) === spoken && this.#known.delete(origin);
    const spoken = Promise.resolve().then(async (): Promise<Spoken> => {
      const socket = await this.#connect(host, port, connectMs);
      if (socket.alpnProtocol !== 'h2') {
        socket.destroy();
        return 'http/1.1';
      }
      return this.#session(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`, socket, forget);
    });
    spoken.catch(forget);
    return spoken;
  }

  #connect(host: string, port: number, connectMs: number): Promise<TLSSocket> {
    const { secureContext, serverName, rejectUnauthorized } = this.#o;
    const servername = serverName ?? (isIP(host) === 0 ? host : '');
    return new Promise((resolve, reject) => {
      const ALPNProtocols = ['h2', 'http/1.1'];
      const socket = connectTls({ host, port, servername, secureContext, rejectUnauthorized, ALPNProtocols });
      const late = Object.assign(new Error(`no connection within ${connectMs} ms`), { code: 'ETIMEDOUT' });
      const timer = setTimeout(() => socket.destroy(late), connectMs);
      socket.once('error', reject);
      socket.once('close', () => clearTimeout(timer));
      socket.once('secureConnect', () => {
        clearTimeout(timer);
        resolve(socket);
      });
    });
  }

  #session(origin: string, socket: TLSSocket, forget: () => unknown): ClientHttp2Session {
    const { forStreams } = this.#o;
    const session = connectHttp2(origin, {
      createConnection: () => socket,
      ...(forStreams === undefined
        ? {}
        : { settings: { initialWindowSize: STREAM_WINDOW, enablePush: false }, maxSessionMemory: SESSION_MEMORY_MB }),
    });
    if (forStreams !== undefined) keepForStreams(session, forStreams);
    this.#open.add(session);
    session.on('error', forget); // requests on it fail by themselves
    session.on('goaway', forget);
    session.on('close', () => {
      forget();
      this.#open.delete(session);
    });
    session.setTimeout(IDLE_MS, () => {
      forget(); // what is under way may take long
      session.close();
    });
    if (this.#isRetired) session.close();
    return session;
  }
}

function keepForStreams(session: ClientHttp2Session, { everyMs, withinMs }: Liveness): void {
  session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW));
  const timer = setInterval(() => suspect(session, withinMs), everyMs).unref();
  session.once('close', () => clearInterval(timer));
}

function closeGently(spoken: Spoken): void {
  if (spoken !== 'http/1.1' && !spoken.destroyed) spoken.close();
}

/** Sessions that have yet to answer a ping. Node.js allows a session few pings at once, and one says it all. */
const SUSPECTED = new WeakSet<ClientHttp2Session>();

/** Ends a session on which a request was not answered, unless it shows within `ms` that it lives. */
export function suspect(session: ClientHttp2Session, ms = PING_MS): void {
  if (session.destroyed || session.closed || SUSPECTED.has(session)) return;
  SUSPECTED.add(session);
  let isOver = false;
  const destroy = (): void => {
    if (!isOver) session.destroy(undefined, constants.NGHTTP2_CANCEL);
  };
  // A process that was held up itself reads what has come meanwhile between the two.
  const timer = setTimeout(() => setImmediate(destroy), ms);
  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
  };
  session.once('close', end);
  session.ping((err) => {
    if (err !== null) return; // it has ended
    end();
    session.off('close', end);
    SUSPECTED.delete(session);
  });
}
