import { hostPort, type Target } from './target.js';

const URL_PARTS = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is;

/** With the port that goes without saying. */
function whole(host: string, scheme: string): string {
  const bare = host.toLowerCase();
  return /:\d+$/.test(bare) ? bare : `${bare}:${scheme === 'https' ? 443 : 80}`;
}

/** A place behind the proxy as its clients reach it. */
export interface SeenThrough {
  /** The path of the proxy. */
  readonly prefix: string;
  readonly target: Target;
  /** The host by which the client names this server. */
  readonly host: string;
}

/**
 * Where a redirect leads: to the same server, it leads through the proxy; elsewhere, or from where the client is, it says
 * what it says.
 */
export function redirected(location: string, { prefix, target, host }: SeenThrough): string {
  const [, scheme, authority, path = '', rest = ''] = URL_PARTS.exec(location) ?? [];
  if (authority === undefined) {
    if (scheme !== undefined || !path.startsWith('/')) return location;
  } else {
    const to = whole(authority, scheme ?? target.scheme);
    const own = hostPort(target.host, target.port);
    if (to !== own && authority !== host) return location;
  }
  const at = path === '' ? '/' : path;
  return at === prefix || at.startsWith(`${prefix}/`) ? `${at}${rest}` : `${prefix}${at}${rest}`;
}
