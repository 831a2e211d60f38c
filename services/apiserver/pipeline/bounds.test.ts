import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { CLIENT_LEFT } from '../http/exchange.js';
import { bounds } from './exchange-stages.js';
import type { Context, RequestInfo } from '../request/request.js';

const PATH = { kind: 'path', verb: 'get', path: '/version' } as RequestInfo;
const of = (verb: string, subresource = ''): RequestInfo =>
  ({ kind: 'resource', verb, subresource, resource: 'pods', group: '' }) as unknown as RequestInfo;

describe('bounds()', () => {
  let nowMs: number;
  let res: EventEmitter & { closed: boolean };
  beforeEach(() => {
    nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => nowMs);
    res = Object.assign(new EventEmitter(), { closed: false });
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  /** The context of a request that may take a second. */
  const begun = async (info: RequestInfo): Promise<Context> => {
    const req = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const ctx = { req, res } as unknown as Context; // nothing else of it is asked
    let passed = false;
    await bounds(1000)(ctx, () => Promise.resolve(void (passed = true)));
    assert.ok(passed);
    ctx.state.info = info;
    return ctx;
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    mock.timers.tick(ms);
  };

  it('count from the beginning of a request, also where the signal is asked for late', async () => {
    for (const info of [PATH, of('list'), of('create')]) {
      const { state } = await begun(info);
      pass(400);
      const { signal } = state;
      pass(599);
      assert.equal(signal.aborted, false);
      pass(1);
      assert.equal((signal.reason as { reason: string }).reason, 'Timeout');
      assert.notEqual(signal.reason, CLIENT_LEFT);
      assert.equal(state.signal, signal, 'one for all who ask');
    }
  });

  it('are over at once where the time was over before anybody asked', async () => {
    const { state } = await begun(PATH);
    pass(5000);
    const { signal } = state;
    mock.timers.tick(1);
    assert.equal(signal.aborted, true);
  });

  it('leave what runs until it is ended its time', async () => {
    for (const info of [of('watch'), of('get', 'log'), of('create', 'exec'), of('get', 'proxy')]) {
      const { state } = await begun(info);
      const { signal } = state;
      pass(1_000_000);
      assert.equal(signal.aborted, false);
      res.emit('close');
      assert.equal(signal.reason, CLIENT_LEFT);
    }
  });

  it('end with the client, and wait for no time then', async () => {
    const { state } = await begun(PATH);
    const { signal } = state;
    res.emit('close');
    assert.equal(signal.reason, CLIENT_LEFT);
    pass(1000);
    assert.equal(signal.reason, CLIENT_LEFT);
  });
});
