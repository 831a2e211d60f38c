import { isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';

/** Proxies in front of a request; a longer chain is made up. */
const MAX_FORWARDED = 32;

/**
 * Where a request comes from: what proxies say, in their order, and at the end who holds the connection, which is the one
 * that cannot be made up. Text that is no address is left out.
 */
export function sourceAddresses(headers: IncomingHttpHeaders, peer: string | undefined): readonly string[] {
  const found: string[] = [];
  const forwarded = textOf(headers['x-forwarded-for']);
  if (forwarded !== '') {
    for (const part of forwarded.split(',', MAX_FORWARDED)) {
      const address = addressOf(part);
      if (address !== undefined) found.push(address);
    }
  }
  const real = addressOf(textOf(headers['x-real-ip']));
  if (real !== undefined && !found.includes(real)) found.push(real);
  const remote = addressOf(peer ?? '');
  if (remote !== undefined && found.at(-1) !== remote) found.push(remote);
  return found;
}

const textOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' ? header : (header?.join(',') ?? '');

const MAPPED = '::ffff:';

/** An address of IPv4 that stands in one of IPv6 is shown as what it is. */
function addressOf(text: string): string | undefined {
  const address = text.trim();
  if (isIP(address) === 0) return undefined;
  const lower = address.toLowerCase();
  const inner = lower.startsWith(MAPPED) ? lower.slice(MAPPED.length) : '';
  return isIP(inner) === 4 ? inner : lower;
}
