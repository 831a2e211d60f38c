import assert from 'node:assert/strict';
import { Client } from '../api/tools/client.js';
import { created, eventually, newNamespace, ok, pod } from '../api/tools/objects.js';
import type { Document } from '../api/tools/document.js';
import { TestServer } from '../api/tools/server.js';

const ANNOTATION = 'platform.io/service-account.name';

describe('service accounts', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await TestServer.start({ store: 'embedded', accounts: true, controllers: true });
  });
  after(() => server.close());

  /** The object, as soon as it is there and `isReady`. */
  const comes = (path: string, isReady: (object: Document) => boolean = () => true): Promise<Document> =>
    eventually(async () => {
      const { code, body } = await server.client.get(path);
      return code === 200 && isReady(body) ? body : undefined;
    }, 30_000);
  const goes = (path: string): Promise<true> =>
    eventually(async () => ((await server.client.get(path)).code === 404 ? true : undefined), 30_000);
  const inNamespace = (namespace: string, rest: string): string => `/api/v1/namespaces/${namespace}/${rest}`;
  const account = (name: string): object => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  /** What the server answers the bearer of a token: 403 names the user, 401 knows none. */
  const asBearer = async (token: string): Promise<{ readonly code: number; readonly text: string }> => {
    const client = new Client(server.client.url.href, token);
    try {
      return await client.get('/api/v1/nodes');
    } finally {
      client.close();
    }
  };
  const stopsWorking = (token: string): Promise<true> =>
    eventually(async () => ((await asBearer(token)).code === 401 ? true : undefined), 30_000);
  const tokenOf = ({ data }: Document): string => Buffer.from(data['token'] ?? '', 'base64').toString();

  it('are there in a new namespace, with the authorities by which pods verify the server', async () => {
    const namespace = await newNamespace(server.client);
    await comes(inNamespace(namespace, 'serviceaccounts/default'));
    const { data } = await comes(inNamespace(namespace, 'configmaps/platform-root-ca.crt'));
    assert.match(data['ca.crt'] ?? '', /BEGIN CERTIFICATE/);
    ok(await server.client.delete(inNamespace(namespace, 'serviceaccounts/default')));
    ok(
      await server.client.patch(inNamespace(namespace, 'configmaps/platform-root-ca.crt'), { data: { 'ca.crt': 'x' } }),
    );
    await comes(inNamespace(namespace, 'serviceaccounts/default'));
    await comes(inNamespace(namespace, 'configmaps/platform-root-ca.crt'), (it) =>
      JSON.stringify(it['data']).includes('BEGIN CERTIFICATE'),
    );
  });

  it('give a pod its projected volume', async () => {
    const namespace = await newNamespace(server.client);
    const made = created(await server.client.post(inNamespace(namespace, 'pods'), pod('p')));
    const { serviceAccountName, volumes } = made['spec'] as unknown as { serviceAccountName: string; volumes: { name: string; projected?: object }[] }; // prettier-ignore
    assert.equal(serviceAccountName, 'default');
    assert.match(volumes[0]?.name ?? '', /^platform-api-access-/);
    assert.ok(volumes[0]?.projected);
  });

  it('have tokens for a pod, which end with the pod', async () => {
    const namespace = await newNamespace(server.client);
    const { metadata } = created(await server.client.post(inNamespace(namespace, 'pods'), pod('p')));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: metadata.uid };
    const request = { apiVersion: 'authentication.platform.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } };
    const path = inNamespace(namespace, 'serviceaccounts/default/token');
    const { status } = created(await server.client.post(path, request));
    const { token } = status as { readonly token: string };
    assert.match((await asBearer(token)).text, new RegExp(`system:serviceaccount:${namespace}:default`));
    ok(await server.client.delete(inNamespace(namespace, 'pods/p'), { gracePeriodSeconds: 0 }));
    await stopsWorking(token);
  });

  it('have a token in a Secret, which ends with the account, as the Secret does', async () => {
    const namespace = await newNamespace(server.client);
    created(await server.client.post(inNamespace(namespace, 'serviceaccounts'), account('robot')));
    const { secrets } = await comes(
      inNamespace(namespace, 'serviceaccounts/robot'),
      (it) => it['secrets'] !== undefined,
    );
    const [{ name }] = secrets as [{ readonly name: string }];
    const token = tokenOf(await comes(inNamespace(namespace, `secrets/${name}`)));
    const { code, text } = await asBearer(token);
    assert.equal(code, 403);
    assert.match(text, new RegExp(`system:serviceaccount:${namespace}:robot`));
    ok(await server.client.delete(inNamespace(namespace, 'serviceaccounts/robot')));
    await goes(inNamespace(namespace, `secrets/${name}`));
    await stopsWorking(token);
  });

  it('get another Secret when theirs is deleted, whose token is another one', async () => {
    const namespace = await newNamespace(server.client);
    created(await server.client.post(inNamespace(namespace, 'serviceaccounts'), account('robot')));
    const namesIn = ({ secrets }: Document): readonly string[] =>
      ((secrets ?? []) as unknown as readonly { readonly name: string }[]).map(({ name }) => name);
    const path = inNamespace(namespace, 'serviceaccounts/robot');
    const [first = ''] = namesIn(await comes(path, (it) => namesIn(it).length === 1));
    const token = tokenOf(await comes(inNamespace(namespace, `secrets/${first}`)));
    ok(await server.client.delete(inNamespace(namespace, `secrets/${first}`)));
    const [second = ''] = namesIn(await comes(path, (it) => namesIn(it).length === 1 && namesIn(it)[0] !== first));
    assert.notEqual(tokenOf(await comes(inNamespace(namespace, `secrets/${second}`))), token);
    await stopsWorking(token);
  });

  it('fill a Secret that names them, and delete one that names none', async () => {
    const namespace = await newNamespace(server.client);
    created(await server.client.post(inNamespace(namespace, 'serviceaccounts'), account('robot')));
    const secret = (name: string, of: string): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, annotations: { [ANNOTATION]: of } },
      type: 'platform.io/service-account-token',
    });
    created(await server.client.post(inNamespace(namespace, 'secrets'), secret('mine', 'robot')));
    const filled = await comes(inNamespace(namespace, 'secrets/mine'), (it) => 'data' in it);
    assert.equal((await asBearer(tokenOf(filled))).code, 403);
    created(await server.client.post(inNamespace(namespace, 'secrets'), secret('lost', 'no-one')));
    await goes(inNamespace(namespace, 'secrets/lost'));
  });
});
