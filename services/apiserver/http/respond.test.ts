import assert from 'node:assert/strict';
import { StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import { respondJson, respondPieces, respondStatus } from './respond.js';

const OBJECT = { a: { b: [1] } };
const COMPACT = JSON.stringify(OBJECT);
const INDENTED = JSON.stringify(OBJECT, null, 2);
const JSON_TYPE = 'application/json';

/** One exchange, as far as an answer takes notice of it. */
class Exchange {
  readonly headers: Record<string, string | number> = {};
  readonly #written: Buffer[] = [];
  readonly ctx: Context;

  constructor(agent: string | undefined, query = '', accept = '') {
    const ctx = {
      state: { query: new URLSearchParams(query), signal: new AbortController().signal },
      req: { headers: { 'user-agent': agent } },
      res: {
        writeHead: (_: number, head: Record<string, string | number>) => void Object.assign(this.headers, head),
        write: (piece: Buffer) => this.#written.push(piece) > 0,
        end: (piece?: Buffer): void => {
          if (piece !== undefined) this.#written.push(piece);
        },
      },
      get: (name: string) => (name === 'Accept' ? accept : ''),
      set: (name: string, value: string) => void (this.headers[name] = value),
      body: Buffer.alloc(0),
    };
    this.ctx = ctx as unknown as Context; // an answer asks nothing else of it
  }

  get sent(): string {
    return Buffer.concat([...this.#written, this.ctx.body as Buffer]).toString();
  }
}

const answer = async (agent: string | undefined, query?: string, type = JSON_TYPE): Promise<string> => {
  const exchange = new Exchange(agent, query);
  await respondJson(exchange.ctx, 200, Buffer.from(COMPACT), type);
  assert.equal(exchange.headers['Content-Length'], exchange.sent.length);
  return exchange.sent;
};

const PEOPLE = ['curl/8.5.0', 'Wget/1.21.4', 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0'];
const PROGRAMS = ['kubectl/v1.36.3', 'python-requests/2.32', 'my-curl/1', 'wget/1', 'Mozilla/4.0', '', undefined];

describe('an answer in JSON', () => {
  for (const agent of PEOPLE) {
    it(`is indented for ${agent}, unless it is asked for without`, async () => {
      assert.equal(await answer(agent), INDENTED);
      assert.equal(await answer(agent, 'pretty='), INDENTED);
      for (const off of ['pretty=false', 'pretty=0']) assert.equal(await answer(agent, off), COMPACT);
    });
  }

  for (const agent of PROGRAMS) {
    it(`is compact for ${agent ?? 'who says nothing of itself'}, unless it is asked for otherwise`, async () => {
      assert.equal(await answer(agent), COMPACT);
      for (const on of ['pretty=true', 'pretty=1']) assert.equal(await answer(agent, on), INDENTED);
    });
  }

  it('is indented as a whole where it is sent in pieces', async () => {
    const items = Array.from({ length: 20_000 }, (_, i) => i);
    const text = JSON.stringify({ items });
    const exchange = new Exchange('curl/8.5.0');
    await respondPieces(exchange.ctx, [Buffer.from(text.slice(0, 10)), Buffer.from(text.slice(10))], JSON_TYPE);
    assert.equal(exchange.sent, JSON.stringify({ items }, null, 2));
  });

  it('is indented when it tells of a failure', () => {
    for (const [agent, lines] of [
      ['curl/8.5.0', true],
      ['kubectl/v1.36.3', false],
    ] as const) {
      const exchange = new Exchange(agent);
      respondStatus(exchange.ctx, new StatusError('NotFound', 'not there'));
      assert.equal(exchange.sent.includes('\n  "code": 404'), lines);
    }
  });
});

it('an answer in any other form is as it is for everybody', async () => {
  assert.equal(await answer('curl/8.5.0', 'pretty=true', 'application/vnd.kubernetes.protobuf'), COMPACT);
  assert.equal(await answer('kubectl/v1.36.3', 'pretty=true', 'application/yaml'), 'a:\n  b:\n  - 1\n');
});
