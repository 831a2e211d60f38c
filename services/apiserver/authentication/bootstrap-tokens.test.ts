import assert from 'node:assert/strict';
import { bootstrapTokens } from './bootstrap-tokens.js';
import { ObjectScene, type ObjectParts } from './service-accounts/testing/scene.js';
import { WORDS } from './service-accounts/testing/tokens.js';
import { TokenRefused } from './token-reviewer.js';
import type { Identity } from './authenticator.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const ID = 'abcdef';
const SECRET = '0123456789abcdef';
const TOKEN = `${ID}.${SECRET}`;
const GOOD = { 'token-id': ID, 'token-secret': SECRET, 'usage-bootstrap-authentication': 'true' };

describe('bootstrapTokens()', () => {
  let scene: ObjectScene;
  before(async () => (scene = await ObjectScene.open()));
  after(() => scene.close());

  const put = (
    data: Readonly<Record<string, string | undefined>> = {},
    more: Partial<ObjectParts> = {},
  ): Promise<void> => {
    const all = Object.entries<string | undefined>({ ...GOOD, ...data }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return scene.put('secrets', {
      namespace: WORDS.namespaces.system,
      name: `bootstrap-token-${ID}`,
      type: WORDS.secretTypes.bootstrapToken,
      data: Object.fromEntries(all),
      ...more,
    });
  };
  const ask = (token = TOKEN, nowMs = NOW): Identity | undefined => {
    const by = bootstrapTokens({ resources: scene.core.resources, vocabulary: WORDS, nowMs: () => nowMs });
    const answer = by.authenticateToken(token, []);
    assert.ok(!(answer instanceof Promise));
    return answer;
  };
  const refuses = (message: RegExp, token = TOKEN, nowMs = NOW): void =>
    assert.throws(
      () => ask(token, nowMs),
      (err: unknown) => err instanceof TokenRefused && message.test(err.message) && !err.message.includes(SECRET),
    );

  for (const token of [
    '',
    'abcdef',
    'abcdef.',
    'ABCDEF.0123456789abcdef',
    'abcdef.0123456789ABCDEF',
    'abcde.0123456789abcdef',
    'abcdef.0123456789abcdef0',
    'abcdef.0123456789abcdef\n',
    ' abcdef.0123456789abcdef',
    'abcdef:0123456789abcdef',
    '../../.0123456789abcdef',
    'a.b.c',
    'x'.repeat(64 * 1024),
  ]) {
    it(`leaves ${JSON.stringify(token.slice(0, 30))} to others`, async () => {
      await put();
      assert.equal(ask(token), undefined);
    });
  }

  for (const [what, data, more, message] of [
    ['has another secret', { 'token-secret': '0123456789abcdee' }, {}, /is another one/],
    ['has a longer secret', { 'token-secret': `${SECRET}0` }, {}, /is another one/],
    ['has no secret', { 'token-secret': undefined }, {}, /has no token-secret/],
    ['has another id', { 'token-id': 'abcdeg' }, {}, /another token-id/],
    ['has no id', { 'token-id': undefined }, {}, /another token-id/],
    ['has expired', { expiration: '2026-01-01T00:00:00Z' }, {}, /expired/],
    ['has expired elsewhere', { expiration: '2026-01-01T01:00:00+01:00' }, {}, /expired/],
    ['expires at no time', { expiration: 'tomorrow' }, {}, /expired/],
    ['expires on a day', { expiration: '2030-01-01' }, {}, /expired/],
    ['expires at what the calendar lacks', { expiration: '2030-02-30T00:00:00Z' }, {}, /expired/],
    ['expires at a number', { expiration: '99999999999' }, {}, /expired/],
    ['is not meant for it', { 'usage-bootstrap-authentication': undefined }, {}, /not meant for auth/],
    ['is meant for it by half', { 'usage-bootstrap-authentication': 'True' }, {}, /not meant for auth/],
    ['is meant for signing', { 'usage-bootstrap-authentication': 'false', 'usage-bootstrap-signing': 'true' }, {}, /not meant for auth/], // prettier-ignore
    ['gives the rights of others', { 'auth-extra-groups': 'system:masters' }, {}, /no groups of bootstrappers/],
    ['gives them among good ones', { 'auth-extra-groups': 'system:bootstrappers:a,system:masters' }, {}, /no groups/],
    ['gives a group with a space', { 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' }, {}, /no groups/], // prettier-ignore
    ['gives a group without a name', { 'auth-extra-groups': 'system:bootstrappers:' }, {}, /no groups/],
    ['gives a group in upper case', { 'auth-extra-groups': 'system:bootstrappers:A' }, {}, /no groups/],
    ['gives a group that ends oddly', { 'auth-extra-groups': 'system:bootstrappers:a:' }, {}, /no groups/],
    ['gives a group with a line end', { 'auth-extra-groups': 'system:bootstrappers:a\n' }, {}, /no groups/],
    ['ends in a comma', { 'auth-extra-groups': 'system:bootstrappers:a,' }, {}, /no groups/],
    ['is of another type', {}, { type: 'Opaque' }, /another type/],
    ['is being deleted', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }, /being deleted/],
  ] as const) {
    it(`refuses a token whose Secret ${what}`, async () => {
      await put(data, more);
      refuses(message);
    });
  }

  it('refuses a token without a Secret, in the right namespace, and asks no store', async () => {
    await scene.remove('secrets', `bootstrap-token-${ID}`, WORDS.namespaces.system);
    await put({}, { namespace: 'default' });
    const before = scene.asked;
    refuses(/no bootstrap token of that id/);
    assert.equal(scene.asked, before);
  });

  it('knows who comes with a token', async () => {
    await put();
    assert.deepEqual(ask(), {
      user: { name: `system:bootstrap:${ID}`, uid: '', groups: ['system:bootstrappers'], extra: {} },
    });
  });

  it('adds the groups of its Secret', async () => {
    await put({ 'auth-extra-groups': 'system:bootstrappers:x:y,system:bootstrappers:a-1,system:bootstrappers:a-1' });
    const groups = ['system:bootstrappers', 'system:bootstrappers:a-1', 'system:bootstrappers:x:y'];
    assert.deepEqual(ask()?.user.groups, groups);
  });

  it('refuses it from the moment on when it expires', async () => {
    await put({ expiration: '2026-01-01T00:00:10.5Z' });
    assert.equal(ask(TOKEN, NOW + 10_499)?.user.name, `system:bootstrap:${ID}`);
    refuses(/expired/, TOKEN, NOW + 10_500);
  });

  it('looks at the Secret as it is, and gives the same user as long as that does not change', async () => {
    await put();
    const by = bootstrapTokens({ resources: scene.core.resources, vocabulary: WORDS, nowMs: () => NOW });
    const first = by.authenticateToken(TOKEN, []);
    assert.equal(by.authenticateToken(TOKEN, []), first);
    await put({ 'usage-bootstrap-authentication': 'false' });
    assert.throws(() => by.authenticateToken(TOKEN, []), TokenRefused);
  });
});
