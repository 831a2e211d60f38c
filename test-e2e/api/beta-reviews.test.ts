import assert from 'node:assert/strict';
import type { Client } from './tools/client.js';
import { created, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, onServer } from './tools/server.js';

const AUTHENTICATION = 'authentication.platform.io/v1beta1';
const AUTHORIZATION = 'authorization.platform.io/v1beta1';
const BOTH = [AUTHENTICATION, AUTHORIZATION];
const NODES = { verb: 'get', resource: 'nodes' };

/** A question of each kind that v1beta1 has, and what its answer says at least. */
const reviews = (token: string, namespace: string): readonly (readonly [string, string, object, object])[] => [
  [
    AUTHENTICATION,
    'TokenReview',
    { token },
    { authenticated: true, user: { username: 'tester', uid: '1', groups: ['system:masters', 'system:authenticated'] } },
  ],
  [AUTHENTICATION, 'TokenReview', { token: 'nobody' }, { user: {}, error: 'invalid bearer token' }],
  [AUTHORIZATION, 'SelfSubjectAccessReview', { resourceAttributes: NODES }, { allowed: true }],
  [AUTHORIZATION, 'SubjectAccessReview', { user: 'nobody', resourceAttributes: NODES }, { allowed: false }],
  [AUTHORIZATION, 'SubjectAccessReview', { group: ['system:masters'], resourceAttributes: NODES }, { allowed: true }],
  [AUTHORIZATION, 'SelfSubjectRulesReview', { namespace }, { incomplete: false }],
  [
    AUTHORIZATION,
    'LocalSubjectAccessReview',
    { group: ['system:masters'], resourceAttributes: { ...NODES, namespace, resource: 'pods' } },
    { allowed: true },
  ],
];

const pathOf = (group: string, kind: string, namespace: string): string =>
  `/apis/${group}/${kind.startsWith('Local') ? `namespaces/${namespace}/` : ''}${kind.toLowerCase()}s`;

const versionsOf = async (client: Client, group: string): Promise<readonly string[]> =>
  (ok(await client.get(`/apis/${group.split('/')[0] ?? ''}`))['versions'] as { version: string }[]).map(
    ({ version }) => version,
  );

const asked = ['--runtime-config=authentication.platform.io/v1beta1=true,authorization.platform.io/v1beta1=true'];

onBothStores('reviews of v1beta1 that were asked for', asked, (server) => {
  it('are answered in that version', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const [apiVersion, kind, spec, status] of reviews(client.token, namespace)) {
      const metadata = kind.startsWith('Local') ? { namespace } : {};
      const path = pathOf(apiVersion, kind, namespace);
      const answer = created(await client.post(path, { apiVersion, kind, metadata, spec }));
      assert.deepEqual([answer.apiVersion, answer.kind, answer['spec']], [apiVersion, kind, spec]);
      const given = answer['status'] as Record<string, unknown>;
      const told = Object.fromEntries(Object.keys(status).map((key) => [key, given[key]]));
      assert.deepEqual(told, status, kind);
    }
  });

  it('are judged by what v1beta1 calls its fields', async () => {
    const { client } = server();
    const kind = 'SubjectAccessReview';
    const ask = (spec: object): ReturnType<Client['post']> =>
      client.post(`${pathOf(AUTHORIZATION, kind, '')}?fieldValidation=Strict`, { apiVersion: AUTHORIZATION, kind, spec }); // prettier-ignore
    refused(await ask({ groups: ['a'], resourceAttributes: NODES }), 400, 'BadRequest', /unknown field "spec.groups"/);
    refused(await ask({ resourceAttributes: NODES }), 422, 'Invalid', /at least one of user or group/);
  });

  it('are told of behind v1', async () => {
    for (const group of BOTH) assert.deepEqual(await versionsOf(server().client, group), ['v1', 'v1beta1']);
  });
});

onServer('reviews of v1beta1 that nobody asked for', { store: 'embedded' }, (server) => {
  it('are not there', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    for (const [apiVersion, kind, spec] of reviews(client.token, namespace)) {
      refused(await client.post(pathOf(apiVersion, kind, namespace), { apiVersion, kind, spec }), 404, 'NotFound');
      const v1 = apiVersion.replace('v1beta1', 'v1');
      assert.equal((await client.post(pathOf(v1, kind, namespace), { kind, spec })).code === 404, false);
    }
    for (const group of BOTH) assert.deepEqual(await versionsOf(client, group), ['v1']);
  });
});
