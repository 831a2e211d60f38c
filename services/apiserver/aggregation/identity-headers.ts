import { StatusError } from '../../machinery/meta/status.js';
import type { UserInfo } from '../request/request.js';
import type { Headers } from '../subresources/connect/headers.js';

/** Characters of names of headers (RFC 9110, 5.6.2), but for the percent sign, which begins what is escaped. */
const PLAIN = /^[!#$&'*+.^_`|~0-9a-z-]$/;
/** What no header can carry as it is: control characters, and spaces at the ends, which receivers take away. */
const LOST = /^[ \t]|[ \t]$|[\0-\x08\x0a-\x1f\x7f]/;

/**
 * Tells another server who asks. It believes them from a connection with the certificate of this server's proxy.
 *
 * @throws {StatusError} Forbidden for a user whose name it would read as another one's.
 */
export function identityHeaders({ name, uid, groups, extra }: UserInfo): Headers {
  const headers: Headers = { 'x-remote-user': value(name) };
  if (uid !== '') headers['x-remote-uid'] = value(uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map(value);
  const attributes = new Map<string, string[]>();
  for (const [key, values] of Object.entries(extra)) {
    const header = `x-remote-extra-${escapedKey(key)}`;
    if (values.length > 0) attributes.set(header, [...(attributes.get(header) ?? []), ...values.map(value)]);
  }
  return { ...headers, ...Object.fromEntries(attributes) };
}

/** In lower case; the bytes of all characters that no name of a header has are escaped. */
export const escapedKey = (key: string): string =>
  Array.from(Buffer.from(key.toLowerCase(), 'utf8'), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

/** Bytes of UTF-8, each as a character, which is how headers are written. */
function value(text: string): string {
  if (LOST.test(text)) {
    throw new StatusError('Forbidden', 'The user has a name that no other server can be told', { details: {} });
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}
