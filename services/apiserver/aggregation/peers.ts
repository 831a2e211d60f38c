import { isIP, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Credentials } from '../../client/credentials/credential.js';
import { LeftAlone, openBreaker, type Breaker, type BreakerTimes } from '../../machinery/breaker/breaker.js';
import { StatusError } from '../../machinery/meta/status.js';
import type { AdmissionObjects } from '../admission/objects.js';
import { placesOf, type Place } from '../admission/webhooks/service-places.js';
import type { ObserveBreaker } from '../metrics/breaker-metrics.js';
import type { UserInfo } from '../request/request.js';
import { isAllowed } from '../subresources/connect/addresses.js';
import { ask } from '../subresources/connect/ask.js';
import { Connection, type Wanted } from '../subresources/connect/connection.js';
import { dial, wordsOf } from '../subresources/connect/dial.js';
import type { Headers } from '../subresources/connect/headers.js';
import type { KeptSockets } from '../subresources/connect/kept-sockets.js';
import { hostPort, type TargetTls } from '../subresources/connect/target.js';
import { identityHeaders } from './identity-headers.js';
import { RouteProofs, type Proofs } from './proofs.js';
import { serviceKey, type Route, type Routes } from './routes.js';

export interface PeersDeps {
  readonly objects: Pick<AdmissionObjects, 'cached'>;
  /** The certificate by which other servers know this one; undefined: it shows none. */
  readonly certificate: Credentials | undefined;
  /** Longest that a connection may take to stand, where there is no other server to try. */
  readonly connectMs: number;
  /** Connections go to the endpoints of services, not to their cluster IP. */
  readonly toEndpoints: boolean;
  readonly observe: ObserveBreaker;
}

/** A question of this server's own. */
export interface PeerQuestion {
  readonly path: string;
  readonly user: UserInfo;
  readonly headers?: Headers;
  /** The longest answer. */
  readonly maxBytes: number;
  /** Longest for all of it. */
  readonly withinMs: number;
}

export interface PeerAnswer {
  readonly status: number;
  readonly etag: string;
  readonly type: string;
  readonly body: Buffer;
}

/** Why a server behind this one gave no answer, in words that name no address. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/** Servers behind a service that are tried for one request, and how long each of them where there is another one. */
const MAX_TRIED = 3;
const TRY_MS = 1_000;
const BREAKER: BreakerTimes = { volume: 10, failurePercent: 50, windowMs: 10_000, restMs: 5_000 };

/** What clients are told of a server that cannot be reached. */
export const serviceUnavailable = (cause?: unknown): StatusError =>
  new StatusError('ServiceUnavailable', 'service unavailable', { cause });

/** Makes connections to the servers that serve parts of the API. */
export class Peers {
  readonly #d: PeersDeps;
  readonly #breakers = new Map<string, Promise<Breaker>>();
  readonly #proofs: RouteProofs;

  constructor(d: PeersDeps, routes: Routes) {
    this.#d = d;
    this.#proofs = new RouteProofs(d.certificate, routes);
    routes.listen({
      changed: (_name, before) => {
        if (before !== undefined) this.#forgetUnless(serviceKey(before), routes);
      },
    });
  }

  /**
   * A connection for a request of a client: one that is free, or a new one. A service that fails again and again is not tried
   * for a while.
   *
   * @throws {StatusError} ServiceUnavailable @throws `signal.reason` if it fires first
   */
  async connect(route: Route, signal: AbortSignal, wanted: Wanted): Promise<Connection> {
    try {
      const { tls, free } = await this.#proofsOf(route);
      const places = this.#places(route);
      const [first] = places;
      const used = first && free.take(placeKey(first), wanted);
      if (first !== undefined && used !== undefined) return new Connection(used, keeping(free, first), 'further');
      const breaker = await this.#breakerOf(serviceKey(route));
      const { socket, place } = await breaker.fire(() => this.#dial(places, tls, signal));
      return new Connection(socket, keeping(free, place));
    } catch (err) {
      if (err instanceof LeftAlone || err instanceof PeerError) throw serviceUnavailable(err);
      throw err;
    }
  }

  /** It has just answered. */
  heal(route: Route): void {
    void this.#breakers.get(serviceKey(route))?.then((breaker) => breaker.heal());
  }

  /** Asks in this server's own name. @throws {PeerError} @throws `signal.reason` if it fires first */
  async get(route: Route, q: PeerQuestion, signal: AbortSignal): Promise<PeerAnswer> {
    const late = AbortSignal.timeout(q.withinMs);
    const either = AbortSignal.any([signal, late]);
    let socket: Socket | undefined;
    const end = (): void => void socket?.destroy();
    either.addEventListener('abort', end);
    try {
      const { tls } = await this.#proofsOf(route);
      ({ socket } = await this.#dial(this.#places(route), tls, either)); // its own: it tells of whoever comes new
      socket.on('error', () => undefined); // the answer tells
      const { service } = route;
      const headers = { accept: 'application/json', host: `${service.name}.${service.namespace}.svc`, ...q.headers, ...identityHeaders(q.user) }; // prettier-ignore
      const { answer } = await ask(new Connection(socket), { method: 'GET', path: q.path, headers, body: undefined, answerMs: q.withinMs }); // prettier-ignore
      const body = await readWhole(answer, q.maxBytes);
      const { etag = '', 'content-type': type = '' } = answer.headers;
      return { status: answer.statusCode ?? 0, etag, type, body };
    } catch (err) {
      if (signal.aborted) throw signal.reason;
      throw late.aborted ? new PeerError('i/o timeout', { cause: err }) : peerError(err);
    } finally {
      either.removeEventListener('abort', end);
      end();
    }
  }

  close(): void {
    for (const breaker of this.#breakers.values()) void breaker.then((it) => it.shutdown());
    this.#breakers.clear();
    this.#proofs.close();
  }

  #proofsOf(route: Route): Promise<Proofs> {
    return this.#proofs.of(route, AbortSignal.timeout(this.#d.connectMs));
  }

  /** @throws {PeerError} @throws `signal.reason` */
  async #dial(places: readonly Place[], tls: TargetTls, signal: AbortSignal): Promise<Dialed> {
    for (const [i, place] of places.entries()) {
      const isLast = i === places.length - 1;
      try {
        const target = { scheme: 'https', ...place, tls, allows: isAllowed } as const;
        return { place, socket: await dial(target, isLast ? this.#d.connectMs : TRY_MS, signal) };
      } catch (err) {
        if (signal.aborted) throw signal.reason;
        if (isLast) throw peerError(err);
      }
    }
    throw new PeerError('no endpoints available');
  }

  /** In an order of chance. Addresses of this machine and its link are nobody's business. */
  #places({ service: { namespace, name, port } }: Route): readonly Place[] {
    let all: readonly Place[];
    try {
      all = placesOf(this.#d.objects, namespace, name, port, this.#d.toEndpoints);
    } catch (err) {
      throw peerError(err);
    }
    const allowed = all.filter(({ host }) => isIP(host) === 0 || isAllowed(host));
    if (allowed.length === 0) throw new PeerError('address not allowed');
    const first = Math.floor(Math.random() * allowed.length);
    return [...allowed.slice(first), ...allowed.slice(0, first)].slice(0, MAX_TRIED);
  }

  #breakerOf(key: string): Promise<Breaker> {
    let breaker = this.#breakers.get(key);
    if (breaker === undefined) {
      const isFault = (err: unknown, onTrial: boolean): boolean => err instanceof PeerError || onTrial;
      breaker = openBreaker({ ...BREAKER, isFault, observer: this.#d.observe(`aggregation ${key}`) });
      this.#breakers.set(key, breaker);
    }
    return breaker;
  }

  #forgetUnless(key: string, routes: Routes): void {
    const breaker = this.#breakers.get(key);
    if (breaker === undefined || [...routes.all].some((route) => serviceKey(route) === key)) return;
    this.#breakers.delete(key);
    void breaker.then((it) => it.shutdown());
  }
}

interface Dialed {
  readonly socket: Socket;
  readonly place: Place;
}

const placeKey = ({ host, port }: Place): string => hostPort(host, port);

const keeping =
  (free: KeptSockets, place: Place) =>
  (socket: Socket, ms: number): void =>
    free.keep(placeKey(place), socket, ms);

const peerError = (err: unknown): PeerError =>
  err instanceof PeerError ? err : new PeerError(whyOf(err), { cause: err });

/** The words of the network's error; what goes around them may hold addresses. */
function whyOf(err: unknown): string {
  if (!(err instanceof StatusError)) return wordsOf(err);
  if (err.cause !== undefined) return wordsOf(err.cause);
  return err.message.slice(err.message.lastIndexOf(': ') + 1).trim();
}

async function readWhole(answer: Readable & { readonly complete: boolean }, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer) {
    parts.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes > maxBytes) throw new PeerError(`the answer is longer than ${maxBytes} bytes`);
  }
  if (!answer.complete) throw new PeerError('connection reset by peer');
  return Buffer.concat(parts);
}
