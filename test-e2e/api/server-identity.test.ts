import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { identityOf } from '../../services/apiserver/endpoints/identity-lease.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { created, eventually, ok } from './tools/objects.js';
import type { Document } from './tools/document.js';
import { onServer, type TestServer } from './tools/server.js';

const words = vocabulary('platform');
const LEASES = `/apis/${words.groups.coordination}/v1/namespaces/${words.namespaces.system}/leases`;
const OWN = `${LEASES}/${identityOf(hostname())}`;
const SOON_MS = 60_000;

interface Spec {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly renewTime: string;
}

onServer(
  'the identity of a server',
  { store: 'embedded', flags: ['--feature-gates=APIServerIdentity=true'] },
  (server: () => TestServer) => {
    const own = (unless: (spec: Spec) => boolean): Promise<Document & { spec: Spec }> =>
      eventually(async () => {
        const { code, body } = await server().client.get(OWN);
        const lease = body as Document & { spec: Spec };
        return code === 200 && !unless(lease.spec) ? lease : undefined;
      }, SOON_MS);
    const make = async (name: string, labels: Record<string, string>, ageSeconds: number): Promise<unknown> => {
      const renewTime = new Date(Date.now() - ageSeconds * 1_000).toISOString().replace('Z', '000Z');
      const spec = { holderIdentity: name, leaseDurationSeconds: 3_600, renewTime };
      return created(await server().client.post(LEASES, { metadata: { name, labels }, spec }));
    };

    it('is told by a Lease, which it renews, and a new process takes over; old ones of others go', async () => {
      const first = await own(() => false);
      const { holderIdentity, leaseDurationSeconds, renewTime } = first.spec;
      assert.match(holderIdentity, /^apiserver-[a-z2-7]{26}_[0-9a-f-]{36}$/);
      assert.equal(holderIdentity.split('_')[0], first.metadata.name);
      assert.equal(leaseDurationSeconds, 3_600);
      assert.deepEqual(first.metadata.labels, {
        [words.labels.apiServerIdentity]: words.serverName,
        [words.labels.hostname]: hostname(),
      });
      const renewed = await own((spec) => spec.renewTime === renewTime);
      assert.equal(renewed.spec.holderIdentity, holderIdentity);

      const ofServers = { [words.labels.apiServerIdentity]: words.serverName };
      await make('gone', ofServers, 3_700);
      await make('living', ofServers, 3_000);
      await make('of-another-kind', {}, 3_700);
      await server().restart();
      const taken = await own((spec) => spec.holderIdentity === holderIdentity);
      assert.equal(taken.metadata.uid, first.metadata.uid);
      await eventually(
        async () => ((await server().client.get(`${LEASES}/gone`)).code === 404 ? true : undefined),
        SOON_MS,
      );
      for (const name of ['living', 'of-another-kind']) ok(await server().client.get(`${LEASES}/${name}`));
    });
  },
);

onServer('a server without the feature gate', { store: 'embedded' }, (server) => {
  it('has no Lease', async () => assert.deepEqual(ok(await server().client.get(LEASES)).items, []));
});
