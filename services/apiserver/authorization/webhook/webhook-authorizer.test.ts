import assert from 'node:assert/strict';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson } from '../../../client/testing/tls-service.js';
import type { UserInfo } from '../../request/request.js';
import { Hook, UNUSABLE, type Sent } from '../../webhook-reviews/testing/hook.js';
import { textSelectors } from '../selectors.js';
import { decide } from '../stage.js';
import type { Attributes, Authorizer, Decision, ResourceAttributes } from '../authorizer.js';
import { WebhookAuthorizer } from './webhook-authorizer.js';

const JANE: UserInfo = { name: 'jane', uid: '42', groups: ['dev', 'qa'], extra: { scopes: ['read'] } };
const GET: ResourceAttributes = {
  kind: 'resource',
  verb: 'get',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: 'scale',
  namespace: 'ns',
  name: 'web',
};
const METRICS: Attributes = { kind: 'path', verb: 'get', path: '/metrics' };
const ALLOWED = { allowed: true, reason: 'may' };
const AUTHORIZED_MS = 300_000;
const UNAUTHORIZED_MS = 30_000;

describe('WebhookAuthorizer', () => {
  let authority: TestAuthority;
  let hook: Hook;
  let now: number;
  before(() => (authority = new TestAuthority('hooks')));
  after(() => authority.remove());
  beforeEach(async () => {
    hook = await Hook.start(authority);
    now = 0;
  });
  afterEach(() => hook.close());

  interface Opening {
    readonly version?: 'v1' | 'v1beta1';
    readonly authorizedTtlMs?: number;
    readonly unauthorizedTtlMs?: number;
  }
  const open = ({ version = 'v1', ...ttl }: Opening = {}): WebhookAuthorizer =>
    new WebhookAuthorizer({
      service: hook.open({ kind: 'SubjectAccessReview', apiVersion: `authorization.platform.io/${version}` }),
      groups: version === 'v1' ? 'groups' : 'group',
      authorizedTtlMs: AUTHORIZED_MS,
      unauthorizedTtlMs: UNAUTHORIZED_MS,
      nowMs: () => now,
      ...ttl,
    });
  const ask = async (it: Authorizer = open(), user = JANE, attributes: Attributes = GET): Promise<Decision> =>
    it.authorize(user, attributes);
  const asked = (): number => hook.service.received.length;

  describe('has no opinion, and says why, after an answer', () => {
    async function fails(message: RegExp): Promise<void> {
      const it = open();
      for (let i = 0; i < 2; i++) {
        const before = asked();
        const { error = '', ...decision } = await ask(it);
        assert.deepEqual(decision, { decision: 'noOpinion', reason: '' });
        assert.match(error, message);
        assert.ok(asked() > before, 'a failure was remembered');
      }
    }

    for (const [what, answer, message] of UNUSABLE) {
      it(what, async () => {
        hook.service.answer = ({ body }, res): void => answer(res, JSON.parse(body) as Sent, ALLOWED);
        await fails(message);
      });
    }
    for (const [what, status, message] of [
      ['with "true" for true', { allowed: 'true' }, /status\.allowed of the answer is neither true nor false/],
      ['with 1 for true', { allowed: 1 }, /status\.allowed of the answer is neither/],
      ['with a list for true', { allowed: [true] }, /status\.allowed of the answer is neither/],
      ['that denies with "false"', { allowed: true, denied: 'false' }, /status\.denied of the answer is neither/],
      ['with a reason that is a list', { allowed: true, reason: [] }, /status\.reason of the answer is no text/],
      ['with an error that is an object', { allowed: true, evaluationError: {} }, /status\.evaluationError .* no text/],
    ] as const) {
      it(what, async () => {
        hook.says(status);
        await fails(message);
      });
    }

    it('that allows in its prototype', async () => {
      hook.service.answer = (_, res): void =>
        void res
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"status":{"__proto__":{"allowed":true},"reason":"x"}}');
      assert.deepEqual(await ask(), { decision: 'noOpinion', reason: 'x' });
    });
  });

  describe('decides as the service says', () => {
    for (const [status, decision] of [
      [{}, { decision: 'noOpinion', reason: '' }],
      [{ allowed: false }, { decision: 'noOpinion', reason: '' }],
      [
        { allowed: null, denied: null, reason: null },
        { decision: 'noOpinion', reason: '' },
      ],
      [
        { allowed: false, reason: 'who?' },
        { decision: 'noOpinion', reason: 'who?' },
      ],
      [{ evaluationError: 'no list' }, { decision: 'noOpinion', reason: '', error: 'no list' }],
      [
        { denied: true, reason: 'never' },
        { decision: 'deny', reason: 'never' },
      ],
      [
        { denied: true, evaluationError: 'e' },
        { decision: 'deny', reason: '', error: 'e' },
      ],
      [
        { ...ALLOWED, denied: true },
        { decision: 'deny', reason: 'may', error: 'The answer both allows and denies' },
      ],
      [ALLOWED, { decision: 'allow', reason: 'may' }],
      [
        { allowed: true, denied: false },
        { decision: 'allow', reason: '' },
      ],
      [
        { ...ALLOWED, reason: 'x'.repeat(2_000) },
        { decision: 'allow', reason: `${'x'.repeat(1_024)}…` },
      ],
    ] as const) {
      it(JSON.stringify(status).slice(0, 60), async () => {
        hook.says(status);
        assert.deepEqual(await ask(), decision);
      });
    }
  });

  describe('asks', () => {
    const user = { user: 'jane', uid: '42', extra: { scopes: ['read'] } };
    const { kind: _, ...resource } = GET;
    const BODIES: readonly (readonly [string, 'v1' | 'v1beta1', UserInfo, Attributes, object])[] = [
      ['of an object in v1', 'v1', JANE, GET, { resourceAttributes: resource, ...user, groups: ['dev', 'qa'] }],
      ['of one in v1beta1', 'v1beta1', JANE, GET, { resourceAttributes: resource, ...user, group: ['dev', 'qa'] }],
      [
        'of a path',
        'v1',
        JANE,
        METRICS,
        { nonResourceAttributes: { path: '/metrics', verb: 'get' }, ...user, groups: ['dev', 'qa'] },
      ],
      [
        'leaving out what is empty',
        'v1beta1',
        { name: 'joe', uid: '', groups: [], extra: {} },
        { ...GET, verb: 'list', group: '', resource: 'nodes', subresource: '', namespace: '', name: '' },
        { resourceAttributes: { verb: 'list', version: 'v1', resource: 'nodes' }, user: 'joe' },
      ],
    ];
    const narrowed = (field: string, label: string): Attributes => ({ ...GET, selectors: textSelectors(field, label) });
    for (const [what, field, label, more] of [
      ['fields', 'a!=b', '', { fieldSelector: { requirements: [{ key: 'a', operator: 'NotIn', values: ['b'] }] } }],
      ['labels', '', '!a', { labelSelector: { requirements: [{ key: 'a', operator: 'DoesNotExist' }] } }],
      ['what cannot be read', 'a', 'a b', {}],
    ] as const) {
      it(`with selectors of ${what}`, async () => {
        hook.says(ALLOWED);
        await ask(open(), JANE, narrowed(field, label));
        const resourceAttributes = { ...resource, ...more };
        assert.deepEqual(hook.sent[0]?.spec, { resourceAttributes, ...user, groups: ['dev', 'qa'] });
      });
    }

    for (const [what, version, who, attributes, spec] of BODIES) {
      it(what, async () => {
        hook.says(ALLOWED);
        await ask(open({ version }), who, attributes);
        const apiVersion = `authorization.platform.io/${version}`;
        assert.deepEqual(hook.sent, [{ kind: 'SubjectAccessReview', apiVersion, spec }]);
      });
    }

    it('for nobody who has left, and not those after it either', async () => {
      const asker = new AbortController();
      const closed = new Promise<void>((resolve) => {
        hook.service.answer = (_, res): void => {
          res.on('close', resolve);
          asker.abort(new Error('gone'));
        };
      });
      const next: Authorizer = { name: 'next', authorize: () => assert.fail('it was asked') };
      await assert.rejects(async () => decide([open(), next], JANE, GET, asker), /gone/);
      await closed;
    });

    it('once for many who ask the same at the same time', async () => {
      hook.says(ALLOWED);
      const it = open();
      const all = await Promise.all(Array.from({ length: 100 }, () => ask(it)));
      assert.deepEqual(all, Array(100).fill({ decision: 'allow', reason: 'may' }));
      assert.equal(asked(), 1);
    });
  });

  describe('remembers', () => {
    for (const [what, status, ttlMs] of [
      ['what is allowed', ALLOWED, AUTHORIZED_MS],
      ['what is denied', { denied: true }, UNAUTHORIZED_MS],
      ['where there is no opinion', {}, UNAUTHORIZED_MS],
    ] as const) {
      it(`${what} for ${ttlMs} ms`, async () => {
        hook.says(status);
        const it = open();
        const first = await ask(it);
        now += ttlMs - 1;
        assert.equal(it.authorize(JANE, GET), first); // at once
        now += 1;
        await ask(it);
        assert.equal(asked(), 2);
      });
    }

    it('nothing for no time', async () => {
      const it = open({ authorizedTtlMs: 0, unauthorizedTtlMs: 0 });
      for (const status of [ALLOWED, ALLOWED, {}, {}]) {
        hook.says(status);
        await ask(it);
      }
      assert.equal(asked(), 4);
    });

    it('nothing of what is longer than 10 000 characters', async () => {
      hook.says(ALLOWED);
      const it = open();
      const rest = 'get'.length + 'apps'.length + 'v1'.length + 'deployments'.length + 'scale'.length + 'ns'.length;
      for (const [name, more] of [
        ['x'.repeat(9_999 - rest), 1],
        ['x'.repeat(10_000 - rest), 2],
      ] as const) {
        const before = asked();
        for (let i = 0; i < 2; i++) await ask(it, JANE, { ...GET, name });
        assert.equal(asked() - before, more);
      }
      const path = `/${'x'.repeat(10_000)}`;
      for (let i = 0; i < 2; i++) await ask(it, JANE, { ...METRICS, path });
      assert.equal(asked(), 5);
      const selectors = textSelectors(`a=${'x'.repeat(10_000)}`, '');
      for (let i = 0; i < 2; i++) await ask(it, JANE, { ...GET, selectors });
      assert.equal(asked(), 7);
    });

    it('what was allowed, however much else is refused', async () => {
      let questions = 0;
      const it = new WebhookAuthorizer({
        service: {
          ask: (spec, read) => {
            questions += 1;
            return Promise.resolve(read({ allowed: 'user' in spec && spec.user === 'jane' }));
          },
        },
        groups: 'groups',
        authorizedTtlMs: AUTHORIZED_MS,
        unauthorizedTtlMs: UNAUTHORIZED_MS,
      });
      const joe = { ...JANE, name: 'joe' };
      await ask(it);
      for (let i = 0; i < 8_192; i++) await ask(it, joe, { ...GET, name: `n-${i}` });
      assert.equal(questions, 8_193);
      await ask(it, joe, { ...GET, name: 'n-0' });
      assert.equal(questions, 8_193);
      await ask(it, joe, { ...GET, name: 'n' }); // for which n-1 goes
      await ask(it, joe, { ...GET, name: 'n-1' });
      assert.equal(questions, 8_195);
      assert.equal((await ask(it)).decision, 'allow');
      assert.equal(questions, 8_195);
    });

    const changed = <T extends object>(value: T, members: readonly (keyof T)[]): T[] =>
      members.map((member) => ({ ...value, [member]: 'other' }));
    const OTHERS: readonly (readonly [UserInfo, Attributes])[] = [
      [{ ...JANE, name: 'joe' }, GET],
      [{ ...JANE, uid: '43' }, GET],
      [{ ...JANE, groups: ['dev'] }, GET],
      [{ ...JANE, groups: ['dev,qa'] }, GET],
      [{ ...JANE, groups: ['dev"', '"qa'] }, GET],
      [{ ...JANE, groups: [] }, GET],
      [{ ...JANE, extra: {} }, GET],
      [{ ...JANE, extra: { scopes: ['write'] } }, GET],
      [{ ...JANE, extra: { scopes: ['read', 'write'] } }, GET],
      [{ ...JANE, extra: { other: ['read'] } }, GET],
      ...changed(GET, ['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name']).map(
        (attributes) => [JANE, attributes] as const,
      ),
      [JANE, { ...GET, namespace: 'web', name: 'ns' }],
      [JANE, { ...GET, resource: 'deploymentsscale', subresource: '' }],
      [JANE, { ...GET, selectors: textSelectors('a=b', '') }],
      [JANE, { ...GET, selectors: textSelectors('', 'a=b') }],
      [JANE, { ...GET, selectors: textSelectors('', 'a=c') }],
      [JANE, METRICS],
      [JANE, { ...METRICS, verb: 'post' }],
      [JANE, { ...METRICS, path: '/metrics/' }],
    ];
    it('one question apart from all others', async () => {
      const it = open();
      hook.says(ALLOWED);
      assert.equal((await ask(it)).decision, 'allow');
      hook.says({ denied: true });
      for (const [user, attributes] of OTHERS) {
        assert.equal((await ask(it, user, attributes)).decision, 'deny', JSON.stringify([user, attributes]));
      }
      assert.equal(asked(), 1 + OTHERS.length);
      assert.equal((await ask(it, { ...JANE }, { ...GET })).decision, 'allow'); // equal is the same
    });
  });

  describe('before others', () => {
    const allows: Authorizer = { name: 'after', authorize: () => ({ decision: 'allow', reason: 'after' }) };
    const refuses: Authorizer = { name: 'after', authorize: () => ({ decision: 'noOpinion', reason: 'after' }) };

    it('ends the matter when the service denies', async () => {
      hook.says({ denied: true, reason: 'never' });
      assert.deepEqual(await decide([open(), allows], JANE, GET), { decision: 'deny', reason: 'never' });
    });

    it('leaves it to them when the service has no opinion', async () => {
      hook.says({ allowed: false, reason: 'who?' });
      assert.deepEqual(await decide([open(), allows], JANE, GET), { decision: 'allow', reason: 'after' });
      assert.deepEqual(await decide([open(), refuses], JANE, GET), { decision: 'noOpinion', reason: 'who?\nafter' });
    });

    it('leaves it to them when the service fails, and allows nothing by itself', async () => {
      hook.service.answer = (_, res): void => answerJson(res, { status: ALLOWED }, 500);
      assert.equal((await decide([open(), allows], JANE, GET)).decision, 'allow');
      const { decision, error = '' } = await decide([open(), refuses], JANE, GET);
      assert.equal(decision, 'noOpinion');
      assert.match(error, /answered with the status 500/);
    });
  });

  it('lists nothing', () => {
    assert.ok(!('rulesFor' in open()));
  });
});
