import assert from 'node:assert/strict';
import { MERGE, type Client, type Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, newNamespace, refused } from './tools/objects.js';
import { onBothStores } from './tools/server.js';

const AUTHORIZATION = 'authorization.platform.io/v1';
const AUTHENTICATION = 'authentication.platform.io/v1';
const RBAC = 'rbac.authorization.platform.io';

/** A user with a role of these rules in a namespace of its own. */
async function newUser(client: Client, rules: readonly object[]): Promise<{ user: string; namespace: string }> {
  const namespace = await newNamespace(client);
  const user = `user-of-${namespace}`;
  const path = `/apis/${RBAC}/v1/namespaces/${namespace}`;
  const metadata = { name: 'r' };
  created(await client.post(`${path}/roles`, { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules }));
  const roleRef = { apiGroup: RBAC, kind: 'Role', name: 'r' };
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: user }];
  created(await client.post(`${path}/rolebindings`, { apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects })); // prettier-ignore
  return { user, namespace };
}

const READ_PODS = { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] };

const review = (kind: string, spec: object, metadata?: object): object => ({
  apiVersion: AUTHORIZATION,
  kind,
  ...(metadata === undefined ? {} : { metadata }),
  spec,
});

const statusOf = (reply: Reply): Record<string, unknown> => created(reply)['status'] as Record<string, unknown>;

function accessReviews(client: () => Client): void {
  const path = `/apis/${AUTHORIZATION}`;
  const ask = (kind: string, spec: object, namespace = '', headers = {}): Promise<Reply> =>
    client().request('POST', `${path}/${namespace === '' ? '' : `namespaces/${namespace}/`}${kind.toLowerCase()}s`, {
      body: review(kind, spec, namespace === '' ? undefined : { namespace }),
      headers,
    });

  it('have nothing to show but themselves', async () => {
    const as = (view: string): string => `application/json;as=${view};g=meta.platform.io;v=v1`;
    const spec = { nonResourceAttributes: { path: '/a', verb: 'get' } };
    for (const view of ['Table', 'PartialObjectMetadata']) {
      refused(await ask('SelfSubjectAccessReview', spec, '', { accept: as(view) }), 406, 'NotAcceptable');
      const other = await ask('SelfSubjectAccessReview', spec, '', { accept: `${as(view)}, application/json` });
      assert.equal(created(other).kind, 'SelfSubjectAccessReview');
    }
  });

  const wrong: readonly (readonly [what: string, kind: string, spec: object, message: RegExp])[] = [
    ['neither a resource nor a path', 'SubjectAccessReview', { user: 'a' }, /exactly one of nonResourceAttributes/],
    ['both', 'SelfSubjectAccessReview', { resourceAttributes: {}, nonResourceAttributes: {} }, /in combination/],
    ['nobody', 'SubjectAccessReview', { resourceAttributes: { verb: 'get' } }, /at least one of user or group/],
    ['a selector that says nothing', 'SelfSubjectAccessReview', { resourceAttributes: { labelSelector: {} } }, /labelSelector.requirements: Required value: when/], // prettier-ignore
    ['nobody by empty words', 'SubjectAccessReview', { user: '', groups: [], resourceAttributes: {} }, /at least one/],
  ];
  for (const [what, kind, spec, message] of wrong) {
    it(`refuses a ${kind} about ${what}`, async () => {
      refused(await ask(kind, spec), 422, 'Invalid', message);
    });
  }

  it('takes a question with a name, and refuses one that is to be kept', async () => {
    const ask = (metadata: object): ReturnType<Client['post']> =>
      client().post(`${path}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', { resourceAttributes: {} }, metadata)); // prettier-ignore
    created(await ask({ name: 'q' }));
    refused(await ask({ labels: { a: 'b' } }), 422, 'Invalid', /metadata.*must be empty except for name/);
  });

  it('refuses a local question about another place', async () => {
    const namespace = await newNamespace(client());
    for (const spec of [
      { user: 'a', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
      { user: 'a', resourceAttributes: { verb: 'get', resource: 'pods' } },
      { user: 'a', nonResourceAttributes: { path: '/', verb: 'get' } },
    ]) {
      refused(await ask('LocalSubjectAccessReview', spec, namespace), 422, 'Invalid');
    }
  });

  it('answers what a user may, and why', async () => {
    const { user, namespace } = await newUser(client(), [READ_PODS]);
    const about = async (attributes: object, by: object = { user }): Promise<Record<string, unknown>> =>
      statusOf(await ask('SubjectAccessReview', { ...by, resourceAttributes: { namespace, ...attributes } }));
    assert.deepEqual(await about({ verb: 'get', resource: 'pods', name: 'p' }), {
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "r/${namespace}" of Role "r" to User "${user}"`,
    });
    assert.equal((await about({ verb: 'list', resource: 'pods', subresource: 'log' }))['allowed'], true);
    for (const [attributes, by] of [
      [{ verb: 'delete', resource: 'pods' }],
      [{ verb: 'get', resource: 'pods', subresource: 'exec' }],
      [{ verb: 'get', resource: 'pods', namespace: 'default' }],
      [{ verb: 'get', resource: 'pods', namespace: '' }],
      [{ verb: 'get', resource: 'pods', group: 'apps' }],
      [{ verb: 'get', resource: 'pods' }, { user: user.toUpperCase() }],
      [{ verb: 'get', resource: 'pods' }, { groups: [user] }],
    ] as const) {
      assert.equal((await about(attributes, by))['allowed'], false, JSON.stringify([attributes, by]));
    }
    assert.equal((await about({ verb: 'delete', resource: 'pods' }, { groups: ['system:masters'] }))['allowed'], true);
    const local = await ask('LocalSubjectAccessReview', { user, resourceAttributes: { namespace, verb: 'get', resource: 'pods' } }, namespace); // prettier-ignore
    assert.equal(statusOf(local)['allowed'], true);
  });

  it('answers about paths, and about namespaces that are not there', async () => {
    const spec = { groups: ['system:authenticated'], nonResourceAttributes: { path: '/apis/apps', verb: 'get' } };
    assert.equal(statusOf(await ask('SubjectAccessReview', spec))['allowed'], true);
    const other = { ...spec, nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    assert.equal(statusOf(await ask('SubjectAccessReview', other))['allowed'], false);
    const nowhere = { user: 'a', resourceAttributes: { namespace: 'nowhere', verb: 'get', resource: 'pods' } };
    assert.equal(statusOf(await ask('LocalSubjectAccessReview', nowhere, 'nowhere'))['allowed'], false);
  });

  it('answers oneself, and whom one acts as', async () => {
    const { user, namespace } = await newUser(client(), [READ_PODS]);
    const spec = { resourceAttributes: { namespace, verb: 'get', resource: 'pods' } };
    const as = { 'impersonate-user': user };
    assert.equal(statusOf(await ask('SelfSubjectAccessReview', spec, '', as))['allowed'], true);
    const more = { resourceAttributes: { namespace, verb: '*', resource: '*', group: '*' } };
    assert.equal(statusOf(await ask('SelfSubjectAccessReview', more, '', as))['allowed'], false);
    assert.equal(statusOf(await ask('SelfSubjectAccessReview', more))['allowed'], true);
  });

  it('lists the rules of a user in a namespace', async () => {
    const { user, namespace } = await newUser(client(), [READ_PODS]);
    const as = { 'impersonate-user': user };
    const status = statusOf(await ask('SelfSubjectRulesReview', { namespace }, '', as));
    assert.ok((status['resourceRules'] as object[]).some((rule) => JSON.stringify(rule) === JSON.stringify({ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] }))); // prettier-ignore
    assert.ok((status['nonResourceRules'] as { nonResourceURLs: string[] }[]).some((rule) => rule.nonResourceURLs.includes('/apis'))); // prettier-ignore
    assert.equal(status['incomplete'], false);
    const elsewhere = statusOf(await ask('SelfSubjectRulesReview', { namespace: 'default' }, '', as));
    assert.equal(JSON.stringify(elsewhere).includes('pods/log'), false);
    refused(await ask('SelfSubjectRulesReview', {}, '', as), 400, 'BadRequest', /no namespace/);
  });

  it('lets nobody ask about others who may not', async () => {
    const { user, namespace } = await newUser(client(), [READ_PODS]);
    const as = { 'impersonate-user': user };
    const spec = { user: 'a', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } };
    refused(await ask('SubjectAccessReview', spec, '', as), 403, 'Forbidden', /cannot create resource "subjectaccessreviews"/); // prettier-ignore
    refused(await ask('LocalSubjectAccessReview', spec, namespace, as), 403, 'Forbidden');
  });

  it('answers by create only', async () => {
    for (const [method, code] of [
      ['GET', 405],
      ['DELETE', 405],
      ['PUT', 405],
    ] as const) {
      // prettier-ignore
      const reply = await client().request(method, `${path}/subjectaccessreviews`, method === 'PUT' ? { body: {} } : {});
      assert.equal(reply.code, code, method);
    }
    const patched = await client().patch(`${path}/subjectaccessreviews/a`, {}, MERGE);
    assert.equal(patched.code, 404, 'a review has no path of its own');
  });
}

function identityReviews(client: () => Client): void {
  const post = (resource: string, kind: string, o: object, headers = {}): Promise<Reply> =>
    client().request('POST', `/apis/${AUTHENTICATION}/${resource}`, { body: { apiVersion: AUTHENTICATION, kind, ...o }, headers }); // prettier-ignore
  const ask = (spec: object): Promise<Reply> => post('tokenreviews', 'TokenReview', { spec });

  it('refuses a question about no token', async () => {
    refused(await ask({}), 400, 'BadRequest', /token is required/);
    refused(await ask({ token: '' }), 400, 'BadRequest', /token is required/);
  });

  for (const spec of [{ token: 'nobodys' }, { token: 'x'.repeat(70_000) }]) {
    it(`does not know a token of ${spec.token.length} characters`, async () => {
      const { authenticated, user, error } = statusOf(await ask(spec));
      assert.deepEqual([authenticated, user], [undefined, {}]);
      assert.match(error as string, /^invalid bearer token/);
      assert.equal((error as string).includes(spec.token), false);
    });
  }

  it('tells whose a token is, for this server and not for others', async () => {
    const { token } = client();
    const status = statusOf(await ask({ token }));
    assert.equal(status['authenticated'], true);
    assert.deepEqual(status['user'], {
      username: 'tester',
      uid: '1',
      groups: ['system:masters', 'system:authenticated'],
    });
    assert.equal(statusOf(await ask({ token, audiences: ['others'] }))['authenticated'], undefined);
  });

  it('tells whose a token of an account is, and for whom it is meant', async () => {
    const namespace = await newNamespace(client());
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    created(await client().post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }));
    const spec = { audiences: ['them', 'those'] };
    const issued = created(await client().post(`${accounts}/a/token`, { apiVersion: AUTHENTICATION, kind: 'TokenRequest', spec })); // prettier-ignore
    const { token } = issued['status'] as { token: string };
    assert.equal(statusOf(await ask({ token }))['authenticated'], undefined, 'it is not meant for this server');
    const { authenticated, audiences, user } = statusOf(await ask({ token, audiences: ['others', 'those'] }));
    assert.deepEqual([authenticated, audiences], [true, ['those']]);
    assert.equal((user as Document & { username: string }).username, `system:serviceaccount:${namespace}:a`);
  });

  it('tells oneself who one is, and whom one acts as', async () => {
    const self = (headers = {}): Promise<Reply> => post('selfsubjectreviews', 'SelfSubjectReview', {}, headers);
    assert.deepEqual(statusOf(await self())['userInfo'], { username: 'tester', uid: '1', groups: ['system:masters', 'system:authenticated'] }); // prettier-ignore
    const as = { 'impersonate-user': 'jane', 'impersonate-group': 'dev', 'impersonate-extra-scopes': 'view' };
    assert.deepEqual(statusOf(await self(as))['userInfo'], {
      username: 'jane',
      groups: ['dev', 'system:authenticated'],
      extra: { scopes: ['view'] },
    });
  });
}

onBothStores('reviews', [], (server) => {
  describe('of access', () => accessReviews(() => server().client));
  describe('of identity', () => identityReviews(() => server().client));
});
