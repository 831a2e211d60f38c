import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { TestAuthority } from '../../client/testing/certificates.js';
import { answerJson } from '../../client/testing/tls-service.js';
import { RemoteError } from '../../client/remote/remote-service.js';
import type { Members } from './members.js';
import { ReviewError } from './review-error.js';
import type { ReviewService } from './review-service.js';
import { Hook, UNUSABLE, type Sent } from './testing/hook.js';

const REVIEW = { kind: 'TokenReview', apiVersion: 'authentication.platform.io/v1' };
const GOOD = { authenticated: true };
const CLOSED = /is closed|is not asked/;
const whole = (status: Members): Members => status;

describe('ReviewService', () => {
  let authority: TestAuthority;
  let hook: Hook;
  before(() => (authority = new TestAuthority('hooks')));
  after(() => authority.remove());
  beforeEach(async () => (hook = await Hook.start(authority)));
  afterEach(() => hook.close());

  const fails = (asked: Promise<unknown>, message: RegExp): Promise<void> =>
    assert.rejects(asked, (err: unknown) => {
      assert.ok(err instanceof ReviewError || err instanceof RemoteError, String(err));
      assert.match(err.message, message);
      assert.doesNotMatch(err.message, /secret/);
      return true;
    });

  for (const [what, answer, message] of UNUSABLE) {
    it(`takes no answer ${what}`, async () => {
      hook.service.answer = ({ body }, res): void => answer(res, JSON.parse(body) as Sent, GOOD);
      let read = 0;
      const asked = hook.open(REVIEW).ask({ token: 'secret' }, () => (read += 1));
      await fails(asked, message);
      assert.equal(read, 0);
      assert.equal(hook.logged.length, 1);
      assert.doesNotMatch(JSON.stringify(hook.logged), /secret/);
    });
  }

  it('waits for no slow answer', async () => {
    hook.service.answer = (): void => undefined;
    await fails(hook.open({ ...REVIEW, guard: { timeoutMs: 50 } }).ask({}, whole), /no answer within 50 ms/);
  });

  it('waits for no answer that comes drop by drop', async () => {
    hook.service.answer = (_, res): void => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const drops = setInterval(() => res.write(' '), 5);
      res.on('close', () => clearInterval(drops));
    };
    await fails(hook.open({ ...REVIEW, guard: { timeoutMs: 100 } }).ask({}, whole), /no answer within 100 ms/);
  });

  it('sends nothing to a service that it cannot trust', async () => {
    const other = new TestAuthority('others');
    try {
      hook.says(GOOD);
      await fails(hook.open(REVIEW, hook.configFile(other.cert)).ask({}, whole), /signed by no authority/);
      assert.equal(hook.service.received.length, 0);
      assert.deepEqual([hook.tried, hook.outcomes], [['<error>'], ['untrusted']]);
    } finally {
      other.remove();
    }
  });

  it('fails with what reads the answer', async () => {
    hook.says(GOOD);
    const asked = hook.open(REVIEW).ask({}, () => {
      throw new ReviewError('bad');
    });
    await fails(asked, /^the hook: bad$/);
  });

  it('sends a review, and gives the status of the answer', async () => {
    hook.answers((sent) => ({ ...sent, spec: { token: 'another' }, status: GOOD }));
    assert.deepEqual(await hook.open(REVIEW).ask({ token: 'a' }, whole), GOOD);
    assert.deepEqual(hook.sent, [{ ...REVIEW, spec: { token: 'a' } }]);
    const [{ method, path, headers } = assert.fail()] = hook.service.received;
    assert.deepEqual([method, path, headers['content-type']], ['POST', '/review', 'application/json']);
    assert.deepEqual([hook.tried, hook.outcomes, hook.logged], [['200'], ['answered'], []]);
  });

  it('takes an answer for what was asked that does not say what it is', async () => {
    for (const more of [{}, { kind: '', apiVersion: '' }, { kind: null }]) {
      hook.answers(() => ({ ...more, status: GOOD }));
      assert.deepEqual(await hook.open(REVIEW).ask({}, whole), GOOD);
    }
  });

  it('asks again when the service fails', async () => {
    hook.service.answer = ({ body }, res): void => {
      const { length } = hook.service.received;
      if (length === 1) res.destroy();
      else if (length === 2) answerJson(res, {}, 500);
      else answerJson(res, { ...(JSON.parse(body) as Sent), status: GOOD });
    };
    assert.deepEqual(await hook.open({ ...REVIEW, guard: { attempts: 3 } }).ask({}, whole), GOOD);
    assert.deepEqual([hook.tried, hook.outcomes], [['<error>', '500', '200'], ['answered']]);
  });

  describe('of a service that is down', () => {
    const guard = { attempts: 1, breaker: { volume: 4, restMs: 50 } };
    const failOften = async (service: ReviewService): Promise<void> => {
      hook.service.answer = (_, res): void => void res.destroy();
      for (let i = 0; i < 4; i++) await fails(service.ask({}, whole), /the connection was cut/);
    };

    it('does not ask it', async () => {
      const service = hook.open({ ...REVIEW, guard: { ...guard, breaker: { volume: 4, restMs: 60_000 } } });
      await failOften(service);
      hook.says(GOOD);
      await fails(service.ask({}, whole), /is not asked for a while/);
      assert.equal(hook.service.received.length, 4);
      assert.equal(hook.outcomes.at(-1), 'open');
    });

    it('asks it again when it is up', async () => {
      const service = hook.open({ ...REVIEW, guard });
      await failOften(service);
      hook.says(GOOD);
      let answer: Members | undefined;
      for (let i = 0; i < 200 && answer === undefined; i++) {
        answer = await service.ask({}, whole).catch(() => undefined);
        await pause(5); // the rest is over some time
      }
      assert.deepEqual(answer, GOOD);
      assert.deepEqual(await service.ask({}, whole), GOOD);
      assert.equal(hook.service.received.length, 6);
    });

    it('tells so once, however often it is asked', async () => {
      await failOften(hook.open({ ...REVIEW, guard }));
      assert.deepEqual(
        hook.logged.map(({ message, keys }) => [message, keys['service']]),
        [['A service gives no answers that can be used', 'the hook']],
      );
    });
  });

  it('ends a question that nobody waits for, without a word of it', async () => {
    const left = new AbortController();
    const gone = new Error('gone');
    const closed = new Promise<void>((resolve) => {
      hook.service.answer = (_, res): void => {
        res.on('close', resolve);
        left.abort(gone);
      };
    });
    await assert.rejects(hook.open(REVIEW).ask({}, whole, left.signal), gone);
    await closed;
    assert.deepEqual([hook.logged, hook.outcomes], [[], ['left']]);
  });

  it('ends what is under way when the server ends, and asks nothing after that', async () => {
    const service = hook.open(REVIEW);
    const asked = new Promise<void>((resolve) => (hook.service.answer = (): void => resolve()));
    const answer = fails(service.ask({}, whole), CLOSED);
    await asked;
    service.close();
    await answer;
    await fails(service.ask({}, whole), CLOSED);
    assert.equal(hook.service.received.length, 1);
  });
});
