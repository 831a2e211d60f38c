import assert from 'node:assert/strict';

import { Recorder } from '../contract/recorder.js';
import { isStoreError } from '../store.js';
import { makeCertificates, type Certificates } from '../testing/certificates.js';
import { startEtcd, type EtcdServer } from '../testing/start-etcd.js';
import { put } from '../testing/wired-etcd.js';
import { openEtcdStore } from './store.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('openEtcdStore() with TLS', function () {
  this.timeout(20_000);
  let certificates: Certificates;
  let etcd: EtcdServer;
  let signal: AbortSignal;

  before(async () => {
    certificates = makeCertificates();
    etcd = await startEtcd({ tls: certificates.server });
  });
  beforeEach(() => (signal = AbortSignal.timeout(15_000)));
  after(async () => {
    await etcd.stop();
    certificates.remove();
  });

  it('reads, writes, watches and leases with a client certificate', async () => {
    const store = await openEtcdStore({ endpoints: [etcd.url], ...certificates.client, log });
    try {
      const lease = await store.grantLease(60, signal);
      const seen = new Recorder();
      const at = await put(store, '/a', 'v', signal);
      store.watch({ prefix: '/', from: at }, seen);
      await Promise.all(Array.from({ length: 500 }, (_, i) => put(store, `/k${i}`, 'x'.repeat(2000), signal)));
      await seen.count(501);
      await store.renewLease(lease, signal);
      await store.revokeLease(lease, signal);
    } finally {
      await store.close();
    }
  });

  it('trusts each certificate of its bundle, also the own one of the server', async () => {
    const files = { ...certificates.client, caFile: certificates.server.certFile };
    await (await openEtcdStore({ endpoints: [etcd.url], ...files, log })).close();
  });

  it('does not open with a certificate that etcd does not know', async () => {
    const opening = openEtcdStore({ endpoints: [etcd.url], ...certificates.stranger, log, openTimeoutMs: 500 });
    await assert.rejects(opening, (err) => isStoreError(err, 'unavailable'));
  });

  it('does not open on a server that it does not know', async () => {
    const { certFile, keyFile } = certificates.client;
    const opening = openEtcdStore({ endpoints: [etcd.url], certFile, keyFile, log, openTimeoutMs: 500 });
    await assert.rejects(opening, (err) => isStoreError(err, 'unavailable') && /certificate/.test(String(err)));
  });

  it('says which file it cannot read', async () => {
    const opening = openEtcdStore({ endpoints: [etcd.url], caFile: '/no/such/ca.crt', log, openTimeoutMs: 300 });
    await assert.rejects(opening, /\/no\/such\/ca\.crt/);
  });
});
