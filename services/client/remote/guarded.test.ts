import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { GuardOptions, Outcome } from './guarded.js';
import { guarded } from './guarded.js';
import type { RemoteAnswer, RemoteService } from './remote-service.js';
import { RemoteError } from './remote-service.js';

type Step = number | RemoteError | 'silence' | RemoteAnswer;

const cut = new RemoteError('POST https://a/: the connection was cut');

/** A service that goes wrong as it is told: real ones do not on request. The last step is repeated. */
function scripted(...steps: Step[]): RemoteService & { asked: number; then: (...next: Step[]) => void } {
  return {
    asked: 0,
    then: (...next) => void steps.splice(0, steps.length, ...next),
    async post(_, signal) {
      this.asked++;
      const step = (steps.length > 1 ? steps.shift() : steps[0]) ?? 200;
      if (step === 'silence')
        await pause(60_000, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
      if (step instanceof RemoteError) throw step;
      return typeof step === 'object' ? step : { status: Number(step), body: {} };
    },
    close: () => undefined,
  };
}

describe('guarded()', () => {
  let outcomes: Outcome[] = [];
  let opened: RemoteService[] = [];
  let signal: AbortSignal;
  beforeEach(() => {
    outcomes = [];
    signal = AbortSignal.timeout(60_000);
  });
  afterEach(() => {
    for (const it of opened) it.close();
    opened = [];
  });
  const guard = (service: RemoteService, o: Partial<GuardOptions> = {}): RemoteService => {
    const observe: GuardOptions['observe'] = ({ outcome, seconds }) => {
      assert.ok(seconds >= 0 && seconds < 60);
      outcomes.push(outcome);
    };
    const it = guarded(service, { name: 'the hook', totalMs: 60_000, pauseMs: 1, observe, ...o });
    opened.push(it);
    return it;
  };
  const untrusted = new RemoteError('no', { failure: 'untrusted' });
  const late = new RemoteError('no', { failure: 'timeout' });

  const ENDS: readonly (readonly [string, Step[], number, number | RemoteError, Outcome])[] = [
    ['gives an answer back at once', [200], 1, 200, 'answered'],
    ['takes a refusal for an answer', [403], 1, 403, 'answered'],
    ['asks again after a cut connection', [cut, cut, 200], 3, 200, 'answered'],
    ['asks again after a 500 and a 503', [500, 503, 200], 3, 200, 'answered'],
    ['asks again after a 429', [429, 200], 2, 200, 'answered'],
    ['gives the last answer back after five', [500], 5, 500, 'erred'],
    ['fails as the last one of five', [500, 500, 500, 500, cut, 200], 5, cut, 'connection'],
    ['does not ask again whom it cannot trust', [untrusted], 1, untrusted, 'untrusted'],
    ['does not ask again who is slow', [late], 1, late, 'timeout'],
  ];
  for (const [what, steps, asked, end, outcome] of ENDS) {
    it(what, async () => {
      const service = scripted(...steps);
      const result = await guard(service)
        .post({}, signal)
        .catch((err: unknown) => err);
      assert.deepEqual(end instanceof Error ? result : (result as RemoteAnswer).status, end);
      assert.equal(service.asked, asked);
      assert.deepEqual(outcomes, [outcome]);
    });
  }

  it('waits as long as the service wants', async () => {
    const service = scripted({ status: 429, body: {}, retryAfterMs: 150 }, 200);
    const started = performance.now();
    await guard(service).post({}, signal);
    assert.ok(performance.now() - started >= 145);
  });

  it('does not wait for what ends after its own time', async () => {
    const service = scripted({ status: 503, body: 'later', retryAfterMs: 5000 }, 200);
    const asked = guard(service, { totalMs: 5000 }).post({}, signal);
    assert.deepEqual(await asked, { status: 503, body: 'later', retryAfterMs: 5000 });
    assert.equal(service.asked, 1);
  });

  it('ends in its own time, however slow the service is', async () => {
    const asked = guard(scripted(500, 'silence'), { totalMs: 100 }).post({}, signal);
    await assert.rejects(asked, {
      name: 'RemoteError',
      failure: 'timeout',
      message: 'the hook: no answer within 100 ms',
    });
  });

  it('ends with the signal, with its reason, and while it pauses too', async () => {
    const reason = new Error('enough');
    for (const [steps, pauseMs] of [
      [['silence'], 1],
      [[500], 60_000],
    ] as const) {
      const controller = new AbortController();
      const asked = guard(scripted(...steps), { pauseMs, totalMs: 300_000 }).post({}, controller.signal);
      setImmediate(() => controller.abort(reason));
      await assert.rejects(asked, reason);
    }
    assert.deepEqual(outcomes, ['left', 'left']);
  });

  describe('when the service fails too often', () => {
    const breaker = { volume: 4, restMs: 60_000 };
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
    afterEach(() => mock.timers.reset());
    const failOften = async (it: RemoteService): Promise<void> => {
      for (let i = 0; i < 4; i++) await it.post({}, signal).catch(() => undefined);
    };
    const isOpen = {
      name: 'RemoteError',
      failure: 'open',
      message: 'the hook: is not asked for a while, for it failed too often',
    };
    const rested = (): void => mock.timers.tick(breaker.restMs);

    it('leaves it alone and fails at once', async () => {
      const service = scripted(cut);
      const it = guard(service, { attempts: 1, breaker });
      await failOften(it);
      assert.equal(service.asked, 4);
      await assert.rejects(it.post({}, signal), isOpen);
      assert.equal(service.asked, 4);
      assert.equal(outcomes.at(-1), 'open');
    });

    it('stops repeating as soon as it leaves it alone', async () => {
      const service = scripted(500);
      await assert.rejects(guard(service, { breaker }).post({}, signal), isOpen);
      assert.equal(service.asked, 4);
    });

    it('asks again after a while, and goes on when that is answered', async () => {
      const service = scripted(cut);
      const it = guard(service, { attempts: 1, breaker });
      await failOften(it);
      rested();
      service.then(200);
      for (let i = 0; i < 3; i++) assert.equal((await it.post({}, signal)).status, 200);
    });

    for (const [what, step] of [
      ['fails', cut],
      ['is not waited for', 'silence'],
    ] as const) {
      it(`leaves it alone again when that ${what}`, async () => {
        const service = scripted(cut);
        const it = guard(service, { attempts: 1, breaker });
        await failOften(it);
        rested();
        service.then(step);
        await assert.rejects(it.post({}, AbortSignal.timeout(20)));
        assert.equal(service.asked, 5);
        await assert.rejects(it.post({}, signal), isOpen);
        assert.equal(service.asked, 5);
      });
    }

    it('counts nothing against it when askers leave', async () => {
      const service = scripted('silence');
      const it = guard(service, { attempts: 1, breaker });
      for (let i = 0; i < 8; i++) await it.post({}, AbortSignal.abort(new Error('left'))).catch(() => undefined);
      service.then(200);
      assert.equal((await it.post({}, signal)).status, 200);
    });

    for (const status of [404, 429]) {
      it(`counts nothing against it for answers of status ${status}`, async () => {
        const it = guard(scripted(status), { attempts: 1, breaker });
        for (let i = 0; i < 8; i++) assert.equal((await it.post({}, signal)).status, status);
      });
    }
  });
});
