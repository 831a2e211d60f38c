import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { once } from 'node:events';
import { bytesOf, documentOf, type Client, type Reply, type RequestOptions } from './client.js';
import { WatchReader } from './watch-reader.js';

/** Speaks HTTP/2 to the server of a `Client`, everything on one connection. */
export class Http2Client {
  readonly session: ClientHttp2Session;
  readonly #token: string;

  private constructor(session: ClientHttp2Session, token: string) {
    this.session = session;
    this.#token = token;
  }

  static async connect({ url, token }: Client): Promise<Http2Client> {
    const session = http2.connect(url, { rejectUnauthorized: false });
    session.on('error', () => undefined); // told to the streams
    session.setMaxListeners(0);
    await once(session, 'connect');
    return new Http2Client(session, token);
  }

  async request(method: string, path: string, o: RequestOptions = {}): Promise<Reply> {
    const body = o.body === undefined ? undefined : bytesOf(o.body);
    const entity = body === undefined ? {} : { 'content-type': o.type ?? 'application/json' };
    const stream = this.open(method, path, { ...entity, ...o.headers });
    stream.end(body);
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    return { code: headers[':status'], headers, text, body: documentOf(text) };
  }

  async watch(path: string): Promise<WatchReader> {
    const stream = this.open('GET', path);
    stream.end();
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    return new WatchReader(headers[':status'], stream, () => stream.close(http2.constants.NGHTTP2_CANCEL));
  }

  open(method: string, path: string, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
    return this.session.request({
      ':method': method,
      ':path': path,
      authorization: `Bearer ${this.#token}`,
      accept: 'application/json',
      ...headers,
    });
  }

  close(): void {
    this.session.destroy();
  }
}
