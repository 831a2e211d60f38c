import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { parse } from 'yaml';
import type { ApiObject } from '../../services/machinery/meta/object.js';
import { WatchReader } from './watch-reader.js';

export interface Credentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** Sent as a bearer token. */
  readonly token?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws with the body in the message when it is none. */
  json(): ApiObject;
}

export interface RequestBody {
  /** An object is sent as JSON, a string and bytes as they are. */
  readonly body?: object | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bare requests on kept connections: what is sent and what comes back is in the test's hand. */
export interface Client {
  request(method: string, path: string, o?: RequestBody): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body: object): Promise<Answer>;
  put(path: string, body: object): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Opens a watch. `path` carries `watch=1` and the rest of the query. */
  watch(path: string): Promise<WatchReader>;
  /** Ends all connections. */
  close(): void;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

/** The credentials in a client configuration file as `up` writes it. */
export function credentialsOf(kubeconfig: string): Credentials & { readonly server: string } {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig; // our own file
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const decoded = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  return {
    server: cluster['server'] ?? '',
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
}

/** A client with the administrator's certificate. */
export const client = (running: { readonly kubeconfig: string }): Client => {
  const { server, ...credentials } = credentialsOf(running.kubeconfig);
  return clientFor(server, credentials);
};

const REQUEST_MS = 30_000;

export function clientFor(server: string, { token, ...tls }: Credentials): Client {
  const agent = new Agent({ keepAlive: true, ...tls });
  const open = (method: string, path: string, o: RequestBody = {}): Promise<IncomingMessage> => {
    const [type, body] = encoded(o.body);
    const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...type, ...o.headers };
    return send(new URL(path, server), { method, agent, headers, timeout: REQUEST_MS }, body);
  };
  const request = async (method: string, path: string, o?: RequestBody): Promise<Answer> => {
    const res = await open(method, path, o);
    return answer(res, await textOf(res));
  };
  return {
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path) => request('DELETE', path),
    watch: async (path) => {
      const res = await open('GET', path);
      if (res.statusCode !== 200) throw new Error(`Watch answered ${res.statusCode ?? 0}: ${await textOf(res)}`);
      return new WatchReader(res);
    },
    close: () => agent.destroy(),
  };
}

function encoded(body: RequestBody['body']): [headers: Record<string, string>, body: string | Uint8Array | undefined] {
  if (body === undefined) return [{}, undefined];
  if (typeof body === 'string' || body instanceof Uint8Array) return [{}, body];
  return [{ 'content-type': 'application/json' }, JSON.stringify(body)];
}

function send(url: URL, o: RequestOptions, body: string | Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const req = httpsRequest(url, o, resolve);
    req.once('error', reject);
    req.once('timeout', () =>
      req.destroy(new Error(`${o.method ?? ''} ${url.pathname}: nothing came in ${REQUEST_MS} ms`)),
    );
    req.end(body);
  });
}

function answer(res: IncomingMessage, text: string): Answer {
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    text,
    json: () => {
      try {
        return JSON.parse(text) as ApiObject;
      } catch (err) {
        throw new Error(`Not JSON (${res.statusCode ?? 0}): ${text.slice(0, 500)}`, { cause: err });
      }
    },
  };
}
