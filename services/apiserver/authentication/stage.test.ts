import assert from 'node:assert/strict';
import { bearer, TokenReviewer } from './token-reviewer.js';
import { startScene, type Reply, type Scene } from './testing/scene.js';
import type { Authenticator, Identity, TokenAuthenticator } from './authenticator.js';

const user = (name: string, groups: readonly string[] = []): Identity => ({
  user: { name, uid: '', groups, extra: {} },
});

/** Answers at once, or a turn later. */
const tokens = (name: string, known: Readonly<Record<string, Identity | Error>>, later = false): TokenAuthenticator => {
  const answer = (token: string): Identity | undefined => {
    const found = Object.hasOwn(known, token) ? known[token] : undefined;
    if (found instanceof Error) throw found;
    return found;
  };
  return { name, authenticateToken: later ? (token) => Promise.resolve().then(() => answer(token)) : answer };
};

describe('authentication()', () => {
  let scene: Scene;
  const start = async (authenticators: readonly Authenticator[], anonymous = true): Promise<void> => {
    scene = await startScene({ authenticators, anonymous });
  };
  const ask = (authorization?: string): Promise<Reply> =>
    scene.ask(authorization === undefined ? {} : { headers: [['Authorization', authorization]] });
  const name = async (authorization: string): Promise<string | undefined> => (await ask(authorization)).body.user?.name;

  afterEach(() => scene.close());

  const first = tokens('first', { both: user('first'), first: user('first'), bad: new Error('secret reason') });
  const second = tokens('second', { both: user('second'), bad: user('second'), second: user('second') }, true);
  const third = tokens('third', { second: user('third'), third: user('third', ['a', 'system:authenticated']) });
  const chain = [bearer(new TokenReviewer([first, second, third], ['us']))];

  for (const header of [
    'Bearer wrong',
    'bearer wrong',
    'Bearer',
    'Bearer ',
    'Bearer first second',
    'BEARER __proto__',
    'Basic YTpi',
    'first',
    'Token first',
  ]) {
    it(`refuses ${JSON.stringify(header)}`, async () => {
      await start(chain);
      const { code, headers, body } = await ask(header);
      assert.equal(code, 401);
      assert.equal(headers['www-authenticate'], 'Bearer');
      assert.equal(body.message, 'Unauthorized');
    });
  }

  it('refuses a token where nobody knows tokens', async () => {
    await start([bearer(new TokenReviewer([], ['us']))]);
    assert.equal((await ask('Bearer any')).code, 401);
  });

  it('refuses everybody without a name when nobody may be anonymous', async () => {
    await start(chain, false);
    assert.deepEqual([(await ask()).code, (await ask('Basic YTpi')).code], [401, 401]);
    assert.equal(await name('Bearer first'), 'first');
  });

  it('takes a request without credentials for one of nobody', async () => {
    await start(chain);
    for (const header of [undefined, '']) {
      const { code, body } = await ask(header);
      assert.deepEqual(
        [code, body.user?.name, body.user?.groups],
        [200, 'system:anonymous', ['system:unauthenticated']],
      );
    }
  });

  it('lets the first decide who knows the token, whoever failed before', async () => {
    await start(chain);
    assert.equal(await name('Bearer both'), 'first');
    assert.equal(await name('Bearer bad'), 'second');
    assert.equal(await name('Bearer second'), 'second');
  });

  it('goes on to the next after wrong credentials of another kind', async () => {
    const failing: Authenticator = { name: 'failing', authenticate: () => { throw new Error('no'); } }; // prettier-ignore
    const failingLater: Authenticator = { name: 'later', authenticate: () => Promise.reject(new Error('no')) };
    await start([failing, failingLater, ...chain]);
    assert.equal(await name('Bearer third'), 'third');
    assert.equal((await ask()).code, 401, 'nobody knows a client whose credentials are wrong');
  });

  it('puts whoever has a name into the group of those, once', async () => {
    await start(chain);
    assert.deepEqual((await ask('Bearer first')).body.user?.groups, ['system:authenticated']);
    assert.deepEqual((await ask('Bearer third')).body.user?.groups, ['a', 'system:authenticated']);
  });
});

describe('TokenReviewer', () => {
  const unaware = tokens('unaware', { t: user('u') });
  const aware: TokenAuthenticator = {
    name: 'aware',
    authenticateToken: (token, audiences) =>
      token === 'v' ? { ...user('v'), audiences: audiences.filter((a) => a === 'them') } : undefined,
  };
  const reviewer = new TokenReviewer([unaware, aware], ['us', 'we']);
  const refused = (run: () => unknown): Promise<void> =>
    assert.rejects(() => Promise.resolve().then(run), { name: 'TokenRefused' });

  it('refuses a token that is not meant for whom it is asked for', () =>
    refused(() => reviewer.authenticate('t', ['them'])));

  for (const token of ['', 'x'.repeat(65_537)]) {
    it(`refuses one of ${token.length} characters unseen`, () => refused(() => reviewer.authenticate(token)));
  }

  it('tells the first thing that went wrong', async () => {
    const failing = [
      tokens('a', {}),
      tokens('b', { t: new Error('b fails') }, true),
      tokens('c', { t: new Error('c') }),
    ];
    await assert.rejects(
      async () => {
        await new TokenReviewer(failing, ['us']).authenticate('t');
      },
      (err: Error) => (err.cause as Error).message === 'b fails',
    );
  });

  it('takes a token of somebody who knows no audiences for one of this server', async () => {
    assert.deepEqual((await reviewer.authenticate('t', ['them', 'we'])).audiences, ['we']);
    assert.equal((await reviewer.authenticate('t')).user.name, 'u');
  });

  it('asks the others for the wanted audiences', async () => {
    assert.deepEqual((await reviewer.authenticate('v', ['them', 'others'])).audiences, ['them']);
  });
});
