import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { Context } from '../pipeline/request.js';
import type { Authenticator, Identity } from './types.js';

/** What is asked of a connection; the listener speaks TLS only. */
type Peer = Pick<TLSSocket, 'authorized' | 'getPeerCertificate'>;

/** A certificate is looked at once for each connection. `null`: the connection has none that counts. */
const known = new WeakMap<Peer, Identity | null>();

/** Certificates that the listener's TLS has verified: CN is the user's name, each O a group. */
export const clientCertificates: Authenticator = {
  name: 'client-certificate',
  authenticate: (ctx) => {
    const socket = socketOf(ctx);
    let user = known.get(socket);
    if (user === undefined) known.set(socket, (user = userOf(socket) ?? null));
    return user ?? undefined;
  },
};

/** HTTP/2 requests share a session's socket behind a proxy; the session tells the real one. */
function socketOf(ctx: Context): Peer {
  const { req } = ctx;
  const session = 'stream' in req ? (req.stream as { session?: { socket: unknown } }).session : undefined;
  return (session?.socket ?? req.socket) as Peer;
}

function userOf(socket: Peer): Identity | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  const name = all(subject?.CN)[0] ?? '';
  if (name === '') return undefined;
  return { user: { name, uid: '', groups: all(subject?.O), extra: {} } };
}

/** Node gives one value as a string and several as a list. */
const all = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
