import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { Http2Client } from './tools/http2-client.js';
import { configMapsIn, createConfigMap, eventually, newNamespace } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer, type TestServer } from './tools/server.js';

const OBJECTS = 600;
const REQUESTS = 200;
/** Bodies and answers that do not move end with this. */
const REQUEST_TIMEOUT = '2s';

/** Bounded waits, on counts that the server tells: until nobody but the question itself is under way. */
const untilNothingRuns = (server: TestServer): Promise<true> =>
  eventually(async () => {
    const executing = await server.metric('apiserver_flowcontrol_current_executing_requests');
    const watchers = await server.metric('apiserver_registered_watchers');
    const longRunning = await server.metric('apiserver_longrunning_requests');
    return executing === 1 && watchers === 0 && longRunning === 0 ? true : undefined;
  });

onServer('A client that goes away', { store: 'etcd', flags: [`--request-timeout=${REQUEST_TIMEOUT}`] }, (server) => {
  let namespace: string;
  before(async () => {
    const { client } = server();
    namespace = await newNamespace(client);
    const data = { text: 'x'.repeat(2_000) };
    await Promise.all(
      Array.from({ length: OBJECTS }, (_, i) => createConfigMap(client, namespace, `a-${i}`, { data })),
    );
  });
  afterEach(async () => {
    await untilNothingRuns(server());
    assert.ok(server().alive);
  });

  /** Asks many times on one connection, and cancels each request when `when` says. */
  const cancelled = async (path: string, accept: string, when: 'at once' | 'with the headers'): Promise<void> => {
    const client = await Http2Client.connect(server().client);
    const streams = Array.from({ length: REQUESTS }, () => client.open('GET', path, { accept }));
    const closed = streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)));
    for (const stream of streams) stream.on('error', () => undefined); // a cancelled one may be refused
    const cancel = (stream: http2.ClientHttp2Stream): void => {
      stream.resume(); // an answer that is complete is closed when it is read
      stream.close(http2.constants.NGHTTP2_CANCEL);
    };
    if (when === 'at once') {
      await new Promise((resolve) => client.session.ping(resolve)); // what is answered came behind the requests
      for (const stream of streams) cancel(stream);
    } else {
      for (const stream of streams) stream.once('response', () => cancel(stream));
    }
    await Promise.all(closed);
    client.close();
  };

  const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  for (const accept of ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml', TABLE]) {
    for (const when of ['at once', 'with the headers'] as const) {
      it(`gives its seats back when it cancels lists ${when} (${accept})`, () =>
        cancelled(configMapsIn(namespace), accept, when));
    }
  }

  it('is not counted as a watcher any more when it cancels watches', async () => {
    for (const query of ['watch=1', 'watch=1&resourceVersion=0', 'watch=1&resourceVersion=9999999']) {
      await cancelled(`${configMapsIn(namespace)}?${query}`, 'application/json', 'at once');
    }
  });

  it('gives its seats back when it closes connections on which lists are on their way', async () => {
    const head = requestHead(server().client, 'GET', configMapsIn(namespace));
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const connection = await RawConnection.open(server().client);
        connection.send(`${head}${head}`); // the second waits behind the first
        connection.destroy();
        await connection.closed;
      }),
    );
  });

  it('gives its seat back when it announces a body and leaves', async () => {
    const head = requestHead(server().client, 'POST', configMapsIn(namespace), [
      'Content-Length: 100',
      'Content-Type: application/json',
    ]);
    const connection = await RawConnection.open(server().client);
    connection.send(head);
    connection.destroy();
  });

  it('is answered with a Timeout when it announces a body and sends none', async () => {
    const head = requestHead(server().client, 'POST', configMapsIn(namespace), ['Content-Length: 100']);
    const connection = await RawConnection.open(server().client);
    connection.send(head);
    await connection.until(/^HTTP\/1\.1 504 /);
    await untilNothingRuns(server());
    connection.destroy();
  });

  it('loses its connection when it never reads an answer', async () => {
    const client = await Http2Client.connect(server().client);
    const stream = client.open('GET', configMapsIn(namespace));
    const broken = new Promise((resolve) => stream.once('error', resolve).once('aborted', resolve));
    stream.once('response', () => stream.pause());
    await broken;
    await untilNothingRuns(server());
    client.close();
  });

  it('ends the deletion of a collection', async () => {
    const doomed = await newNamespace(server().client);
    await Promise.all(Array.from({ length: OBJECTS }, (_, i) => createConfigMap(server().client, doomed, `a-${i}`)));
    const watch = await server().client.watch(`${configMapsIn(doomed)}?watch=1&resourceVersion=0`);
    const client = await Http2Client.connect(server().client);
    const stream = client.open('DELETE', configMapsIn(doomed));
    stream.on('error', () => undefined);
    stream.end();
    while ((await watch.next()).type !== 'DELETED');
    client.close();
    watch.close();
    await untilNothingRuns(server());
    const { items } = (await server().client.get(configMapsIn(doomed))).body;
    assert.ok(items.length > 0, 'all are deleted');
  });
});
