import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tcpProxy, type TcpProxy } from './tcp-proxy.js';

/** Numbers in a row, so that what is out of order shows. */
const SENT = Buffer.from(Array.from({ length: 100_000 }, (_, i) => String(i).padStart(7)).join(''));
const PIECE = 1_000;

describe('a wire that can be cut', () => {
  let server: Server;
  let wire: TcpProxy;
  let client: Socket;
  let accepted: Promise<Socket>;
  const received: Buffer[] = [];
  const size = (): number => received.reduce((sum, { length }) => sum + length, 0);
  const until = async (bytes: number): Promise<void> => {
    while (size() < bytes) await once(client, 'data');
  };

  beforeEach(async () => {
    received.length = 0;
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    accepted = once(server, 'connection').then(([socket]) => socket as Socket);
    wire = await tcpProxy((server.address() as AddressInfo).port);
    client = connect(wire.port, '127.0.0.1').on('data', (part) => received.push(part));
    await once(client, 'connect');
  });
  afterEach(async () => {
    client.destroy();
    await wire.close();
    server.close();
  });

  it('keeps the order of bytes when it is slow, and when that ends with something left', async () => {
    const answering = await accepted;
    wire.slow(PIECE);
    answering.write(SENT);
    await until(3 * PIECE);
    wire.resume();
    answering.end(SENT);
    await until(2 * SENT.length);
    assert.ok(Buffer.concat(received).equals(Buffer.concat([SENT, SENT])));
  });

  it('holds what is left of a slow answer, too', async () => {
    const answering = await accepted;
    wire.slow(PIECE);
    answering.write(SENT);
    await until(PIECE);
    wire.pause();
    const through = wire.answeredBytes;
    answering.end(SENT);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(wire.answeredBytes, through);
    wire.resume();
    await until(2 * SENT.length);
    assert.ok(Buffer.concat(received).equals(Buffer.concat([SENT, SENT])));
  });
});
