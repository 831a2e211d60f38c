import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Whether a certificate can be made out to `text`: an address, a host name, or a wildcard. */
export const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (text.length <= 253 && /^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?$/i.test(text));

/** Names and addresses by which programs on this machine call it; its own name only when a certificate can hold it. */
export const machineHosts = (): string[] => ['localhost', '127.0.0.1', '::1', ...[hostname()].filter(isHost)];
