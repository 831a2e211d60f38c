import assert from 'node:assert/strict';
import type { Client } from './tools/client.js';
import { type Server, FLAGS, podsIn, servicesIn, runningPod, withTarget, seenBy } from './tools/connecting.js';
import { created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';
import { deadPort, httpTarget, ownAddress } from './tools/targets.js';

function services(server: Server): void {
  interface Subset {
    readonly addresses?: readonly object[];
    readonly notReadyAddresses?: readonly object[];
    readonly ports: readonly object[];
  }
  async function serviceWith(client: Client, ports: readonly object[], subsets: readonly Subset[]): Promise<string> {
    const namespace = await newNamespace(client);
    created(await client.post(servicesIn(namespace), { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } })); // prettier-ignore
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's' }, subsets };
    created(await client.post(`/api/v1/namespaces/${namespace}/endpoints`, endpoints));
    return servicesIn(namespace);
  }

  it('are reached by number and name of a port, wherever it leads', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ name: 'web', port: 80 }, { name: 'dead', port: 81 }]; // prettier-ignore
      const path = await serviceWith(client, ports, [
        { addresses: [{ ip: ownAddress() }], ports: [{ name: 'web', port: target.port }, { name: 'dead', port: await deadPort() }] }, // prettier-ignore
      ]);
      for (const name of ['s:80', 's:web', 'http:s:web']) {
        assert.equal(seenBy(await client.get(`${path}/${name}/proxy/it?x`)).url, '/it?x', name);
      }
      refused(await client.get(`${path}/s:81/proxy/`), 503, 'ServiceUnavailable', /connection refused/);
      refused(
        await client.get(`${path}/s:82/proxy/`),
        503,
        'ServiceUnavailable',
        /no service port 82 found for service "s"/,
      );
      refused(
        await client.get(`${path}/s/proxy/`),
        503,
        'ServiceUnavailable',
        /no endpoints available for service "s"/,
      );
      refused(await client.get(`${path}/t:80/proxy/`), 404, 'NotFound');
      refused(await client.get(`${path}/ftp:s:80/proxy/`), 400, 'BadRequest', /invalid service request/);
    });
  });

  it('choose among ready addresses by chance, and no others', async () => {
    const { client } = server();
    const targets = [await httpTarget(), await httpTarget(), await httpTarget()];
    try {
      const [a, b, c] = targets.map(({ port }) => ({ port }));
      const path = await serviceWith(
        client,
        [{ port: 80 }],
        [
          { addresses: [{ ip: ownAddress() }], ports: [a!] },
          { addresses: [{ ip: ownAddress() }], ports: [b!] },
          { notReadyAddresses: [{ ip: ownAddress() }], ports: [c!] },
        ],
      );
      await eventually(async () => {
        ok(await client.get(`${path}/s/proxy/`));
        return targets[0]!.seen.length > 0 && targets[1]!.seen.length > 0 ? true : undefined;
      });
      assert.equal(targets[2]!.seen.length, 0);
    } finally {
      await Promise.all(targets.map((target) => target.close()));
    }
  });

  it('are not reached at addresses that are not allowed, or of pods that they are not', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ port: target.port }];
      const loopback = await serviceWith(client, [{ port: 80 }], []);
      refused(await client.get(`${loopback}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
      const targetRef = { kind: 'Pod', namespace: 'default', name: 'nobody' };
      const path = await serviceWith(client, [{ port: 80 }], [{ addresses: [{ ip: ownAddress(), targetRef }], ports }]);
      refused(await client.get(`${path}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
      assert.deepEqual(target.seen, []);
    });
  });

  it('reach the pod that their address names', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const ports = [{ port: target.port }];
      const path = await serviceWith(client, [{ port: 80 }], []);
      const namespace = path.split('/')[4]!;
      await runningPod(client, podsIn(namespace), 'p', {});
      const targetRef = { kind: 'Pod', namespace, name: 'p' };
      const subsets = [{ addresses: [{ ip: ownAddress(), targetRef }], ports }];
      ok(await client.patch(`/api/v1/namespaces/${namespace}/endpoints/s`, { subsets }));
      assert.equal(seenBy(await client.get(`${path}/s/proxy/`)).url, '/');
      ok(await client.patch(`${podsIn(namespace)}/p/status`, { status: { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] } })); // prettier-ignore
      refused(await client.get(`${path}/s/proxy/`), 503, 'ServiceUnavailable', /no endpoints available/);
    });
  });
}

onServer('services behind the proxy', { store: 'embedded', flags: FLAGS }, services);
