import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tunnel } from './tunnel.js';

const LONG_MS = 60_000;

describe('tunnel()', () => {
  let server: Server;
  const open: Socket[] = [];

  /** Both ends of a connection; the far one stays half open when the near one ends. */
  async function pair(): Promise<{ near: Socket; far: Socket }> {
    const accepted = once(server, 'connection');
    const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [far] = (await accepted) as [Socket];
    far.on('error', () => undefined);
    open.push(near, far);
    return { near, far };
  }

  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
    server.close();
  });

  it('carries bytes both ways', async () => {
    const [a, b] = [await pair(), await pair()];
    const { end, over } = tunnel(a.near, b.near, LONG_MS);
    a.far.write('there');
    assert.equal(String((await once(b.far, 'data'))[0]), 'there');
    b.far.write('back');
    assert.equal(String((await once(a.far, 'data'))[0]), 'back');
    end();
    await over;
  });

  it('delivers what one side said last, and closes the other though it would go on', async () => {
    const [a, b] = [await pair(), await pair()];
    const { over } = tunnel(a.near, b.near, LONG_MS);
    let got = 0;
    b.far.on('data', (part: Buffer) => (got += part.length));
    a.far.end(Buffer.alloc(3_000_000));
    await Promise.all([over, once(b.far, 'end')]);
    assert.equal(got, 3_000_000);
    assert.ok(a.near.destroyed && b.near.destroyed);
  });

  it('closes one side when the other is reset', async () => {
    const [a, b] = [await pair(), await pair()];
    const { over } = tunnel(a.near, b.near, LONG_MS);
    a.far.resetAndDestroy();
    b.far.resume();
    await Promise.all([over, once(b.far, 'end')]);
  });

  it('is over when a side had gone before', async () => {
    const [a, b] = [await pair(), await pair()];
    a.near.destroy();
    await once(a.near, 'close');
    await tunnel(a.near, b.near, LONG_MS).over;
    assert.ok(b.near.destroyed);
  });

  it('cuts a side that does not take what the other has left behind', async () => {
    const [a, b] = [await pair(), await pair()];
    const { over } = tunnel(a.near, b.near, 200);
    a.far.pause(); // never reads
    b.far.write(Buffer.alloc(30_000_000), () => b.far.destroy());
    await over;
    assert.ok(a.near.destroyed && b.near.destroyed);
  });
});
