import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Whether a certificate can be made out to `text`: an address, a host name, or a wildcard. */
export const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (text.length <= 253 && /^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?$/i.test(text));

/** Names and addresses by which programs on this machine call it; its own name only when a certificate can hold it. */
export const machineHosts = (): string[] => ['localhost', '127.0.0.1', '::1', ...[hostname()].filter(isHost)];

/** An address as text from its 4 or 16 bytes, in the order of the network; undefined for another length. */
export function addressText(bytes: Buffer): string | undefined {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
