import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/** Headers by lower-case name. */
export type Headers = Record<string, string | string[]>;

/** Headers of one connection (RFC 9110, 7.6.1), in either direction. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Credentials, which are never sent on: their receiver could ask in the client's name. Some servers take an underscore for
 * a hyphen.
 */
const CREDENTIALS = /^(?:authorization|impersonate[-_].*|x[-_]remote[-_].*)$/;
/** Where a request came from is for us to say. `expect` is answered here. */
const OURS = /^(?:forwarded|x-forwarded-.*|expect|http2-settings|:.*)$/;
/** Headers by which this server, and no proxied one, decides what a browser may do with an answer. */
const CORS = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

const listed = (value: string | string[] | undefined): string[] =>
  [value ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((item) => item.trim().toLowerCase());

/** @param drop Whether a name that may go on stays behind. */
function passed(from: Readonly<NodeJS.Dict<string | string[]>>, drop: (name: string) => boolean): Headers {
  const named = new Set(listed(from['connection']));
  const to: Headers = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || OF_THE_CONNECTION.has(name) || named.has(name) || drop(name)) continue;
    to[name] = value;
  }
  return to;
}

export type ClientRequest = IncomingMessage | Http2ServerRequest;

const received = (req: ClientRequest): NodeJS.Dict<string | string[]> =>
  'headersDistinct' in req ? req.headersDistinct : req.headers;

/** Whether a request has a body, and whether it tells how long. */
export function bodyOf(req: ClientRequest): 'none' | 'measured' | 'open' {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  if (coding !== undefined) return 'open';
  if (length !== undefined) return Number(length) === 0 ? 'none' : 'measured';
  return 'stream' in req && !req.stream.endAfterHeaders ? 'open' : 'none';
}

/** Words with which a browser, which cannot set headers, names the protocol of a socket and hides its token among them. */
export interface HeaderWords {
  readonly bearerPrefix: string;
}

/** Headers of a proxied request. `uri`: the path that the client sees. */
export function requestHeaders(req: ClientRequest, uri: string, { bearerPrefix }: HeaderWords): Headers {
  const headers = passed(received(req), (name) => CREDENTIALS.test(name) || OURS.test(name));
  headers['host'] ??= 'stream' in req ? req.authority : '';
  headers['x-forwarded-uri'] = uri;
  const from = req.socket.remoteAddress;
  if (from !== undefined) headers['x-forwarded-for'] = from;
  if (bodyOf(req) === 'open') {
    delete headers['content-length'];
    headers['transfer-encoding'] = 'chunked';
  }
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined) return headers;
  const kept = [protocols].flat().join(',').split(',').map((p) => p.trim()).filter((p) => !p.startsWith(bearerPrefix)); // prettier-ignore
  if (kept.length === 0) delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = kept.join(', ');
  return headers;
}

/** Headers of a proxied answer. */
export const answerHeaders = (answer: IncomingMessage): Headers =>
  passed(answer.headersDistinct, (name) => CORS.test(name));
