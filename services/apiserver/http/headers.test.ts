import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { headersOf, removeHeaders, replaceHeader } from './headers.js';

const isOurs = (name: string): boolean => name === 'who' || name.startsWith('who-');
const raw = (...rawHeaders: string[]): Parameters<typeof headersOf>[0] => ({ headers: {}, rawHeaders });

describe('headersOf()', () => {
  for (const value of [' bob', 'bob ', '\tbob', 'bob\t', ' ', '\xff', 'bob\xc3']) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      assert.throws(() => headersOf(raw('Who', value), isOurs), { reason: 'BadRequest' });
    });
  }

  it('tells those apart that came under one name', () => {
    assert.deepEqual(headersOf(raw('Who', 'a, b', 'Other', ' x ', 'wHO', '', 'WHO-Else', 'Zo\xc3\xab'), isOurs), [
      { name: 'who', value: 'a, b' },
      { name: 'who', value: '' },
      { name: 'who-else', value: 'Zoë' },
    ]);
  });
});

describe('removeHeaders() and replaceHeader()', () => {
  /** What a real request holds, in all three forms, after `change`. */
  const changed = async (headers: readonly string[], change: (req: IncomingMessage) => void): Promise<unknown> => {
    const server = createServer((req, res) => {
      change(req);
      const { host, connection, ...distinct } = req.headersDistinct;
      res.end(JSON.stringify([{ ...req.headers, host: undefined, connection: undefined }, distinct, req.rawHeaders]));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const req = request({ port, headers: ['Host', 'x', 'Connection', 'close', ...headers] }); // names may come twice
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    const found: unknown = JSON.parse(await text(res));
    server.close();
    return found;
  };
  const OURS = ['Host', 'x', 'Connection', 'close'];

  it('leave the others, in every form', async () => {
    const found = await changed(['WHO', 'a', 'Other', 'c', 'Who-Else', 'b', 'other', 'd'], (req) =>
      removeHeaders(req, isOurs),
    );
    assert.deepEqual(found, [{ other: 'c, d' }, { other: ['c', 'd'] }, [...OURS, 'Other', 'c', 'other', 'd']]);
  });

  it('put one value in place of several', async () => {
    const found = await changed(['Who', 'a', 'Other', 'c', 'who', 'b'], (req) => replaceHeader(req, 'who', 'd'));
    assert.deepEqual(found, [{ other: 'c', who: 'd' }, { other: ['c'], who: ['d'] }, [...OURS, 'Other', 'c', 'who', 'd']]); // prettier-ignore
  });
});
