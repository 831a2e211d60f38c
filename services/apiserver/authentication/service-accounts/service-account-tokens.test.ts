import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { TokenRefused } from '../token-reviewer.js';
import type { Identity } from '../authenticator.js';
import { ServiceAccountTokens, type ServiceAccountTokenDeps } from './service-account-tokens.js';
import { ObjectScene } from './testing/scene.js';
import { boundTo, encoded, heldIn, ISSUER, NOW_SECONDS, TestKey, WORDS, type Claims } from './testing/tokens.js';

const OWN = [ISSUER];
const TOKEN_TYPE = WORDS.secretTypes.serviceAccountToken;
const { tokenClaim: OWN_CLAIM, legacyTokenClaims: LEGACY, auditAnnotations } = WORDS;
const USER = {
  name: 'system:serviceaccount:ns:a',
  uid: 'uid-of-a',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
  extra: {},
};

describe('ServiceAccountTokens', () => {
  const key = new TestKey();
  const rsa = TestKey.rsa();
  let scene: ObjectScene;
  let clock: { seconds: number };

  beforeEach(async () => {
    clock = { seconds: NOW_SECONDS + 10 };
    scene = await ObjectScene.open();
    await scene.put('serviceaccounts', { name: 'a' });
  });
  afterEach(() => scene.close());

  const tokens = (o: Partial<ServiceAccountTokenDeps> = {}): ServiceAccountTokens =>
    new ServiceAccountTokens({
      ...scene.core,
      keys: { current: [key.verifying, rsa.verifying], look: () => undefined },
      issuers: [ISSUER],
      lookup: true,
      nowMs: () => clock.seconds * 1000,
      ...o,
    });

  const ask = async (
    token: string | Promise<string>,
    by = tokens(),
    audiences: readonly string[] = OWN,
  ): Promise<Identity | undefined> => by.authenticateToken(await token, audiences);

  const refuses = (token: string | Promise<string>, message: RegExp, by = tokens(), audiences = OWN): Promise<void> =>
    assert.rejects(ask(token, by, audiences), (err: unknown) => {
      assert.ok(err instanceof TokenRefused, String(err));
      assert.match(err.message, message);
      return true;
    });

  const own = (more: Claims): Claims => ({ ...(boundTo()[OWN_CLAIM] as Claims), ...more });

  it('go by the present keys: not by those that were taken away, and at once by new ones', async () => {
    const keys = { current: [key.verifying], look: (): void => undefined };
    const by = tokens({ keys });
    const [old, fresh] = [key.sign(boundTo()), rsa.sign(boundTo())];
    assert.notEqual(await ask(old, by), undefined);
    await refuses(fresh, /No key/, by);
    keys.current = [rsa.verifying];
    await refuses(old, /No key/, by);
    assert.notEqual(await ask(fresh, by), undefined);
    const third = new TestKey();
    keys.look = () => (keys.current = [third.verifying]);
    assert.notEqual(await ask(third.sign(boundTo()), by), undefined);
    await refuses(fresh, /No key/, by);
  });

  it('are told of once when another key has signed them than the one that signs', async () => {
    let told = 0;
    const keys = { current: [key.verifying, rsa.verifying], signing: key.verifying.id, look: () => undefined };
    const by = tokens({ keys, onOldKey: () => (told += 1) });
    await ask(key.sign(boundTo()), by);
    assert.equal(told, 0);
    const old = await rsa.sign(boundTo());
    await ask(old, by);
    await ask(old, by);
    assert.equal(told, 1);
    await refuses(new TestKey().sign(boundTo()), /No key/, by);
    assert.equal(told, 1);
  });

  it('remember nothing of a signature that was checked with keys that are gone by then', async () => {
    const keys = { current: [key.verifying], look: (): void => undefined };
    const by = tokens({ keys });
    const token = await key.sign(boundTo());
    const asked = by.authenticateToken(token, OWN);
    keys.current = [rsa.verifying];
    await refuses(rsa.sign(boundTo(undefined, { iss: ISSUER, aud: ['x'] })), /not meant/, by);
    await asked;
    await refuses(token, /No key/, by);
  });

  describe('of tokens whose signature does not hold', () => {
    const NO_KEY = /No key/;
    const claims = boundTo();
    const parts = async (): Promise<[string, string, string]> =>
      (await key.sign(claims)).split('.') as [string, string, string];

    for (const [what, token] of [
      ['another key', () => new TestKey().sign(claims, { kid: key.verifying.id })],
      ['another key with a name of its own', () => new TestKey().sign(claims)],
      ['the key under the name of another one', () => key.sign(claims, { kid: rsa.verifying.id })],
      ['an algorithm of another kind of key', () => rsa.sign(claims, { kid: key.verifying.id })],
      [
        'the public key as a shared secret',
        () => {
          const content = `${encoded({ alg: 'HS256', kid: rsa.verifying.id })}.${encoded(claims)}`;
          return `${content}.${createHmac('sha256', rsa.publicPem).update(content).digest('base64url')}`;
        },
      ],
      ['nothing, as its header says', () => `${encoded({ alg: 'none' })}.${encoded(claims)}.AA`],
      ['an algorithm that is no text', () => `${encoded({ alg: ['ES256'] })}.${encoded(claims)}.AA`],
      [
        'something else',
        async () => {
          const [header, , signature] = await parts();
          return `${header}.${encoded({ ...claims, sub: USER.name, jti: 'x' })}.${signature}`;
        },
      ],
      [
        'a changed header',
        async () => {
          const [, payload, signature] = await parts();
          return `${encoded({ alg: 'ES256' })}.${payload}.${signature}`;
        },
      ],
      [
        'a signature that was cut',
        async () => {
          const [header, payload, signature] = await parts();
          return `${header}.${payload}.${signature.slice(0, -4)}`;
        },
      ],
      [
        'an extension that must be understood',
        () => `${encoded({ alg: 'ES256', crit: ['b64'] })}.${encoded(claims)}.AA`,
      ],
    ] as const) {
      it(`refuses one signed with ${what}, each time`, async () => {
        const by = tokens();
        const made = await token();
        await refuses(made, NO_KEY, by);
        assert.throws(() => by.authenticateToken(made, OWN), NO_KEY); // at once: it is remembered
        assert.equal(scene.asked, 0);
      });
    }

    it('refuses one with an empty signature as none of ours', async () => {
      assert.equal(await ask(`${encoded({ alg: 'none' })}.${encoded(claims)}.`), undefined);
    });
  });

  describe('of tokens that are none of ours', () => {
    for (const [what, token] of [
      ['no JWT', () => 'abc'],
      ['a bootstrap token', () => 'abcdef.0123456789abcdef'],
      ['three words', () => 'a.b.c'],
      ['a JSON text', () => `${encoded({ alg: 'ES256' })}.${encoded('"x"')}.AA`],
      ['a list', () => `${encoded({ alg: 'ES256' })}.${encoded([])}.AA`],
      ['a JWT with five parts', () => 'eyJh.eyJh.eyJh.eyJh.eyJh'],
      ['signs that no JWT has', () => `${encoded({})}.${encoded(boundTo())}.A=`],
      ['a header that is no object', () => `${encoded('1')}.${encoded(boundTo())}.AA`],
      ['another issuer', () => key.sign(boundTo(undefined, { iss: 'https://other.example' }))],
      ['no issuer', () => key.sign(boundTo(undefined, { iss: undefined }))],
      ['an issuer that is no text', () => key.sign(boundTo(undefined, { iss: [ISSUER] }))],
      ['an issuer in a prototype', () => key.sign(`{"__proto__":{"iss":"${ISSUER}"}}`)],
      ['the name of what every object has', () => key.sign(boundTo(undefined, { iss: 'constructor' }))],
      ['much text', () => 'x'.repeat(64 * 1024)],
      ['many dots', () => '.'.repeat(64 * 1024)],
      ['much of a JWT', () => `${encoded({ alg: 'ES256' })}.${'A'.repeat(60 * 1024)}.AA`],
      ['deep JSON', () => `${encoded({ alg: 'ES256' })}.${encoded('['.repeat(40_000))}.AA`],
    ] as const) {
      it(`leaves ${what} to others`, async () => {
        assert.equal(await ask(await token()), undefined);
      });
    }
  });

  describe('of tokens that say what is not so', () => {
    const bad: readonly (readonly [string, Claims, RegExp])[] = [
      ['has expired', { exp: NOW_SECONDS + 10 }, /has expired/],
      ['has expired long ago', { exp: NOW_SECONDS - 1e6 }, /has expired/],
      ['does not expire', { exp: undefined }, /claim exp /],
      ['expires at a text', { exp: '9999999999' }, /claim exp /],
      ['is not good yet', { nbf: NOW_SECONDS + 71 }, /has not come/],
      ['was issued in the future', { iat: NOW_SECONDS + 71 }, /has not come/],
      ['is not good before a text', { nbf: 'x' }, /claim nbf /],
      ['is for others', { aud: ['https://other.example'] }, /not meant/],
      ['is for one other', { aud: 'other' }, /not meant/],
      ['is for nobody', { aud: [] }, /claim aud /],
      ['says nothing of whom it is for', { aud: undefined }, /claim aud /],
      ['is for what is no text', { aud: [1] }, /claim aud /],
      ['has no claims of ours', { [OWN_CLAIM]: undefined }, new RegExp(`claim ${OWN_CLAIM} `)],
      ['has a list of them', { [OWN_CLAIM]: [] }, new RegExp(`claim ${OWN_CLAIM} `)],
      ['names no namespace', { [OWN_CLAIM]: own({ namespace: '' }) }, /claim namespace /],
      ['names a namespace with a slash', { [OWN_CLAIM]: own({ namespace: 'ns/a' }) }, /claim namespace /],
      ['names a namespace with a colon', { [OWN_CLAIM]: own({ namespace: 'ns:a' }) }, /claim namespace /],
      ['names a namespace that leads out', { [OWN_CLAIM]: own({ namespace: '..' }) }, /claim namespace /],
      ['names no account', { [OWN_CLAIM]: own({ serviceaccount: undefined }) }, /claim serviceaccount /],
      ['names an account without a name', { [OWN_CLAIM]: own({ serviceaccount: { uid: 'u' } }) }, /claim name /],
      ['names an account by half', { [OWN_CLAIM]: own({ serviceaccount: { name: 'a' } }) }, /claim uid /],
      ['names an account oddly', { [OWN_CLAIM]: own({ serviceaccount: { name: 'x:a', uid: 'u' } }) }, /claim name /],
      ['is bound to a text', { [OWN_CLAIM]: own({ pod: 'p' }) }, /claim pod /],
      ['is bound to a pod without uid', { [OWN_CLAIM]: own({ pod: { name: 'p' } }) }, /claim uid /],
      ['is of another subject', { sub: 'system:serviceaccount:ns:b' }, /claim sub /],
      ['should be told of at a text', { [OWN_CLAIM]: own({ warnafter: 'x' }) }, /claim warnafter /],
    ];
    for (const [what, more, message] of bad) {
      it(`refuses one that ${what}`, async () => {
        await refuses(key.sign(boundTo(undefined, more)), message);
      });
    }

    it('finds no claims in a prototype', async () => {
      const text = JSON.stringify(boundTo(undefined, { [OWN_CLAIM]: undefined }));
      const inside = JSON.stringify({ [OWN_CLAIM]: own({}) });
      await refuses(key.sign(`{"__proto__":${inside},${text.slice(1)}`), new RegExp(`claim ${OWN_CLAIM} `));
    });

    it('refuses a token that expires once it is known', async () => {
      const by = tokens();
      const token = await key.sign(boundTo());
      clock.seconds = NOW_SECONDS + 3599;
      assert.equal((await ask(token, by))?.user.name, USER.name);
      clock.seconds = NOW_SECONDS + 3600;
      await refuses(token, /has expired/, by);
    });
  });

  describe('of tokens whose time and signature are good', () => {
    it('knows the account', async () => {
      assert.deepEqual(await ask(key.sign(boundTo())), { user: USER, audiences: OWN });
    });

    it('knows the account by the words of the other vocabulary', async () => {
      const claims = { ...boundTo(), [OWN_CLAIM]: undefined, 'kubernetes.io': boundTo()[OWN_CLAIM] };
      const { vocabulary } = await import('../../../machinery/vocabulary/vocabulary.js');
      const identity = await ask(key.sign(claims), tokens({ vocabulary: vocabulary('kubernetes') }));
      assert.deepEqual(identity?.user, USER);
      await refuses(key.sign(claims), new RegExp(`claim ${OWN_CLAIM} `));
    });

    for (const [what, sign] of [
      ['without the name of the key', (c: Claims) => key.sign(c, { kid: 'nobody' })],
      ['with RSA', (c: Claims) => rsa.sign(c)],
      ['with RSA and another hash', (c: Claims) => rsa.sign(c, { alg: 'PS512' })],
      ['with RSA without the name of the key', (c: Claims) => rsa.sign(c, { alg: 'RS384', kid: '' })],
    ] as const) {
      it(`takes one signed ${what}`, async () => {
        assert.deepEqual((await ask(sign(boundTo())))?.user, USER);
      });
    }

    it('takes those of former issuers', async () => {
      const by = tokens({ issuers: ['https://new.example', ISSUER] });
      assert.deepEqual((await ask(key.sign(boundTo()), by))?.user, USER);
    });

    it('takes one that comes early by what clocks differ', async () => {
      assert.deepEqual((await ask(key.sign(boundTo(undefined, { nbf: NOW_SECONDS + 70 }))))?.user, USER);
    });

    it('tells for which of the wanted audiences it is', async () => {
      const by = tokens();
      const token = await key.sign(boundTo(undefined, { aud: ['x', 'y', ISSUER] }));
      assert.deepEqual((await ask(token, by, ['z', 'y', 'x']))?.audiences, ['y', 'x']);
      assert.deepEqual((await ask(token, by))?.audiences, OWN);
      await refuses(token, /not meant/, by, ['z']);
      assert.deepEqual((await ask(token, by, ['x']))?.audiences, ['x']);
    });

    it('tells the pod', async () => {
      await scene.put('pods', { name: 'p' });
      const identity = await ask(key.sign(boundTo({ kind: 'pod', name: 'p' })));
      const { podName, podUid } = WORDS.userExtra;
      assert.deepEqual(identity?.user, { ...USER, extra: { [podName]: ['p'], [podUid]: ['uid-of-p'] } });
    });

    it('tells the audit of one that should have been replaced, and not of one that need not yet', async () => {
      const by = tokens();
      const token = await key.sign(boundTo(undefined, { [OWN_CLAIM]: own({ warnafter: NOW_SECONDS + 60 }) }));
      clock.seconds = NOW_SECONDS + 60;
      assert.equal((await ask(token, by))?.auditAnnotations, undefined);
      clock.seconds = NOW_SECONDS + 75.5;
      assert.deepEqual((await ask(token, by))?.auditAnnotations, {
        [auditAnnotations.staleToken]: 'subject: system:serviceaccount:ns:a, seconds after warning threshold: 15',
      });
    });

    it('gives the same user for the same token, at once after the first time', async () => {
      const by = tokens();
      const token = await key.sign(boundTo());
      const first = await ask(token, by);
      const second = by.authenticateToken(token, OWN);
      assert.ok(!(second instanceof Promise));
      assert.equal(second, first);
      await scene.put('serviceaccounts', { name: 'a', type: 'something that changes it' });
      assert.equal((by.authenticateToken(token, OWN) as Identity).user, first?.user);
      assert.equal((by.authenticateToken(token, ['z', ISSUER]) as Identity).user, first?.user);
      assert.equal(scene.asked, 0);
    });

    it('checks a signature once for all who come at the same time', async () => {
      const by = tokens();
      const token = await key.sign(boundTo());
      const all = await Promise.all(Array.from({ length: 5 }, () => ask(token, by)));
      assert.deepEqual(
        all.map((it) => it === all[0]),
        [true, true, true, true, true],
      );
    });
  });

  describe('of tokens that name what is gone', () => {
    const bindings = [
      ['serviceaccounts', 'a', undefined, 'ServiceAccount'],
      ['pods', 'p', { kind: 'pod', name: 'p' }, 'Pod'],
      ['secrets', 's', { kind: 'secret', name: 's' }, 'Secret'],
    ] as const;

    for (const [resource, name, object, kind] of bindings) {
      const revoked = new RegExp(`revoked: there is no such ${kind} any more: ns/${name}`);
      const known = async (): Promise<{ by: ServiceAccountTokens; token: string }> => {
        await scene.put(resource, { name });
        const by = tokens();
        const token = await key.sign(boundTo(object));
        assert.equal((await ask(token, by))?.user.name, USER.name);
        return { by, token };
      };

      it(`refuses one after its ${kind} was deleted, and asks the store about it once`, async () => {
        const { by, token } = await known();
        await scene.remove(resource, name);
        await refuses(token, revoked, by);
        await refuses(token, revoked, by);
        assert.equal(scene.asked, 1);
        clock.seconds += 1;
        await refuses(token, revoked, by);
        assert.equal(scene.asked, 2);
      });

      it(`refuses one after its ${kind} was deleted and made again`, async () => {
        const { by, token } = await known();
        await scene.put(resource, { name, uid: 'another' });
        await refuses(token, revoked, by);
        await scene.put(resource, { name });
        assert.equal((await ask(token, by))?.user.name, USER.name);
      });

      it(`refuses one a minute after somebody began to delete its ${kind}`, async () => {
        const { by, token } = await known();
        await scene.put(resource, { name, deletionTimestamp: new Date(NOW_SECONDS * 1000).toISOString() });
        clock.seconds = NOW_SECONDS + 59;
        assert.equal((await ask(token, by))?.user.name, USER.name);
        clock.seconds = NOW_SECONDS + 60;
        await refuses(token, revoked, by);
      });

      it(`refuses one whose ${kind} never was there`, async () => {
        await scene.remove(resource, name);
        await refuses(key.sign(boundTo(object)), revoked);
      });
    }

    it('looks for the pod in the namespace of the account only', async () => {
      await scene.put('pods', { name: 'p', namespace: 'other' });
      await refuses(key.sign(boundTo({ kind: 'pod', name: 'p' })), /no such Pod/);
    });
  });

  describe('where the cache lags', () => {
    const object = { kind: 'pod', name: 'p' } as const;

    it('takes the word of the store for what others have just made, and asks once for all who come', async () => {
      await scene.lag();
      await scene.put('pods', { name: 'p' });
      const by = tokens();
      const token = await key.sign(boundTo(object));
      await Promise.all([ask(token, by), ask(token, by), ask(token, by)]);
      assert.equal((await ask(token, by))?.user.name, USER.name);
      assert.equal(scene.asked, 1);
      clock.seconds += 1;
      await ask(token, by);
      assert.equal(scene.asked, 2);
    });

    it('takes its word for what was made again', async () => {
      await scene.put('pods', { name: 'p', uid: 'a former one' });
      await scene.lag();
      await scene.put('pods', { name: 'p' });
      assert.equal((await ask(key.sign(boundTo(object))))?.user.name, USER.name);
    });

    it('refuses when the store has another one of the name', async () => {
      await scene.lag();
      await scene.put('pods', { name: 'p', uid: 'another' });
      await refuses(key.sign(boundTo(object)), /no such Pod/);
    });

    it('takes the word of the cache when that comes to know while the store is asked', async () => {
      await scene.lag();
      await scene.put('pods', { name: 'p' });
      scene.beforeAnswer = () => scene.follow();
      assert.equal((await ask(key.sign(boundTo(object))))?.user.name, USER.name);
      assert.equal(scene.asked, 1);
    });

    it('believes the cache again as soon as that has come so far', async () => {
      await scene.lag();
      await scene.put('pods', { name: 'p' });
      const by = tokens();
      const token = await key.sign(boundTo(object));
      await ask(token, by);
      await scene.remove('pods', 'p');
      await scene.follow();
      await scene.put('pods', { name: 'another' });
      await refuses(token, /no such Pod/, by);
      assert.equal(scene.asked, 1);
    });

    it('refuses when the store does not answer, and does not hold that against the token', async () => {
      await scene.lag();
      await scene.put('pods', { name: 'p' });
      const by = tokens();
      const token = await key.sign(boundTo(object));
      scene.failure = new Error('no answer');
      await assert.rejects(ask(token, by), /no answer/);
      scene.failure = undefined;
      assert.equal((await ask(token, by))?.user.name, USER.name);
    });

    it('survives that nothing of what a token names is there and the store does not answer', async () => {
      await scene.remove('serviceaccounts', 'a');
      scene.failure = new Error('no answer');
      await assert.rejects(ask(key.sign(boundTo(object))), /no answer/);
    });
  });

  describe('of tokens that lie in Secrets', () => {
    const held = async (claims = heldIn()): Promise<string> => {
      const token = await key.sign(claims);
      await scene.put('secrets', { name: 'a-token', type: TOKEN_TYPE, data: { token } });
      return token;
    };

    it('knows the account, and tells the audit', async () => {
      assert.deepEqual(await ask(held()), {
        user: USER,
        auditAnnotations: { [auditAnnotations.legacyToken]: USER.name },
      });
      assert.equal(scene.asked, 0);
    });

    it('needs no issuer for them', async () => {
      assert.deepEqual((await ask(held(), tokens({ issuers: [] }), []))?.user, USER);
    });

    for (const [what, change, message] of [
      ['was deleted', () => scene.remove('secrets', 'a-token'), /no such Secret/],
      ['holds another token', async () => held(heldIn({ jti: 'x' })), /no such Secret/],
      ['holds none', () => scene.put('secrets', { name: 'a-token', type: TOKEN_TYPE, data: {} }), /no such Secret/],
      ['has no data', () => scene.put('secrets', { name: 'a-token', type: TOKEN_TYPE }), /no such Secret/],
    ] as const) {
      it(`refuses one whose Secret ${what}`, async () => {
        const by = tokens();
        const token = await held();
        await ask(token, by);
        await change();
        await refuses(token, message, by);
        await refuses(token, message, by);
        assert.equal(scene.asked, 1);
      });
    }

    it('refuses one whose Secret is of another type', async () => {
      const token = await key.sign(heldIn());
      await scene.put('secrets', { name: 'a-token', type: 'Opaque', data: { token } });
      await refuses(token, /no such Secret/);
    });

    it('refuses one whose Secret has long been on its way out', async () => {
      const token = await key.sign(heldIn());
      const deletionTimestamp = new Date((NOW_SECONDS - 60) * 1000).toISOString();
      await scene.put('secrets', { name: 'a-token', type: TOKEN_TYPE, data: { token }, deletionTimestamp });
      await refuses(token, /no such Secret/);
    });

    it('refuses one after its account was deleted, or made again', async () => {
      const by = tokens();
      const token = await held();
      await ask(token, by);
      await scene.put('serviceaccounts', { name: 'a', uid: 'another' });
      await refuses(token, /no such ServiceAccount/, by);
      await scene.remove('serviceaccounts', 'a');
      await refuses(token, /no such ServiceAccount/, by);
    });

    for (const [what, more, message] of [
      ['names no namespace', { [LEGACY.namespace]: undefined }, /claim .*namespace /],
      ['names an empty namespace', { [LEGACY.namespace]: '' }, /claim .*namespace /],
      ['names a namespace with a colon', { [LEGACY.namespace]: 'ns:a', sub: 'system:serviceaccount:ns:a:a' }, /claim .*namespace /], // prettier-ignore
      ['names no Secret', { [LEGACY.secretName]: undefined }, /claim .*secret.name /],
      ['names a Secret elsewhere', { [LEGACY.secretName]: '../other/a-token' }, /claim .*secret.name /],
      ['names no account', { [LEGACY.serviceAccountName]: '' }, /claim .*service-account.name /],
      ['names no uid', { [LEGACY.serviceAccountUid]: undefined }, /claim .*service-account.uid /],
      ['has no subject', { sub: undefined }, /claim sub /],
      ['has another subject', { sub: 'system:serviceaccount:ns:b' }, /claim sub /],
      ['has expired', { exp: NOW_SECONDS }, /has expired/],
    ] as const) {
      it(`refuses one that ${what}, looked up or not`, async () => {
        const token = await held(heldIn(more));
        await refuses(token, message);
        await refuses(token, message, tokens({ lookup: false }));
      });
    }

    it('asks for nothing but the signature where they are not looked up', async () => {
      await scene.remove('serviceaccounts', 'a');
      const by = tokens({ lookup: false });
      assert.deepEqual((await ask(key.sign(heldIn()), by))?.user, USER);
      await refuses(new TestKey().sign(heldIn()), /No key/, by);
      assert.equal(scene.asked, 0);
    });

    it('looks up what others name even there', async () => {
      await scene.remove('serviceaccounts', 'a');
      await refuses(key.sign(boundTo()), /no such ServiceAccount/, tokens({ lookup: false }));
    });
  });
});
