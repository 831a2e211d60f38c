import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { WebSocket, type ClientOptions } from 'ws';
import { credentialsOf } from '../support/client.js';
import { configMap, configMapsIn, created, createConfigMap, eventually, newNamespace, ok } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer, TestServer } from './tools/server.js';

interface Message {
  readonly bytes: Buffer;
  readonly binary: boolean;
}

/** A watch over a web socket; `end` resolves with the close code. */
class SocketWatch {
  readonly ws: WebSocket;
  readonly end: Promise<number>;
  readonly #messages: Message[] = [];
  #wake = (): void => undefined;

  constructor(server: TestServer, path: string, protocols: string[] = [], o: ClientOptions = {}) {
    const { url, token } = server.client;
    const authorization = protocols.length > 0 || o.cert !== undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...authorization, ...o.headers };
    this.ws = new WebSocket(`wss://${url.host}${path}`, protocols, { rejectUnauthorized: false, ...o, headers });
    this.ws.on('message', (bytes: Buffer, binary: boolean) => {
      this.#messages.push({ bytes, binary });
      this.#wake();
    });
    this.ws.on('error', () => undefined); // the code says it
    this.end = new Promise((resolve) => this.ws.once('close', resolve));
  }

  get waiting(): number {
    return this.#messages.length;
  }

  async opened(): Promise<this> {
    if (this.ws.readyState !== WebSocket.OPEN) await once(this.ws, 'open');
    return this;
  }

  /** The status of an answer that is no web socket. */
  async refusal(): Promise<{ code: number; body: string }> {
    const [, res] = (await once(this.ws, 'unexpected-response')) as [unknown, NodeJS.ReadableStream & { statusCode: number }]; // prettier-ignore
    let body = '';
    for await (const part of res) body += String(part);
    return { code: res.statusCode, body };
  }

  async next(): Promise<Message> {
    for (;;) {
      const first = this.#messages.shift();
      if (first !== undefined) return first;
      assert.notEqual(this.ws.readyState, WebSocket.CLOSED, 'the socket is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        void this.end.then(() => resolve());
      });
    }
  }

  async event(): Promise<{ type: string; object: Record<string, unknown> & { metadata: { name: string } } }> {
    const { bytes, binary } = await this.next();
    assert.equal(binary, false);
    const text = String(bytes);
    assert.ok(text.endsWith('}\n') && text.indexOf('\n') === text.length - 1, text);
    return JSON.parse(text) as Awaited<ReturnType<SocketWatch['event']>>;
  }
}

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const WISH = ['Connection: Upgrade', 'Upgrade: websocket'];

onServer('A watch over a web socket', { store: 'embedded', flags: ['--vocabulary=kubernetes'] }, (server) => {
  let path: string;
  let namespace: string;
  const open: SocketWatch[] = [];
  const watch = (query = 'watch=1', protocols: string[] = [], o: ClientOptions = {}): SocketWatch => {
    const made = new SocketWatch(server(), `${path}?${query}`, protocols, o);
    open.push(made);
    return made;
  };
  const watching = (count: number): Promise<true> =>
    eventually(async () => ((await server().metric('apiserver_longrunning_requests')) === count ? true : undefined));

  beforeEach(async () => {
    namespace = await newNamespace(server().client);
    path = configMapsIn(namespace);
  });
  afterEach(async () => {
    for (const { ws } of open.splice(0)) ws.terminate();
    await watching(0); // whatever has happened, nothing is left
  });

  it('sends an event a message: what is there, and what happens', async () => {
    const { client } = server();
    await createConfigMap(client, namespace, 'a');
    await createConfigMap(client, namespace, 'b');
    const socket = await watch().opened();
    for (const name of ['a', 'b']) {
      const { type, object } = await socket.event();
      assert.deepEqual([type, object.metadata.name], ['ADDED', name]);
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => createConfigMap(client, namespace, `c-${i}`)));
    for (let i = 0; i < 20; i++) assert.equal((await socket.event()).type, 'ADDED');
    ok(await client.delete(`${path}/a`));
    assert.deepEqual((await socket.event()).type, 'DELETED');
  });

  it('ends with a normal close when its time is over', async () => {
    assert.equal(await watch('watch=1&timeoutSeconds=1').end, 1000);
  });

  it('answers on the older path of watching', async () => {
    await createConfigMap(server().client, namespace, 'a');
    const socket = new SocketWatch(server(), path.replace('/v1/', '/v1/watch/'));
    open.push(socket);
    assert.equal((await socket.event()).type, 'ADDED');
  });

  it('shows tables, parts of objects and Protobuf as other watches do', async () => {
    await createConfigMap(server().client, namespace, 'a');
    for (const [accept, kind] of [
      [TABLE, 'Table'],
      [PARTIAL, 'PartialObjectMetadata'],
    ] as const) {
      assert.equal((await watch('watch=1', [], { headers: { accept } }).event()).object['kind'], kind);
    }
    const { bytes, binary } = await watch('watch=1', [], { headers: { accept: PROTOBUF } }).next();
    assert.equal(binary, true);
    assert.equal(bytes.subarray(0, 7).toString('latin1'), '\n\x05ADDED'); // no length in front
  });

  it('takes a token among the protocols, and agrees to the one beside it', async () => {
    const carrier = (token: string): string =>
      `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
    const socket = await watch('watch=1', [carrier(server().client.token), 'mine']).opened();
    assert.equal(socket.ws.protocol, 'mine');
    assert.equal((await watch('watch=1', [carrier('wrong'), 'mine']).refusal()).code, 401);
  });

  it('is refused as any watch is, before it is a socket', async () => {
    const bad = await watch('watch=1&resourceVersion=x').refusal();
    assert.equal(bad.code, 400);
    assert.match(bad.body, /"kind":"Status"/);
    assert.equal((await watch('watch=1', [], { headers: { accept: 'text/plain' } }).refusal()).code, 406);
  });

  it('answers pings, and takes no notice of what a client says', async () => {
    const socket = await watch().opened();
    socket.ws.send('hello');
    socket.ws.ping('still there?');
    const [data] = (await once(socket.ws, 'pong')) as [Buffer];
    assert.equal(String(data), 'still there?');
    await createConfigMap(server().client, namespace, 'a');
    assert.equal((await socket.event()).type, 'ADDED');
  });

  it('is over when the client closes it, or is gone', async () => {
    const [one, other] = [await watch().opened(), await watch().opened()];
    await watching(2);
    one.ws.close(1000);
    assert.equal(await one.end, 1000);
    other.ws.terminate();
    await watching(0);
  });

  it('closes a socket on which too much is said, or what is no frame', async () => {
    const chatty = await watch().opened();
    chatty.ws.send(Buffer.alloc(100_000));
    assert.equal(await chatty.end, 1009);
    const raw = await RawConnection.open(server().client);
    raw.send(requestHead(server().client, 'GET', `${path}?watch=1`, [...WISH, KEY, 'Sec-WebSocket-Version: 13']));
    await raw.until(/^HTTP\/1\.1 101 /);
    raw.send('GET / HTTP/1.1\r\n\r\n');
    assert.match(await raw.closed, /\x88\x02\x03\xea/); // a close frame with 1002
    assert.ok(server().alive);
  });

  it('refuses malformed handshakes in a Status', async () => {
    const malformed = [
      [KEY, 'Sec-WebSocket-Version: 99'],
      ['Sec-WebSocket-Key: short', 'Sec-WebSocket-Version: 13'],
      ['Sec-WebSocket-Version: 13'],
      [KEY, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Protocol: a,,b'],
      [KEY, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Protocol: a, a'],
    ];
    for (const headers of malformed) {
      const raw = await RawConnection.open(server().client);
      raw.send(requestHead(server().client, 'GET', `${path}?watch=1`, [...WISH, ...headers]));
      assert.match(await raw.closed, /^HTTP\/1\.1 400 [^]*"kind":"Status"/, String(headers));
    }
    assert.doesNotMatch(server().log, /"level":50/);
  });

  it('answers what is no watch as ever', async () => {
    const raw = await RawConnection.open(server().client);
    const head = requestHead(server().client, 'GET', `${path}?limit=1`, [...WISH, KEY, 'Sec-WebSocket-Version: 13']);
    raw.send(head + head);
    await raw.until(/ConfigMapList[^]*HTTP\/1\.1 200 [^]*ConfigMapList/);
    raw.destroy();
  });

  it('loses nothing when the receiver is slow', async () => {
    const { client } = server();
    const socket = await watch().opened();
    socket.ws.pause();
    const data = { text: 'x'.repeat(100_000) };
    for (let i = 0; i < 100; i++) created(await client.post(path, configMap(`a-${i}`, { data })));
    assert.equal(socket.waiting, 0);
    socket.ws.resume();
    for (let i = 0; i < 100; i++) assert.equal((await socket.event()).object.metadata.name, `a-${i}`);
  });

  it('may not be opened by a page of another origin with the certificate of its reader', async () => {
    const { server: at, cert = '', key = '' } = credentialsOf(join(server().directory, 'admin.kubeconfig'));
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:1`]) {
      const { code, body } = await watch('watch=1', [], { cert, key, origin }).refusal();
      assert.deepEqual([code, body.includes('"reason":"Forbidden"')], [403, true], origin);
    }
    for (const origin of [at, at.replace('https', 'http')]) {
      await watch('watch=1', [], { cert, key, origin }).opened();
    }
    await watch('watch=1', [], { cert, key }).opened();
    await watch('watch=1', [], { origin: 'https://console.example' }).opened(); // it has a token
  });

  it('ends when the server does, and says that it goes away', async () => {
    const other = await TestServer.start({ store: 'embedded' });
    try {
      const socket = await new SocketWatch(other, '/api/v1/namespaces?watch=1').opened();
      await other.end();
      assert.equal(await socket.end, 1001);
    } finally {
      await other.close();
    }
  });
});
