import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';

import { FrameReader, frame } from '../etcd/frames.js';

const proto = loadSync(fileURLToPath(new URL('../../../proto/etcd/rpc.proto', import.meta.url)), { keepCase: true });
const service = (name: string): ServiceDefinition => proto[`etcdserverpb.${name}`] as ServiceDefinition;
const { Watch } = service('Watch') as { readonly Watch: MethodDefinition<object, object> };
const UNARY = new Map<string, MethodDefinition<object, object>>(
  [...Object.values(service('KV')), ...Object.values(service('Maintenance'))].map((it) => [it.path, it]),
);
const FUTURE = 'etcdserver: mvcc: required revision is a future revision';

interface WatchRequest {
  readonly create_request?: { readonly start_revision: unknown };
  readonly progress_request?: object;
}

interface RangeRequest {
  readonly key: Buffer;
  readonly revision: unknown;
}

interface TxnRequest {
  readonly success: readonly { readonly request_put?: object }[];
}

/** An etcd of one process and no data, whose history goes as a test says: back, aside, or nowhere. */
export class ScriptedEtcd {
  /** The revision that its answers tell. A write raises it. */
  head: number;
  cluster = 1;
  /** Whether a write gets a revision of its own. */
  counts = true;
  /** At which revision a key was changed last, whatever revision it is read at. */
  readonly keys = new Map<string, number>();
  /** From where each watch began, in order. */
  readonly creates: number[] = [];
  /** The stream of the newest watch. */
  stream: ServerHttp2Stream | undefined;
  #waiting: { readonly streams: number; readonly wake: () => void }[] = [];
  readonly #server: Http2Server = createServer();

  private constructor(head: number) {
    this.head = head;
    this.#server.on('stream', (stream, { ':path': path }) => this.#serve(stream, String(path)));
  }

  static async start(head: number): Promise<ScriptedEtcd> {
    const etcd = new ScriptedEtcd(head);
    etcd.#server.listen(0, '127.0.0.1');
    await once(etcd.#server, 'listening');
    return etcd;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  /** Its clients close their connections first. */
  close(): void {
    this.#server.close();
  }

  /** Resolves when so many watches have begun, those that took the place of another included. */
  async watched(streams: number): Promise<void> {
    if (this.creates.length < streams) await new Promise<void>((wake) => this.#waiting.push({ streams, wake }));
  }

  /** Sends something to the newest watch. */
  send(response: object): void {
    this.stream?.write(frame(Watch.responseSerialize({ header: this.#header(), ...response })));
  }

  /** Tells the newest watch of a change. */
  sendPut(key: string, at: number): void {
    const kv = { key: Buffer.from(key), mod_revision: at, create_revision: at, version: 1, value: Buffer.from('v') };
    this.send({ events: [{ type: 'PUT', kv }] });
  }

  #header(): object {
    return { cluster_id: this.cluster, member_id: 1, revision: this.head, raft_term: 1 };
  }

  #serve(stream: ServerHttp2Stream, path: string): void {
    const frames = new FrameReader();
    stream.on('error', () => undefined); // told to the other side by its end
    stream.on('data', (chunk: Buffer) => {
      frames.push(chunk);
      for (let message = frames.next(); message !== undefined; message = frames.next()) {
        if (path === Watch.path) this.#watch(Watch.requestDeserialize(message));
        else this.#answer(stream, path, message);
      }
    });
    if (path !== Watch.path) return;
    this.stream = stream;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  }

  #watch({ create_request, progress_request }: WatchRequest): void {
    if (create_request) {
      this.creates.push(Number(create_request.start_revision));
      this.send({ created: true });
      const ready = this.#waiting.filter((it) => it.streams <= this.creates.length);
      this.#waiting = this.#waiting.filter((it) => !ready.includes(it));
      for (const it of ready) it.wake();
    } else if (progress_request) this.send({ watch_id: -1 });
  }

  #answer(stream: ServerHttp2Stream, path: string, message: Buffer): void {
    const method = UNARY.get(path);
    if (method === undefined) throw new Error(`No answer is scripted for ${path}`);
    const answer = this.#responseTo(path, method.requestDeserialize(message));
    const head = { ':status': 200, 'content-type': 'application/grpc' };
    if (typeof answer === 'string') {
      stream.respond({ ...head, 'grpc-status': '11', 'grpc-message': answer }, { endStream: true });
      return;
    }
    stream.respond(head, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(frame(method.responseSerialize({ header: this.#header(), ...answer })));
  }

  /** A text is the message of the failure OutOfRange. */
  #responseTo(path: string, request: object): object | string {
    if (path.endsWith('/Status')) return { version: '3.6.11' };
    if (path.endsWith('/Txn')) {
      const puts = (request as TxnRequest).success.some((it) => it.request_put !== undefined);
      if (puts && this.counts) this.head++;
      return { succeeded: true };
    }
    const { key, revision } = request as RangeRequest;
    if (Number(revision) > this.head) return FUTURE;
    const at = this.keys.get(key.toString());
    return at === undefined ? {} : { count: 1, kvs: [{ key, mod_revision: at, create_revision: at, version: 1 }] };
  }
}
