import { lookup as resolve, type LookupOptions } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { traced } from '../../../machinery/tracing/trace.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { hostPort, type Target } from './target.js';

/** 503: the target does not answer. The message tells the network's error, which is no secret. */
export const unreachable = (why: string, cause?: unknown): StatusError =>
  new StatusError('ServiceUnavailable', `error trying to reach service: ${why}`, { cause });

/** Messages that clients know for these failures. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ECONNREFUSED: 'connect: connection refused',
    ECONNRESET: 'connection reset by peer',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
    ETIMEDOUT: 'i/o timeout',
    ENOTFOUND: 'no such host',
    EAI_AGAIN: 'no such host',
  }),
);

/** An error of a socket in one line. */
export function wordsOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  const code = 'code' in err ? String(err.code) : '';
  // Several addresses were tried: the first failure stands for all.
  if (err instanceof AggregateError && err.errors.length > 0) return wordsOf(err.errors[0]);
  return WORDS.get(code) ?? (err.message === '' ? code : err.message);
}

/**
 * Connects to a server, TLS included.
 *
 * @throws {StatusError} ServiceUnavailable when it does not stand within `connectMs`
 * @throws `signal.reason` if it fires first
 */
export const dial = (target: Target, connectMs: number, signal: AbortSignal): Promise<Socket> =>
  traced('Connect', { 'server.address': target.host, 'server.port': target.port }, () =>
    connected(target, connectMs, signal),
  );

async function connected(target: Target, connectMs: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const socket = open(target);
  const ready = target.scheme === 'https' ? 'secureConnect' : 'connect';
  return new Promise((settle, reject) => {
    const fail = (err: Error): void => {
      finish();
      socket.on('error', () => undefined); // later errors need no handling
      socket.destroy();
      reject(err);
    };
    const at = `dial tcp ${hostPort(target.host, target.port)}`;
    const onError = (err: Error): void => fail(unreachable(`${at}: ${wordsOf(err)}`, err));
    const onClose = (): void => fail(unreachable(`${at}: EOF`));
    const onAbort = (): void => fail(signal.reason as Error);
    const onReady = (): void => {
      finish();
      settle(socket);
    };
    const timer = setTimeout(() => fail(unreachable(`${at}: i/o timeout`)), connectMs);
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).off('close', onClose).off(ready, onReady);
    };
    signal.addEventListener('abort', onAbort);
    socket.on('error', onError).on('close', onClose).on(ready, onReady);
  });
}

function open({ scheme, host, port, tls: { serverName = host, ...tls }, allows }: Target): Socket {
  const to = { host, port, lookup: allowedOnly(allows) };
  if (scheme === 'http') return connectTcp({ ...to, noDelay: true });
  return connectTls({
    ...to,
    ...tls,
    servername: isIP(serverName) === 0 ? serverName : '', // names only: RFC 6066, 3
    rejectUnauthorized: tls.ca !== undefined,
    allowPartialTrustChain: true, // each certificate of the bundle is trusted
    ALPNProtocols: ['http/1.1'],
  });
}

/** A name may lead anywhere, and somewhere else each time: what counts is the address that is connected to. */
const allowedOnly =
  (allows: Target['allows']): LookupFunction =>
  (host, o: LookupOptions, done) => {
    resolve(host, { ...o, all: true }, (err, found) => {
      const addresses = err === null ? found.filter(({ address }) => allows(address)) : [];
      const [first] = addresses;
      if (first === undefined) done(err ?? new Error('address not allowed'), '', 0);
      else if (o.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
