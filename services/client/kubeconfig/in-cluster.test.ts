import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../testing/certificates.js';
import { inClusterConnection } from './in-cluster.js';
import { ClientConfigError } from './member.js';

describe('inClusterConnection()', () => {
  const authority = new TestAuthority('cluster');
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'account-'));
    for (const [name, text] of [
      ['token', 'abc\n'],
      ['ca.crt', authority.cert],
      ['namespace', 'ns\n'],
    ] as const) {
      writeFileSync(join(dir, name), text);
    }
  });
  after(() => {
    rmSync(dir, { recursive: true });
    authority.remove();
  });

  const open = (host: string, account = dir): ReturnType<typeof inClusterConnection> =>
    inClusterConnection(
      { warn: () => undefined },
      { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' },
      account,
    );

  it('is that of the service account of a pod', async () => {
    const { server, tls, credentials, namespace } = open('10.0.0.1');
    assert.deepEqual([server.href, namespace, tls.authorities], ['https://10.0.0.1/', 'ns', authority.cert]);
    const { headers } = await credentials.current(AbortSignal.timeout(1000));
    assert.deepEqual(headers, { authorization: 'Bearer abc' });
  });

  it('takes addresses of both families', () => assert.equal(open('fd00::1').server.hostname, '[fd00::1]'));

  it('says where there is none', () => {
    assert.throws(() => open(''), ClientConfigError);
    assert.throws(() => open('10.0.0.1', join(dir, 'gone')), ClientConfigError);
  });
});
