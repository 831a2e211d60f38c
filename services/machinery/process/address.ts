import { isIPv6 } from 'node:net';

const LOOPBACK: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '0.0.0.0': '127.0.0.1', '::': '127.0.0.1', '': '127.0.0.1' }),
);

/** Where a client on this machine reaches a server that is bound to `address`. */
export const localHost = (address: string): string => LOOPBACK.get(address) ?? address;

/** How a client on this machine calls a server. */
export function localUrl({ bindAddress }: { readonly bindAddress: string }, port: number): string {
  const host = localHost(bindAddress);
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
