import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { KeptSockets } from './kept-sockets.js';

describe('KeptSockets', () => {
  let server: Server;
  let far: Socket[];
  let now: number;
  let free: KeptSockets;
  const opened: Socket[] = [];
  beforeEach(async () => {
    [far, now] = [[], 0];
    free = new KeptSockets(() => now);
    server = createServer((socket) => void far.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const socket of [...opened.splice(0), ...far]) socket.destroy();
    server.close();
  });

  const open = async (): Promise<Socket> => {
    const count = far.length;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    opened.push(socket);
    await once(socket, 'connect');
    while (far.length === count) await new Promise((turn) => setImmediate(turn));
    return socket;
  };
  const kept = async (place = 'a', ms = Infinity): Promise<Socket> => {
    const socket = await open();
    free.keep(place, socket, ms);
    return socket;
  };
  const closed = async (socket: Socket): Promise<void> => {
    if (!socket.closed) await once(socket, 'close');
  };

  it('gives each to one request, the last one first, and none that leads elsewhere', async () => {
    const [one, two] = [await kept(), await kept()];
    const other = await kept('b');
    assert.deepEqual([free.take('c', 'any'), free.take('a', 'any'), free.take('a', 'any'), free.take('a', 'any')].map((it) => it && opened.indexOf(it)), [undefined, 1, 0, undefined]); // prettier-ignore
    assert.deepEqual([one.destroyed, two.destroyed, free.size], [false, false, 1]);
    assert.equal(free.take('b', 'any'), other);
  });

  it('leaves nothing of its own on them', async () => {
    const socket = await open();
    const count = (): number[] => ['data', 'end', 'error', 'close', 'timeout'].map((it) => socket.listenerCount(it));
    const before = count();
    for (let i = 0; i < 3; i++) {
      free.keep('a', socket, 1_000);
      assert.equal(socket.timeout, 1_000);
      assert.equal(free.take('a', 'any'), socket);
    }
    assert.deepEqual([count(), socket.timeout], [before, 0]);
  });

  it('gives none to those that want a new one, and none that was free for long to those that cannot ask twice', async () => {
    await kept();
    assert.equal(free.take('a', 'new'), undefined);
    now = 1_001;
    assert.equal(free.take('a', 'recent'), undefined);
    const later = await kept();
    now += 1_000;
    assert.equal(free.take('a', 'recent'), later);
    assert.notEqual(free.take('a', 'any'), undefined);
  });

  it('keeps them for as long as both sides do', async () => {
    assert.deepEqual([(await kept('a')).timeout, (await kept('a', 4_000)).timeout], [30_000, 4_000]);
    const socket = await kept('a', 1);
    await closed(socket);
    assert.equal(free.size, 2);
  });

  it('gives none that the other side has ended, or on which it says what nobody asked for', async () => {
    const [ended, said] = [await kept(), await kept()];
    far[0]?.end();
    far[1]?.write('HTTP/1.1 200 OK\r\n\r\n');
    await Promise.all([closed(ended), closed(said)]);
    assert.equal(free.take('a', 'any'), undefined);
    assert.equal(free.size, 0);
  });

  it('takes none that is over', async () => {
    const socket = await open();
    socket.end();
    free.keep('a', socket, Infinity);
    assert.deepEqual([free.size, socket.destroyed], [0, true]);
  });

  it('keeps some of a place, and some in all', async () => {
    for (let i = 0; i < 9; i++) await kept('a');
    assert.equal(free.size, 8);
    assert.deepEqual(opened.map((it) => it.destroyed), [...Array<boolean>(8).fill(false), true]); // prettier-ignore
    for (let i = 0; i < 25; i++) await kept(`b${i}`);
    assert.equal(free.size, 32);
  });

  it('closes what is free, and what becomes free later', async () => {
    const [one, late] = [await kept(), await open()];
    free.close();
    free.keep('a', late, Infinity);
    assert.deepEqual([free.isClosed, free.size, one.destroyed, late.destroyed], [true, 0, true, true]);
  });
});
