import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { FakeServer } from '../client/testing/fake-server.js';
import type { Secret } from '../machinery/types/generated/core.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { renewSecrets } from './secrets.js';
import { wantedBy } from './wanted.js';

const { secrets } = builtInTypes(vocabulary('kubernetes'));

describe('renewSecrets()', () => {
  const wanted = wantedBy(vocabulary('platform'), { servers: [], etcd: [] });
  let server: FakeServer;
  beforeEach(() => (server = new FakeServer()));

  const run = async (): Promise<readonly string[]> => {
    const told: string[] = [];
    const place = { client: server.client, namespace: 'ns', prefix: 'x-', labels: { app: 'x' } };
    const o = { now: () => new Date(), tell: ({ name }: { name: string }) => void told.push(name) };
    await renewSecrets(wanted, place, o, AbortSignal.timeout(10_000));
    return told;
  };
  const secret = (name: string): Secret => server.get(secrets, `ns/x-${name}`) ?? assert.fail(`no ${name}`);
  const dataOf = (): readonly unknown[] => server.list(secrets).map(({ data }) => data);

  it('makes secrets that volumes can be made of, and leaves them alone the next time', async () => {
    const told = await run();
    assert.equal(server.list(secrets).length, told.length);
    const { type, metadata, data } = secret('apiserver');
    assert.deepEqual([type, metadata?.labels], ['kubernetes.io/tls', { app: 'x' }]);
    assert.deepEqual(Object.keys(data ?? {}).sort(), ['ca.crt', 'tls.crt', 'tls.key']);
    assert.match(Buffer.from(data?.['tls.crt'] ?? '', 'base64').toString(), /^-----BEGIN CERTIFICATE/);
    assert.equal(secret('service-account').type, 'Opaque');
    const before = server.asked.length;
    assert.deepEqual(await run(), []);
    assert.ok(server.asked.slice(before).every((it) => it.startsWith('get ')));
  });

  it('keeps what else is in a secret', async () => {
    await run();
    const admin = secret('admin');
    server.put(secrets, { ...admin, data: { ...admin.data, 'tls.crt': '', note: 'bm90ZQ==' } });
    assert.deepEqual(await run(), ['admin']);
    assert.equal(secret('admin').data?.['note'], 'bm90ZQ==');
    assert.notEqual(secret('admin').data?.['tls.crt'], '');
  });

  for (const [verb, reason] of [
    ['create', 'AlreadyExists'],
    ['update', 'Conflict'],
  ] as const)
    it(`begins again when another one did ${verb}`, async () => {
      if (verb === 'update') {
        await run();
        server.put(secrets, { ...secret('ca'), data: {} });
      }
      server.refuse(new RegExp(`^${verb} secrets`), reason);
      await run();
      const settled = dataOf();
      assert.deepEqual(await run(), []);
      assert.deepEqual(dataOf(), settled);
    });

  it('gives up on any other refusal', async () => {
    server.refuse(/^create secrets/, 'Forbidden');
    await assert.rejects(run(), { reason: 'Forbidden' });
    assert.deepEqual(dataOf(), []);
  });
});
