import { isIPv6 } from 'node:net';

/** How a server proves who it is, and how we prove it to the server. PEM. */
export interface TargetTls {
  /** Authorities that must have signed the server's certificate; absent: it is not verified. */
  readonly ca?: string;
  /** The name that its certificate has to be for. @default the host */
  readonly serverName?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A server that an object names. */
export interface Target {
  readonly scheme: 'http' | 'https';
  /** An address or a host name. */
  readonly host: string;
  readonly port: number;
  readonly tls: TargetTls;
  /** Whether the server may connect to an address that the host name turns out to be. */
  readonly allows: (address: string) => boolean;
}

/** A parsed name of a path: `name`, `name:port` or `scheme:name:port`. */
export interface NamedTarget {
  readonly scheme: '' | 'http' | 'https';
  readonly name: string;
  /** A number, the name of a port, or ''. */
  readonly port: string;
}

/** undefined: not of that form. */
export function namedTarget(id: string): NamedTarget | undefined {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', parts[0], parts[1]];
  if (parts.length > 3 || name === '') return undefined;
  return scheme === '' || scheme === 'http' || scheme === 'https' ? { scheme, name, port } : undefined;
}

/** `10.0.0.1:80`, `[fd00::1]:80` */
export const hostPort = (host: string, port: number): string => `${isIPv6(host) ? `[${host}]` : host}:${port}`;

const PORT = /^\d{1,5}$/;

/** A port's number; undefined when the text is none. */
export function portNumber(text: string): number | undefined {
  const n = PORT.test(text) ? Number(text) : 0;
  return n >= 1 && n <= 65_535 ? n : undefined;
}
