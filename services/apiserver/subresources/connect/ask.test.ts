import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ask, StaleConnection, type Question, type Reply } from './ask.js';
import { Connection } from './connection.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET: Question = { method: 'GET', path: '/', headers: {}, body: undefined, answerMs: 60_000 };

describe('ask()', () => {
  let server: Server;
  let heard: string[];
  /** What is answered to each head, by turns; undefined: the connection ends. */
  let answers: (string | undefined)[];
  let kept: { readonly socket: Socket; readonly ms: number }[];
  const sockets: Socket[] = [];
  beforeEach(async () => {
    [heard, answers, kept] = [[], [], []];
    server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (data: Buffer) => {
          heard.push(data.toString('latin1'));
          const answer = answers.shift();
          if (answer === undefined) socket.end();
          else socket.write(answer);
        });
      sockets.push(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const keep = (socket: Socket, ms: number): void => void kept.push({ socket, ms });
  const over = async ({ answer }: Reply): Promise<string> => {
    const body = await text(answer);
    await new Promise((turn) => setImmediate(turn));
    return body;
  };
  const askedOver = async (connection: Connection, q: Partial<Question> = {}): Promise<void> => {
    await over(await ask(connection, { ...GET, ...q }));
    connection.release();
  };

  it('leaves a connection free for one request after the other, with nothing of the last one on it', async () => {
    const socket = await open();
    const names = ['data', 'end', 'error', 'close', 'drain', 'timeout'];
    const counts: number[][] = [];
    for (let i = 0; i < 12; i++) {
      answers.push(OK);
      await askedOver(new Connection(socket, keep, i === 0 ? 'first' : 'further'));
      counts.push(names.map((it) => socket.listenerCount(it)));
    }
    assert.equal(kept.length, 12);
    assert.deepEqual(counts.at(-1), counts[0]);
    assert.match(heard[11] ?? '', /\r\nconnection: keep-alive\r\n/i);
  });

  it('keeps none that is for one request, or whose other end will not keep it', async () => {
    const only = new Connection(await open());
    answers.push(OK);
    await askedOver(only);
    assert.match(heard[0] ?? '', /\r\nconnection: close\r\n/i);
    for (const head of [
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0',
      'HTTP/1.0 200 OK\r\nContent-Length: 0',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=1',
    ]) {
      // prettier-ignore
      const connection = new Connection(await open(), keep);
      answers.push(`${head}\r\n\r\n`);
      await askedOver(connection);
      assert.equal(connection.socket.destroyed, true, head);
    }
    assert.deepEqual([only.socket.destroyed, kept], [true, []]);
  });

  it('keeps it for a second less than the other end says', async () => {
    for (const hint of ['timeout=5', 'max=9, timeout=7', 'timeouts=5', 'xtimeout=5']) {
      answers.push(OK.replace('\r\n\r\n', `\r\nKeep-Alive: ${hint}\r\n\r\n`));
      await askedOver(new Connection(await open(), keep));
    }
    assert.deepEqual(kept.map(({ ms }) => ms), [4_000, 6_000, Infinity, Infinity]); // prettier-ignore
  });

  it('keeps none whose answer is not read to its end, or whose request is not', async () => {
    const unread = new Connection(await open(), keep);
    answers.push(OK);
    const { answer } = await ask(unread, GET);
    answer.on('error', () => undefined);
    unread.release();
    const body = new PassThrough();
    const unsent = new Connection(await open(), keep);
    answers.push(OK);
    const asked = ask(unsent, { ...GET, method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body });
    body.write('part');
    await over(await asked);
    unsent.release();
    assert.deepEqual([unread.socket.destroyed, unsent.socket.destroyed, kept], [true, true, []]);
  });

  it('keeps none that goes on in another protocol', async () => {
    const connection = new Connection(await open(), keep);
    answers.push('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    const { upgraded } = await ask(connection, { ...GET, headers: { connection: 'Upgrade', upgrade: 'x' } });
    assert.equal(upgraded?.length, 0);
    connection.release();
    assert.deepEqual([connection.socket.destroyed, kept], [true, []]);
  });

  it('tells of one that was used and ended before a byte of the answer came', async () => {
    const isStale = (err: unknown): boolean => err instanceof StaleConnection && err.code === 503;
    const used = new Connection(await open(), keep, 'further');
    await assert.rejects(ask(used, GET), (err) => isStale(err));
    const first = new Connection(await open(), keep);
    await assert.rejects(ask(first, GET), (err) => !isStale(err));
    const begun = new Connection(await open(), keep, 'further');
    answers.push('HTTP/1.1 2');
    const asked = ask(begun, GET).catch((err: unknown) => err);
    await once(begun.socket, 'data');
    for (const socket of sockets) if (socket !== begun.socket) socket.end();
    assert.equal(isStale(await asked), false);
    const silent = new Connection(await open(), keep, 'further');
    answers.push('');
    await assert.rejects(
      ask(silent, { ...GET, answerMs: 1 }),
      (err: Error) => !isStale(err) && err.message === 'error trying to reach service: timed out waiting for an answer',
    );
  });
});
