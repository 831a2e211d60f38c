import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import { Configurations, HookServer, patch } from './tools/hooks.js';
import { configMap, configMapsIn, created, newNamespace, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';
import { ownAddress } from './tools/targets.js';

const TOKEN = 'the-secret-of-the-hook';

describe('admission webhooks of two servers', function () {
  this.timeout(90_000);
  const authority = new TestAuthority('hooks');
  const directory = scratchDirectory();
  let hooks: HookServer;
  let one: TestServer;
  let other: TestServer;
  let configurations: Configurations;
  let namespace: string;

  before(async () => {
    hooks = await HookServer.start(authority, 'DNS:localhost,DNS:hook.default.svc', '0.0.0.0');
    one = await TestServer.start({ store: 'etcd', flags: [`--admission-control-config-file=${configFile()}`] });
    other = await TestServer.start({ store: 'etcd', etcdUrl: one.etcd?.url ?? '' });
    configurations = new Configurations(one.client);
  });
  after(async () => {
    await other.close();
    await one.close();
    await hooks.service.close();
    authority.remove();
    removeDirectory(directory);
  });
  beforeEach(async () => {
    namespace = await newNamespace(one.client);
    await other.client.get(`/api/v1/namespaces/${namespace}`);
  });
  afterEach(async () => {
    await configurations.removeAll();
    await one.client.delete('/api/v1/namespaces/default/services/hook');
    await one.client.delete('/api/v1/namespaces/default/endpoints/hook');
    hooks.reset();
  });

  /** A configuration whose users are found by host and port. */
  function configFile(): string {
    const { cert, key } = authority.issue('server-of-platform');
    const files = { 'client.crt': cert, 'client.key': key };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const users = [
      { name: 'hook.default.svc', user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' } },
      { name: '*.default.svc:8443', user: { username: 'api', password: TOKEN } },
      { name: '*', user: { token: TOKEN } },
    ];
    writeFileSync(join(directory, 'hooks.json'), JSON.stringify({ apiVersion: 'v1', kind: 'Config', users }));
    const configuration = {
      apiVersion: 'apiserver.config.platform.io/v1',
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile: 'hooks.json',
    };
    const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({ name, configuration }));
    const file = join(directory, 'admission.json');
    const whole = { apiVersion: 'apiserver.config.platform.io/v1', kind: 'AdmissionConfiguration', plugins };
    writeFileSync(file, JSON.stringify(whole));
    return file;
  }

  /** A service without a selector. @param ports Where servers behind it listen, or do not. */
  async function service(port: number, ports: readonly number[]): Promise<void> {
    const { client } = one;
    created(
      await client.post('/api/v1/namespaces/default/services', {
        metadata: { name: 'hook' },
        spec: { clusterIP: 'None', ports: [{ port, name: 'https' }] },
      }),
    );
    created(
      await client.post('/api/v1/namespaces/default/endpoints', {
        metadata: { name: 'hook' },
        subsets: ports.map((it) => ({ addresses: [{ ip: ownAddress() }], ports: [{ port: it, name: 'https' }] })),
      }),
    );
    for (const resource of ['services', 'endpoints']) await client.get(`/api/v1/namespaces/default/${resource}/hook`);
  }
  const ofService = (port?: number): object => ({
    name: 'v.example.com',
    timeoutSeconds: 5,
    clientConfig: {
      service: { namespace: 'default', name: 'hook', path: '/v', ...(port === undefined ? {} : { port }) },
      caBundle: hooks.caBundle,
    },
  });
  const create = (name: string): ReturnType<typeof one.client.post> =>
    one.client.post(configMapsIn(namespace), configMap(name));

  it('are found behind a service, past a server that is dead', async () => {
    const [dead = 0] = await freePorts(1);
    await service(443, [dead, hooks.service.port]);
    await configurations.add('Validating', 'c', namespace, ofService());
    for (let i = 0; i < 6; i++) created(await create(`x${i}`));
    assert.deepEqual(new Set(hooks.called), new Set(['v']));
    assert.equal(hooks.called.length, 6);
    assert.equal(hooks.service.received[0]?.headers.host, 'hook.default.svc');
  });

  it('fail where the service has no server, no such port, or is not there', async () => {
    await configurations.add('Validating', 'c', namespace, ofService());
    const why = async (): Promise<string> => refused(await create('x'), 500, 'InternalError').message;
    const prefix = 'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post "https://hook.default.svc:443/v?timeout=5s": '; // prettier-ignore
    assert.equal(await why(), `${prefix}service "hook" not found`);
    await service(444, []);
    assert.equal(await why(), `${prefix}no service port 443 found for service "hook"`);
    await one.client.put('/api/v1/namespaces/default/services/hook', { metadata: { name: 'hook' }, spec: { clusterIP: 'None', ports: [{ port: 443, name: 'https' }] } }); // prettier-ignore
    await one.client.get('/api/v1/namespaces/default/services/hook');
    assert.equal(await why(), `${prefix}no endpoints available for service "hook"`);
  });

  for (const [port, expected] of [
    [443, { client: 'server-of-platform', authorization: undefined }],
    [8443, { client: undefined, authorization: `Basic ${Buffer.from(`api:${TOKEN}`).toString('base64')}` }],
    [8444, { client: undefined, authorization: `Bearer ${TOKEN}` }],
  ] as const) {
    it(`are asked as the user that the file names for the port ${port}`, async () => {
      await service(port, [hooks.service.port]);
      await configurations.add('Validating', 'c', namespace, ofService(port));
      created(await create('x'));
      const [{ client, headers } = assert.fail()] = hooks.service.received;
      assert.deepEqual({ client, authorization: headers.authorization }, expected);
    });
  }

  it('are asked as nobody by a server without such a file', async () => {
    await configurations.add('Validating', 'c', namespace, {
      name: 'v.example.com',
      clientConfig: hooks.clientConfig('v'),
    });
    await other.client.get('/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations/c');
    created(await other.client.post(configMapsIn(namespace), configMap('x')));
    assert.equal(hooks.service.received[0]?.headers.authorization, undefined);
  });

  it('take effect on the other server as soon as it knows the configuration', async () => {
    const url = '/apis/admissionregistration.platform.io/v1/mutatingwebhookconfigurations/c';
    hooks.say.set('m', () => patch({ op: 'add', path: '/data', value: { by: 'hook' } }));
    await configurations.add('Mutating', 'c', namespace, {
      name: 'm.example.com',
      clientConfig: hooks.clientConfig('m'),
    });
    await other.client.get(url); // waits until that server is at the store's revision
    const data = async (name: string): Promise<unknown> =>
      created(await other.client.post(configMapsIn(namespace), configMap(name)))['data'];
    assert.deepEqual(await data('x'), { by: 'hook' });
    await configurations.removeAll();
    assert.equal((await other.client.get(url)).code, 404);
    assert.equal(await data('y'), undefined);
  });

  it('see requests about sub-resources as what they are', async () => {
    const { client } = one;
    const base = `/api/v1/namespaces/${namespace}`;
    const container = { name: 'c', image: 'i' };
    const spec = { containers: [container], automountServiceAccountToken: false };
    await client.post(`${base}/serviceaccounts`, { metadata: { name: 'default' } });
    for (const name of ['bound', 'evicted']) created(await client.post(`${base}/pods`, { metadata: { name }, spec }));
    const template = { metadata: { labels: { a: 'b' } }, spec };
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    created(await client.post(deployments, { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } })); // prettier-ignore
    for (const name of ['x', 'y']) created(await client.post(`${base}/configmaps`, configMap(name)));
    await configurations.add('Validating', 'c', namespace, {
      name: 'v.example.com',
      clientConfig: hooks.clientConfig('v'),
    });
    const TABLE: readonly (readonly [() => Promise<unknown>, readonly string[]])[] = [
      [() => client.patch(`${deployments}/d/scale`, { spec: { replicas: 2 } }), ['UPDATE deployments/scale d Scale Scale UpdateOptions']],
      [() => client.post(`${base}/pods/bound/binding`, { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } }), ['CREATE pods/binding bound Binding null CreateOptions']],
      [() => client.post(`${base}/bindings`, { metadata: { name: 'evicted' }, target: { kind: 'Node', name: 'n' } }), ['CREATE bindings/ evicted Binding null CreateOptions']],
      [() => client.post(`${base}/pods/evicted/eviction`, { metadata: { name: 'evicted' } }), ['CREATE pods/eviction evicted Eviction null CreateOptions']],
      [() => client.post(`${base}/pods/bound/exec?command=ls&container=c`, undefined), ['CONNECT pods/exec bound PodExecOptions null null']],
      [() => client.post(`${base}/serviceaccounts/default/token`, { spec: {} }), ['CREATE serviceaccounts/token default TokenRequest null CreateOptions']],
      [() => client.patch(`${deployments}/d/status`, { status: { replicas: 1 } }), ['UPDATE deployments/status d Deployment Deployment UpdateOptions']],
      [() => client.delete(`${base}/configmaps`), ['DELETE configmaps/ x null ConfigMap DeleteOptions', 'DELETE configmaps/ y null ConfigMap DeleteOptions']],
    ]; // prettier-ignore
    for (const [ask, expected] of TABLE) {
      hooks.service.received.splice(0);
      await ask();
      const kindOf = (value: unknown): string => (value as { kind?: string } | null)?.kind ?? 'null';
      const seen = hooks.reviews().map(({ request: { operation, resource, subResource = '', name, object, oldObject, options } }) => `${operation} ${resource.resource}/${subResource} ${name} ${kindOf(object)} ${kindOf(oldObject)} ${kindOf(options)}`); // prettier-ignore
      assert.deepEqual(seen.sort(), expected);
    }
  });
});
