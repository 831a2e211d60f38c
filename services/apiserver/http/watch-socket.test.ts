import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Context } from '../request/request.js';
import { openWatchSocket, socketServer, TEXT_MESSAGES } from './watch-socket.js';

const HEADERS = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-version': '13',
};

/** A connection whose client reads the answer to the upgrade and nothing after it. */
class DeafClient extends Duplex {
  /** Sends what the client says. */
  say(bytes: Buffer): Promise<void> {
    this.push(bytes);
    return new Promise((resolve) => setImmediate(resolve));
  }
  setTimeout(): void {
    // no time passes here
  }
  setNoDelay(): void {
    // nor is there a delay
  }
  override _read(): void {
    // the test pushes
  }
  override _write(): void {
    // takes the first bytes and never says that they are gone
  }
}

/** A ping of 125 bytes, the longest there is, masked with zeros as all that clients send is masked. */
const PING = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);

describe('openWatchSocket()', () => {
  it('answers no more pings than a client that reads nothing has room for', async () => {
    const client = new DeafClient();
    const socket = client as unknown as Socket; // the part of one that is used
    const req = { method: 'GET', headers: HEADERS } as unknown as IncomingMessage;
    const ctx = { req, state: { signal: new AbortController().signal } } as unknown as Context;
    const upgrade = { protocol: 'websocket', head: Buffer.alloc(0), take: () => socket };
    openWatchSocket(await socketServer(), ctx, { upgrade, messages: TEXT_MESSAGES });
    await client.say(PING);
    const first = client.writableLength;
    for (let i = 0; i < 200; i++) await client.say(Buffer.concat(Array.from({ length: 20 }, () => PING)));
    assert.ok(first > 0, 'pings are answered');
    assert.ok(client.writableLength > 60_000 && client.writableLength < 70_000, String(client.writableLength));
    client.destroy();
  });
});
