import assert from 'node:assert/strict';
import { makeCertificates, type Certificates } from '../../services/storage/testing/certificates.js';
import type { Client } from './tools/client.js';
import { type Server, LOOPBACK, withTarget, podOnNode } from './tools/connecting.js';
import { ok, refused } from './tools/objects.js';
import { onServer, TestServer } from './tools/server.js';
import { httpTarget, ownAddress } from './tools/targets.js';

function agents(server: Server): void {
  let files: Certificates;
  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());

  /** What is refused of everything that leads to the agent of a node. */
  async function nothingGoesTo(client: Client, { node, path }: { node: string; path: string }): Promise<void> {
    for (const url of [
      `/api/v1/nodes/${node}/proxy/`,
      `${path}/log`,
      `${path}/exec?command=ls`,
      `${path}/portforward`,
    ]) {
      refused(await client.get(url), 400, 'BadRequest', /address not allowed/);
    }
  }

  it('are not reached on this machine, by whatever address', async () => {
    const { client } = server();
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const on = await podOnNode(client, agent);
      await nothingGoesTo(client, on);
      for (const address of ['::ffff:127.0.0.1', '64:ff9b::127.0.0.1', '169.254.169.254', 'fd00:ec2::254']) {
        ok(await client.patch(`/api/v1/nodes/${on.node}/status`, { status: { addresses: [{ type: 'InternalIP', address }] } })); // prettier-ignore
        await nothingGoesTo(client, on);
      }
      const byName = [{ type: 'InternalDNS', address: 'localhost' }];
      ok(await client.patch(`/api/v1/nodes/${on.node}/status`, { status: { addresses: byName } }));
      refused(await client.get(`${on.path}/log`), 503, 'ServiceUnavailable', /address not allowed/);
      assert.deepEqual(agent.seen, []);
    });
  });

  it("are not reached on the server's own port, by whatever address", async () => {
    const { client } = server();
    const port = Number(client.url.port);
    const on = await podOnNode(client, { port });
    for (const address of [ownAddress(), '10.255.255.1', 'nowhere.invalid']) {
      ok(await client.patch(`/api/v1/nodes/${on.node}/status`, { status: { addresses: [{ type: 'InternalIP', address }] } })); // prettier-ignore
      await nothingGoesTo(client, on);
    }
    ok(await client.patch(`/api/v1/nodes/${on.node}/status`, { status: { daemonEndpoints: { nodeagentEndpoint: { Port: 1 } } } })); // prettier-ignore
    refused(await client.get(`/api/v1/nodes/https:${on.node}:${port}/proxy/`), 400, 'BadRequest', /address not allowed/); // prettier-ignore
  });
}

function certificates(): void {
  let files: Certificates;
  let server: TestServer | undefined;
  before(async function () {
    this.timeout(90_000);
    files = makeCertificates();
    const { caFile, certFile, keyFile } = files.client;
    const flags = [LOOPBACK, `--nodeagent-certificate-authority=${caFile}`, `--nodeagent-client-certificate=${certFile}`, `--nodeagent-client-key=${keyFile}`]; // prettier-ignore
    server = await TestServer.start({ store: 'embedded', flags });
  });
  after(async () => {
    await server?.close();
    files.remove();
  });

  it("prove the server to the nodes' agents, and them to the server", async () => {
    const { client } = server!;
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const { node, path } = await podOnNode(client, agent);
      ok(await client.get(`${path}/log`));
      ok(await client.get(`/api/v1/nodes/${node}/proxy/`));
      assert.deepEqual(agent.seen.map(({ subject }) => subject), ['client', 'client']); // prettier-ignore
    });
    await withTarget(await httpTarget({ files: files.stranger }), async (impostor) => {
      const { path } = await podOnNode(client, impostor);
      refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /certificate|issuer/);
      assert.deepEqual(impostor.seen, []);
      ok(await client.get(`${path}/log?insecureSkipTLSVerifyBackend=true`));
    });
  });

  it('have to be for the address of the node', async () => {
    const { client } = server!;
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const { node, path } = await podOnNode(client, agent);
      const addresses = [{ type: 'InternalIP', address: ownAddress() }];
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses } }));
      refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /does not match|altnames/);
    });
  });
}

onServer('agents of nodes', { store: 'embedded' }, agents);
describe('certificates of nodes', function () {
  this.timeout(90_000);
  certificates();
});
