import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import type { Document } from './document.js';
import { WatchReader } from './watch-reader.js';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; {} when it is not JSON. */
  readonly body: Document;
}

export interface RequestOptions {
  /** Text and bytes go out as they are, all else as JSON. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';

/** Nothing that a test asks for takes this long. */
const ANSWER_WITHIN_MS = 20_000;

export const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

export function documentOf(text: string): Document {
  try {
    return JSON.parse(text) as Document;
  } catch {
    return {} as Document; // not JSON: a test that expects JSON fails at the first member it reads
  }
}

/** Speaks HTTP/1.1 to one server, with a token. */
export class Client {
  readonly url: URL;
  readonly token: string;
  readonly #agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 64 });

  constructor(url: string, token: string) {
    this.url = new URL(url);
    this.token = token;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.request('GET', path, { headers });
  }
  post(path: string, body: unknown): Promise<Reply> {
    return this.request('POST', path, { body });
  }
  put(path: string, body: unknown): Promise<Reply> {
    return this.request('PUT', path, { body });
  }
  patch(path: string, body: unknown, type = MERGE): Promise<Reply> {
    return this.request('PATCH', path, { body, type });
  }
  delete(path: string, body?: unknown): Promise<Reply> {
    return this.request('DELETE', path, body === undefined ? {} : { body });
  }

  async request(method: string, path: string, o: RequestOptions = {}): Promise<Reply> {
    const body = o.body === undefined ? undefined : bytesOf(o.body);
    const signal = o.signal ?? AbortSignal.timeout(ANSWER_WITHIN_MS);
    const req = https.request({ ...this.#target(method, path), agent: this.#agent, signal });
    for (const [name, value] of Object.entries(this.#headers(o, body))) req.setHeader(name, value);
    req.end(body);
    const [res] = (await once(req, 'response')) as [
      NodeJS.ReadableStream & { statusCode: number; headers: IncomingHttpHeaders },
    ];
    const parts: Buffer[] = [];
    for await (const part of res) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    return { code: res.statusCode, headers: res.headers, text, body: documentOf(text) };
  }

  /** Opens a watch on a connection of its own; resolves when the answer's headers are there. */
  async watch(path: string, accept = 'application/json'): Promise<WatchReader> {
    const req = https.request({ ...this.#target('GET', path), agent: false });
    for (const [name, value] of Object.entries(this.#headers({ headers: { accept } }, undefined)))
      req.setHeader(name, value);
    req.end();
    const [res] = (await once(req, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
    return new WatchReader(res.statusCode, res, () => req.destroy());
  }

  close(): void {
    this.#agent.destroy();
  }

  #target(method: string, path: string): https.RequestOptions {
    return { host: this.url.hostname, port: this.url.port, method, path, rejectUnauthorized: false };
  }

  #headers({ type, headers }: RequestOptions, body: Buffer | undefined): Record<string, string> {
    return {
      authorization: `Bearer ${this.token}`,
      accept: 'application/json',
      ...(body === undefined
        ? {}
        : { 'content-type': type ?? 'application/json', 'content-length': String(body.length) }),
      ...headers,
    };
  }
}
