import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { parseFlags } from '../../../machinery/flags/flags.js';
import { AUTHENTICATION_FLAGS } from '../../options/authentication.js';
import { encoded, NOW_SECONDS, TestKey, type Claims } from '../service-accounts/testing/tokens.js';
import { TokenRefused, TokenReviewer } from '../token-reviewer.js';
import type { Identity } from '../authenticator.js';
import { IdTokens } from './id-tokens.js';
import { OpenIdProvider } from './provider.js';
import { ProviderKeys } from './provider-keys.js';
import { jwkOf, TestProvider } from './testing/provider.js';
import { claimRules } from './user.js';

const OWN = ['https://here.example'];
const CLIENT = 'us';

describe('IdTokens', () => {
  const rsa = TestKey.rsa();
  const ec = new TestKey();
  let authority: TestAuthority;
  let provider: TestProvider;
  let controller: AbortController;
  let clock: { ms: number };
  let keys: ProviderKeys;
  let tokens: IdTokens;
  before(() => (authority = new TestAuthority('here')));
  after(() => authority.remove());
  beforeEach(async () => {
    clock = { ms: NOW_SECONDS * 1000 };
    controller = new AbortController();
    provider = await TestProvider.start(authority.issue('provider'));
    provider.keys = [jwkOf(rsa), jwkOf(ec)];
    ({ tokens, keys } = open());
    await keys.renew();
    clock.ms += 10_000;
  });
  afterEach(async () => {
    controller.abort();
    await provider.leave();
  });

  function open(algorithms = 'RS256,ES256'): { tokens: IdTokens; keys: ProviderKeys } {
    const argv = [
      `--oidc-issuer-url=${provider.issuer}`,
      `--oidc-client-id=${CLIENT}`,
      `--oidc-signing-algs=${algorithms}`,
      '--oidc-groups-claim=groups',
      '--oidc-required-claim=tenant=ours',
    ];
    const { options } = parseFlags(AUTHENTICATION_FLAGS, argv);
    const at = {
      issuer: provider.issuer,
      algorithms: new Set(options.oidcSigningAlgs),
      caFile: join(authority.directory, 'ca.crt'),
      userAgent: 'test',
    };
    const asked = new OpenIdProvider(at);
    controller.signal.addEventListener('abort', () => asked.close(), { once: true });
    const followed = new ProviderKeys({
      fetchKeys: (signal) => asked.fetchKeys(signal),
      log: { info: () => undefined, warn: () => undefined },
      signal: controller.signal,
      nowMs: () => clock.ms,
    });
    const by = new IdTokens({ ...at, rules: claimRules(options), keys: followed, nowMs: () => clock.ms });
    return { tokens: by, keys: followed };
  }

  const claims = (more: Claims = {}): Claims => ({
    iss: provider.issuer,
    aud: CLIENT,
    sub: 'jane',
    groups: ['a', 'b'],
    tenant: 'ours',
    exp: NOW_SECONDS + 3600,
    ...more,
  });
  const ask = async (token: string | Promise<string>, by = tokens): Promise<Identity | undefined> =>
    by.authenticateToken(await token);
  const refuses = (token: string | Promise<string>, message: RegExp, by = tokens): Promise<void> =>
    assert.rejects(ask(token, by), (err: unknown) => {
      assert.ok(err instanceof TokenRefused, String(err));
      assert.match(err.message, message);
      return true;
    });
  const knows = async (token: string | Promise<string>, by = tokens): Promise<Identity> => {
    const identity = await ask(token, by);
    assert.deepEqual(identity, {
      user: { name: `${provider.issuer}#jane`, uid: '', groups: ['a', 'b'], extra: {} },
    });
    return identity;
  };
  const questions = (): number => provider.asked.filter((path) => path === '/keys').length;

  describe('of tokens that are none of the provider', () => {
    for (const [what, token] of [
      ['no JWT', (): string => 'abc'],
      ['a bootstrap token', (): string => 'abcdef.0123456789abcdef'],
      ['a JWT without a signature', (): string => `${encoded({ alg: 'none' })}.${encoded(claims())}.`],
      ['one of another issuer', (): Promise<string> => rsa.sign(claims({ iss: 'https://other.example' }))],
      ['one whose issuer has a slash more', (): Promise<string> => rsa.sign(claims({ iss: `${provider.issuer}/` }))],
      ['one whose issuer is in a list', (): Promise<string> => rsa.sign(claims({ iss: [provider.issuer] }))],
      ['one whose issuer is written otherwise', () => rsa.sign(claims({ iss: provider.issuer.toUpperCase() }))],
      ['one without an issuer', (): Promise<string> => rsa.sign(claims({ iss: undefined }))],
      ['one whose claims are no object', (): Promise<string> => rsa.sign([claims()])],
      ['one whose claims are no JSON', (): Promise<string> => rsa.sign('claims')],
      ['one whose issuer is in __proto__', () => rsa.sign(`{"__proto__":${JSON.stringify(claims())}}`)],
      ['one of five parts', (): string => 'a.b.c.d.e'],
    ] as const) {
      it(`knows nothing of ${what}`, async () => assert.equal(await ask(token()), undefined));
    }

    it('does not look at one that is huge', async () => {
      const reviewer = new TokenReviewer([tokens], OWN);
      const huge = await rsa.sign(claims({ more: 'x'.repeat(64 * 1024) }));
      assert.throws(() => reviewer.authenticate(huge), /no usable length/);
    });
  });

  describe('of tokens whose claims are no good', () => {
    for (const [what, change, message] of [
      ['has expired', { exp: NOW_SECONDS + 10 }, /has expired/],
      ['does not expire', { exp: undefined }, /exp is missing/],
      ['expires in words', { exp: 'tomorrow' }, /exp is missing or malformed/],
      ['is not good yet', { nbf: NOW_SECONDS + 71 }, /time of the token has not come/],
      ['is for another client', { aud: 'them' }, /another client/],
      ['is for other clients', { aud: ['them', 'us '] }, /another client/],
      ['is for nobody', { aud: undefined }, /aud is missing/],
      ['names nobody', { sub: undefined }, /sub is missing/],
      ['names somebody without a name', { sub: '' }, /sub is missing/],
      ['names a number of groups', { groups: 7 }, /groups is missing or malformed/],
      ['lacks a required claim', { tenant: undefined }, /tenant is not what/],
      ['has another value in a required claim', { tenant: 'theirs' }, /tenant is not what/],
    ] as const) {
      it(`refuses one that ${what}, and asks the provider nothing`, async () => {
        const before = questions();
        await refuses(rsa.sign(claims(change)), message);
        assert.equal(questions(), before);
      });
    }

    it('refuses one as soon as it has expired, though it was good before', async () => {
      const token = await rsa.sign(claims());
      await knows(token);
      clock.ms = (NOW_SECONDS + 3600) * 1000 - 1;
      await knows(token);
      clock.ms += 1;
      await refuses(token, /has expired/);
    });

    it('takes one that is good within a minute', async () => {
      await knows(rsa.sign(claims({ nbf: NOW_SECONDS + 70 })));
    });
  });

  describe('of tokens whose signature is no good', () => {
    const parts = async (): Promise<[string, string, string]> =>
      (await rsa.sign(claims())).split('.') as [string, string, string];
    const NOT_SIGNED = /No key of the OpenID provider has signed the token/;
    const NOT_ALLOWED = /an algorithm that is not allowed/;
    const secret = (header: object, key = rsa.publicPem): string => {
      const content = `${encoded(header)}.${encoded(claims())}`;
      return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`;
    };

    for (const [what, token, message] of [
      ['nobody', () => `${encoded({ alg: 'none' })}.${encoded(claims())}.AA`, NOT_ALLOWED],
      ['the public key as a secret', () => secret({ alg: 'HS256', kid: rsa.verifying.id }), NOT_ALLOWED],
      ['the public key as a secret by another name', () => secret({ alg: 'RS256', kid: rsa.verifying.id }), NOT_SIGNED],
      ['an algorithm that is not allowed', () => rsa.sign(claims(), { alg: 'RS512' }), NOT_ALLOWED],
      ['an algorithm in a list', () => secret({ alg: ['RS256'] }), NOT_ALLOWED],
      ['no algorithm', () => secret({}), NOT_ALLOWED],
      ['an algorithm that only a prototype has', () => secret({ alg: 'constructor' }), NOT_ALLOWED],
      ['a key of another provider', () => TestKey.rsa().sign(claims()), NOT_SIGNED],
      ['another key by the name of a known one', () => TestKey.rsa().sign(claims(), { kid: rsa.verifying.id }), NOT_SIGNED], // prettier-ignore
      ['another key by no name', () => new TestKey().sign(claims(), { kid: undefined as unknown as string }), NOT_SIGNED], // prettier-ignore
      ['a known key by the name of another', () => rsa.sign(claims(), { kid: ec.verifying.id }), NOT_SIGNED],
      ['a known key by a name that nobody has', () => rsa.sign(claims(), { kid: '__proto__' }), NOT_SIGNED],
      ['a key whose name is a number', () => secret({ alg: 'RS256', kid: 7 }), /names its key by no text/],
      [
        'the provider, with other claims',
        async () => {
          const [header, , signature] = await parts();
          return `${header}.${encoded(claims({ sub: 'root' }))}.${signature}`;
        },
        NOT_SIGNED,
      ],
      [
        'the provider, with another header',
        async () => {
          const [, payload, signature] = await parts();
          return `${encoded({ alg: 'RS256' })}.${payload}.${signature}`;
        },
        NOT_SIGNED,
      ],
      [
        'the provider, with a part of the signature',
        async () => {
          const [header, payload, signature] = await parts();
          return `${header}.${payload}.${signature.slice(0, -4)}`;
        },
        NOT_SIGNED,
      ],
      [
        'a key that the token brings along',
        () => {
          const own = TestKey.rsa();
          return own.sign(claims(), { kid: 'own', jwk: jwkOf(own) } as object);
        },
        NOT_SIGNED,
      ],
      [
        'a known key, with an extension that must be understood',
        () => secret({ alg: 'RS256', kid: rsa.verifying.id, crit: ['x'], x: 1 }),
        NOT_SIGNED,
      ],
    ] as const) {
      it(`refuses one that is signed by ${what}`, async () => {
        const made = await token();
        await refuses(made, message);
        await refuses(made, message);
      });
    }

    it('refuses one of a key whose kind of signature is not allowed', async () => {
      const { tokens: by, keys: followed } = open('RS256');
      await followed.renew();
      await refuses(ec.sign(claims()), NOT_ALLOWED, by);
      await knows(rsa.sign(claims()), by);
    });

    it('refuses one of a key that is too short, or for encryption', async () => {
      const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const sealing = TestKey.rsa();
      provider.keys = [
        { ...short.publicKey.export({ format: 'jwk' }), kid: 'short' },
        jwkOf(sealing, { use: 'enc' }),
        jwkOf(rsa),
      ];
      await refuses(sealing.sign(claims()), NOT_SIGNED);
      await refuses(secret({ alg: 'RS256', kid: 'short' }), NOT_SIGNED);
      await knows(rsa.sign(claims()));
    });

    it('asks the provider no more than every ten seconds, however many come', async () => {
      const before = questions();
      const made = await Promise.all(Array.from({ length: 50 }, (_, i) => ec.sign(claims(), { kid: `made up ${i}` })));
      await Promise.all(made.map((token) => refuses(token, NOT_SIGNED)));
      for (const token of made) await refuses(token, NOT_SIGNED);
      assert.equal(questions(), before + 1);
      clock.ms += 10_000;
      for (const token of made) await refuses(token, NOT_SIGNED);
      assert.equal(questions(), before + 2);
    });

    it('looks at one once as long as the keys are the same', async () => {
      const token = await TestKey.rsa().sign(claims(), { kid: rsa.verifying.id });
      await refuses(token, NOT_SIGNED);
      assert.throws(() => tokens.authenticateToken(token), NOT_SIGNED); // at once: it is remembered
      clock.ms += 10_000;
      assert.throws(() => tokens.authenticateToken(token), NOT_SIGNED);
    });
  });

  describe('of tokens that are good', () => {
    it('knows the user, the same each time, and at once when it has seen the token', async () => {
      const token = await rsa.sign(claims());
      const first = await knows(token);
      assert.equal(tokens.authenticateToken(token), first);
      const again = [rsa.sign(claims({ jti: 'x' })), ec.sign(claims()), rsa.sign(claims(), { kid: undefined as unknown as string })]; // prettier-ignore
      for (const other of again) await knows(other);
      assert.equal(provider.asked.length, 2);
    });

    it('verifies one once for all who come with it meanwhile', async () => {
      const token = await ec.sign(claims());
      const [one, two] = await Promise.all([knows(token), knows(token)]);
      assert.equal(one, two);
    });

    it('is meant for this server, and for nobody else', async () => {
      const reviewer = new TokenReviewer([tokens], OWN);
      const token = await rsa.sign(claims());
      assert.equal((await reviewer.authenticate(token)).audiences, undefined);
      assert.deepEqual((await reviewer.authenticate(token, [...OWN, 'x'])).audiences, OWN);
      await assert.rejects(async () => reviewer.authenticate(token, [CLIENT]), TokenRefused);
    });

    for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']) {
      it(`takes ${alg} where it is allowed`, async () => {
        const namedCurve = { ES384: 'P-384', ES512: 'P-521' }[alg] ?? 'P-256';
        const key = alg.startsWith('ES') ? new TestKey(generateKeyPairSync('ec', { namedCurve })) : rsa;
        provider.keys = [jwkOf(key)];
        const { tokens: by, keys: followed } = open(alg);
        await followed.renew();
        await knows(key.sign(claims(), { alg }), by);
      });
    }
  });

  describe('when the provider changes its keys', () => {
    it('takes tokens of the new key with one question, and refuses those of the old one', async () => {
      const [old, next] = [rsa, TestKey.rsa()];
      const oldToken = await old.sign(claims());
      await knows(oldToken);
      provider.keys = [jwkOf(next)];
      const before = questions();
      await Promise.all(Array.from({ length: 5 }, async (_, i) => knows(next.sign(claims({ jti: i })))));
      assert.equal(questions(), before + 1);
      await refuses(oldToken, /No key/);
      await refuses(old.sign(claims({ jti: 'x' })), /No key/);
    });

    it('still takes tokens of a key that is there beside the new one, without looking again', async () => {
      const next = TestKey.rsa();
      const token = await rsa.sign(claims());
      const first = await knows(token);
      provider.keys = [jwkOf(next), jwkOf(rsa)];
      await knows(next.sign(claims()));
      assert.equal(tokens.authenticateToken(token), first);
    });

    it('takes tokens of a new key under the old name', async () => {
      const next = TestKey.rsa();
      const oldToken = await rsa.sign(claims());
      await knows(oldToken);
      provider.keys = [jwkOf(next, { kid: rsa.verifying.id })];
      await knows(next.sign(claims(), { kid: rsa.verifying.id }));
      await refuses(oldToken, /No key/);
    });

    it('takes tokens of a new key later, when it has just asked', async () => {
      const next = new TestKey();
      await refuses(new TestKey().sign(claims()), /No key/);
      provider.keys = [jwkOf(next)];
      const token = await next.sign(claims());
      await refuses(token, /No key/);
      clock.ms += 10_000;
      await knows(token);
    });

    it('takes a token that was refused as soon as the keys are there', async () => {
      const next = new TestKey();
      const token = await next.sign(claims());
      await refuses(token, /No key/);
      await refuses(token, /No key/);
      provider.keys = [jwkOf(rsa), jwkOf(next)];
      clock.ms += 10_000;
      await keys.renew();
      await knows(token);
    });
  });

  describe('when the provider is away', () => {
    it('refuses its tokens until the keys are there, and says so', async () => {
      await provider.leave();
      const { tokens: by, keys: followed } = open();
      const token = await rsa.sign(claims());
      await refuses(token, /not initialised/, by);
      assert.equal(await ask('abc', by), undefined);
      assert.equal(await ask(rsa.sign(claims({ iss: 'https://other.example' })), by), undefined);
      assert.equal(await followed.renew(), false);
      await refuses(token, /not initialised/, by);
      await provider.comeBack();
      clock.ms += 10_000;
      assert.equal(await followed.renew(), true);
      await knows(token, by);
    });

    it('goes on with the keys that it has', async () => {
      await provider.leave();
      clock.ms += 10_000;
      await refuses(new TestKey().sign(claims()), /No key/);
      await knows(rsa.sign(claims()));
      await knows(ec.sign(claims()));
    });
  });
});
