import assert from 'node:assert/strict';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson } from '../../../client/testing/tls-service.js';
import { Hook, UNUSABLE, type Sent } from '../../webhook-reviews/testing/hook.js';
import { TokenRefused, TokenReviewer } from '../token-reviewer.js';
import type { Identity } from '../authenticator.js';
import { TokenWebhook } from './token-webhook.js';

const OWN = ['https://own.example'];
const TOKEN = 'a-secret-token';
const USER = { username: 'jane', uid: '42', groups: ['dev', 'qa'], extra: { scopes: ['read', 'write'] } };
const JANE = { name: 'jane', uid: '42', groups: ['dev', 'qa'], extra: { scopes: ['read', 'write'] } };
const GOOD = { authenticated: true, user: USER, audiences: OWN };
const TTL_MS = 120_000;

describe('TokenWebhook', () => {
  let authority: TestAuthority;
  let hook: Hook;
  let now: number;
  let counted: string[];
  before(() => (authority = new TestAuthority('hooks')));
  after(() => authority.remove());
  beforeEach(async () => {
    hook = await Hook.start(authority);
    now = 0;
    counted = [];
  });
  afterEach(() => hook.close());

  const open = ({ ttlMs = TTL_MS, version = 'v1' } = {}): TokenWebhook =>
    new TokenWebhook({
      service: hook.open({ kind: 'TokenReview', apiVersion: `authentication.platform.io/${version}` }),
      ttlMs,
      nowMs: () => now,
      metrics: {
        requested: (status) => void counted.push(status),
        fetching: () => (status) => void counted.push(`fetched ${status}`),
        waiting: () => () => void counted.push('waited'),
      },
    });
  const ask = async (it = open(), audiences = OWN, token = TOKEN): Promise<Identity | undefined> =>
    it.authenticateToken(token, audiences);

  async function fails(message: RegExp, it = open()): Promise<void> {
    for (let i = 0; i < 2; i++) {
      const before = hook.service.received.length;
      await assert.rejects(ask(it), (err: unknown) => {
        assert.ok(err instanceof Error);
        assert.match(err.message, message);
        assert.ok(!err.message.includes(TOKEN), err.message);
        return true;
      });
      assert.ok(hook.service.received.length > before, 'a failure was remembered');
    }
    assert.ok(!JSON.stringify(hook.logged).includes(TOKEN));
  }

  it('ends a question with the one who asked', async () => {
    const asker = new AbortController();
    const closed = new Promise<void>((resolve) => {
      hook.service.answer = (_, res): void => {
        res.on('close', resolve);
        asker.abort(new Error('gone'));
      };
    });
    const reviewer = new TokenReviewer([open()], OWN);
    await assert.rejects(async () => reviewer.authenticate(TOKEN, undefined, asker), TokenRefused);
    await closed;
    assert.deepEqual(hook.logged, []);
  });

  describe('knows nobody by an answer', () => {
    for (const [what, answer, message] of UNUSABLE) {
      it(what, async () => {
        hook.service.answer = ({ body }, res): void => answer(res, JSON.parse(body) as Sent, GOOD);
        await fails(message);
      });
    }

    const user = (change: object): object => ({ ...GOOD, user: { ...USER, ...change } });
    const BAD: readonly (readonly [string, unknown, RegExp])[] = [
      ['with "true" for true', { ...GOOD, authenticated: 'true' }, /status\.authenticated of the answer is neither/],
      ['with 1 for true', { ...GOOD, authenticated: 1 }, /status\.authenticated/],
      ['without a user', { ...GOOD, user: undefined }, /status\.user of the answer is missing/],
      ['whose user is a text', { ...GOOD, user: 'jane' }, /status\.user of the answer is no object/],
      ['whose user is a list', { ...GOOD, user: [USER] }, /status\.user of the answer is no object/],
      ['without a name', user({ username: undefined }), /status\.user\.username of the answer is empty/],
      ['with an empty name', user({ username: '' }), /status\.user\.username of the answer is empty/],
      ['with a name that is a number', user({ username: 1 }), /status\.user\.username of the answer is no text/],
      ['with a uid that is a number', user({ uid: 42 }), /status\.user\.uid of the answer is no text/],
      ['whose groups are a text', user({ groups: 'system:masters' }), /status\.user\.groups of the answer is no list/],
      ['whose groups are an object', user({ groups: { length: 1 } }), /status\.user\.groups of the answer is no list/],
      ['with a group that is a list', user({ groups: [['dev']] }), /status\.user\.groups of the answer is no list/],
      ['with a group that is nothing', user({ groups: [null] }), /status\.user\.groups of the answer is no list/],
      ['with extra that is a list', user({ extra: [] }), /status\.user\.extra of the answer is no object/],
      ['with extra values that are a text', user({ extra: { a: 'b' } }), /status\.user\.extra of the answer is no list/],
      ['with an extra value that is a number', user({ extra: { a: [1] } }), /status\.user\.extra of the answer is no/],
      ['whose audiences are a text', { ...GOOD, audiences: OWN[0] }, /status\.audiences of the answer is no list/],
      ['with a number for an audience', { ...GOOD, audiences: [1] }, /status\.audiences of the answer is no list/],
      ['with a user that is too large', user({ groups: ['x'.repeat(128 * 1024)] }), /status\.user .* too large/],
      ['with too many groups', user({ groups: Array.from({ length: 5_000 }, () => '') }), /status\.user .* too large/],
      ['with too many extra keys', user({ extra: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [i, []])) }), /too large/],
      ['with an error', { error: 'the directory is down' }, /webhook: the directory is down$/],
      ['with an error, whatever else it says', { ...GOOD, error: 'the directory is down' }, /the directory is down/],
      ['with an error that is a list', { ...GOOD, error: [] }, /status\.error of the answer is no text/],
      ['with an error that quotes the token', { error: `bad ${TOKEN} (${TOKEN})` }, /bad \[token\] \(\[token\]\)$/],
      ['with a long error', { error: 'x'.repeat(100_000) }, /webhook: x{1024}…$/],
    ]; // prettier-ignore
    for (const [what, status, message] of BAD) {
      it(what, async () => {
        hook.says(status);
        await fails(message);
      });
    }

    it('from elsewhere than where a user should be', async () => {
      const text = JSON.stringify({ ...GOOD, user: undefined });
      hook.service.answer = (_, res): void => {
        const body = `{"status":{"__proto__":{"user":${JSON.stringify(USER)}},${text.slice(1)}}`;
        res.writeHead(200, { 'content-type': 'application/json' }).end(body);
      };
      await fails(/status\.user of the answer is missing/);
    });
  });

  it('asks for nobody whose audiences are too long', async () => {
    hook.says(GOOD);
    await assert.rejects(ask(open(), ['x'.repeat(64 * 1024 + 1)]), TokenRefused);
    assert.equal(hook.service.received.length, 0);
  });

  describe('leaves a token to others', () => {
    for (const [what, status] of [
      ['that is nobody’s', { authenticated: false }],
      ['that is nobody’s, whomever the answer names', { ...GOOD, authenticated: false }],
      ['of which nothing is said', {}],
      ['that is meant for others', { ...GOOD, audiences: ['https://other.example'] }],
    ] as const) {
      it(what, async () => {
        hook.says(status);
        const it = open();
        assert.equal(await ask(it), undefined);
        assert.equal(it.authenticateToken(TOKEN, OWN), undefined); // at once: it is remembered
        now += TTL_MS;
        hook.says(GOOD);
        assert.deepEqual((await ask(it))?.user, JANE);
        assert.deepEqual(counted.filter((it) => it === 'hit' || it === 'miss'), ['miss', 'hit', 'miss']); // prettier-ignore
      });
    }
  });

  describe('knows whose a token is', () => {
    const asks = (version: string): object => ({
      kind: 'TokenReview',
      apiVersion: `authentication.platform.io/${version}`,
      spec: { token: TOKEN, audiences: OWN },
    });
    for (const version of ['v1', 'v1beta1']) {
      it(`asking in ${version}`, async () => {
        hook.says(GOOD);
        assert.deepEqual(await ask(open({ version })), { user: JANE, audiences: OWN });
        assert.deepEqual(hook.sent, [asks(version)]);
      });
    }

    it('with nothing but a name', async () => {
      hook.says({ authenticated: true, user: { username: 'jane', groups: null, extra: null }, audiences: null });
      assert.deepEqual(await ask(), { user: { name: 'jane', uid: '', groups: [], extra: {} } });
    });

    it('with extra keys of any name', async () => {
      hook.service.answer = (_, res): void => {
        const user = '{"username":"jane","extra":{"__proto__":["a"],"constructor":null,"X":["b"]}}';
        const body = `{"status":{"authenticated":true,"user":${user}}}`;
        res.writeHead(200, { 'content-type': 'application/json' }).end(body);
      };
      const { extra } = (await ask())?.user ?? assert.fail();
      assert.deepEqual(Object.entries(extra), [['__proto__', ['a']], ['constructor', []], ['X', ['b']]]); // prettier-ignore
      assert.equal(Object.getPrototypeOf(extra), Object.prototype);
    });

    it('telling for which of the wanted audiences it is', async () => {
      hook.says({ ...GOOD, audiences: ['z', 'y', 'x'] });
      assert.deepEqual((await ask(open(), ['x', 'other', 'y']))?.audiences, ['x', 'y']);
    });

    it('without audiences where none are wanted', async () => {
      hook.says(GOOD);
      assert.deepEqual(await ask(open(), []), { user: JANE });
      assert.deepEqual(hook.sent[0]?.spec, { token: TOKEN });
    });
  });

  describe('of a service that knows no audiences', () => {
    const reviewer = (): TokenReviewer => {
      hook.says({ ...GOOD, audiences: [] });
      return new TokenReviewer([open()], OWN);
    };

    it('takes its tokens as meant for this server', async () => {
      assert.deepEqual(await reviewer().authenticate(TOKEN), { user: JANE });
      assert.deepEqual((await reviewer().authenticate(TOKEN, ['x', ...OWN])).audiences, OWN);
    });

    it('refuses them for others', async () => {
      await assert.rejects(Promise.resolve(reviewer().authenticate(TOKEN, ['x'])), TokenRefused);
    });
  });

  describe('remembers', () => {
    it('a user for its time, and no longer', async () => {
      hook.says(GOOD);
      const it = open();
      const first = await ask(it);
      now += TTL_MS - 1;
      const second = it.authenticateToken(TOKEN, OWN);
      assert.ok(first !== undefined && !(second instanceof Promise));
      assert.equal(second?.user, first.user);
      assert.equal(hook.service.received.length, 1);
      now += 1;
      hook.says({ authenticated: false });
      assert.equal(await ask(it), undefined);
      assert.equal(hook.service.received.length, 2);
    });

    it('nothing where nothing is to be remembered', async () => {
      hook.says(GOOD);
      const it = open({ ttlMs: 0 });
      for (let i = 0; i < 3; i++) assert.deepEqual((await ask(it))?.user, JANE);
      assert.equal(hook.service.received.length, 3);
    });

    it('one token apart from others, and from itself for others', async () => {
      hook.answers(({ spec }) => ({ status: { ...GOOD, audiences: [], user: { username: JSON.stringify(spec) } } }));
      const it = open();
      const questions = [
        ['a', ['b', 'c']],
        ['a', ['b']],
        ['a', ['bc']],
        ['ab', ['c']],
        ['a","b', ['c']],
        ['a', ['c', 'b']],
      ] as const;
      const names = new Set<string | undefined>();
      for (const [token, audiences] of questions) names.add((await ask(it, [...audiences], token))?.user.name);
      assert.equal(names.size, questions.length);
    });
  });

  describe('of many who come with the same token at the same time', () => {
    const MANY = 100;
    const many = (it: TokenWebhook): Promise<Identity | undefined>[] => Array.from({ length: MANY }, () => ask(it));

    it('asks once', async () => {
      hook.says(GOOD);
      const all = await Promise.all(many(open()));
      assert.equal(hook.service.received.length, 1);
      assert.equal(new Set(all.map((identity) => identity?.user)).size, 1);
      assert.deepEqual(counted.filter((it) => it === 'miss').length, MANY);
      assert.deepEqual(counted.filter((it) => it.startsWith('fetched')), ['fetched ok']); // prettier-ignore
    });

    it('fails all, and asks again for the next one', async () => {
      hook.service.answer = (_, res): void => answerJson(res, {}, 403);
      const it = open();
      for (const { status } of await Promise.allSettled(many(it))) assert.equal(status, 'rejected');
      assert.equal(hook.service.received.length, 1);
      assert.deepEqual(counted.filter((it) => it.startsWith('fetched')), ['fetched error']); // prettier-ignore
      hook.says(GOOD);
      assert.deepEqual((await ask(it))?.user, JANE);
    });
  });
});
