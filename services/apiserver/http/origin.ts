import type { TLSSocket } from 'node:tls';
import { StatusError } from '../../machinery/meta/status.js';
import type { Context, Stage } from '../request/request.js';
import { upgradeOf } from './upgrade.js';

/**
 * Refuses connections that a page of another site opens with what the browser adds by itself. Browsers let any page open a
 * web socket to any server and show the user's client certificate for it; they only say whose page it is.
 */
export const ownOrigin: Stage = (ctx, next) => {
  if (upgradeOf(ctx.req) !== undefined && isForeign(ctx)) {
    throw new StatusError(
      'Forbidden',
      'A page of another origin may not open this connection with a client certificate',
    );
  }
  return next();
};

/** No browser lets a page set `Authorization` for a socket: where it is, a program asks. */
function isForeign({ req }: Context): boolean {
  const { origin, host, authorization } = req.headers;
  if (origin === undefined || authorization !== undefined || isSame(origin, host ?? '')) return false;
  return showsCertificate(req.socket as Partial<TLSSocket>);
}

const showsCertificate = (socket: Partial<TLSSocket>): boolean => socket.getPeerX509Certificate?.() !== undefined;

/** Host and port are compared, not the scheme: some programs name a plain one whatever they speak. */
function isSame(origin: string, host: string): boolean {
  const [theirs, ours] = [origin, `https://${host}`].map(placeOf);
  return theirs !== undefined && theirs === ours;
}

function placeOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}
