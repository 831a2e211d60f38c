import { isIPv6 } from 'node:net';
import type { ApiServerOptions } from '../options/flags.js';

const LOOPBACK: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '0.0.0.0': '127.0.0.1', '::': '127.0.0.1', '': '127.0.0.1' }),
);

/** Where a client on this machine reaches a server that is bound to `address`. */
export const localHost = (address: string): string => LOOPBACK.get(address) ?? address;

/** How a client on this machine calls the server. */
export function localUrl({ bindAddress }: Pick<ApiServerOptions, 'bindAddress'>, port: number): string {
  const host = localHost(bindAddress);
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
