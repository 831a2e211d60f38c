import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { isIssuedByOneOf } from '../../machinery/pki/leaf-check.js';
import { ensureCredentials } from './credentials.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('ensureCredentials()', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'credentials-'))));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const ensure = (hosts: readonly string[] = []): Promise<void> =>
    ensureCredentials({ directory, vocabulary: vocabulary('platform'), hosts, log: silent });
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const all = (): Record<string, string> =>
    Object.fromEntries(readdirSync(directory).map((name) => [name, read(name)]));

  it('makes keys that only their owner can read, certificates, and nothing else', async () => {
    await ensure();
    const modes = readdirSync(directory).map((name) => [
      name,
      (statSync(join(directory, name)).mode & 0o777).toString(8),
    ]);
    assert.deepEqual(Object.fromEntries(modes), {
      'admin.crt': '644',
      'admin.key': '600',
      'apiserver.crt': '644',
      'apiserver.key': '600',
      'ca.crt': '644',
      'ca.key': '600',
      'controller-manager.crt': '644',
      'controller-manager.key': '600',
      'front-proxy-ca.crt': '644',
      'front-proxy-client.crt': '644',
      'front-proxy-client.key': '600',
      'service-account.key': '600',
      'service-account.pub': '644',
    });
    assert.equal(
      createPublicKey(read('service-account.key')).export({ type: 'spki', format: 'pem' }),
      read('service-account.pub'),
    );
  });

  it('makes an administrator and a server certificate that its authority has signed', async () => {
    await ensure(['10.1.2.3', '*.example.com']);
    const admin = new X509Certificate(read('admin.crt'));
    assert.equal(admin.subject, 'O=system:masters\nCN=admin');
    assert.equal(isIssuedByOneOf(read('admin.crt'), read('ca.crt')), true);
    assert.equal(isIssuedByOneOf(read('apiserver.crt'), read('ca.crt')), true);
    const names = new X509Certificate(read('apiserver.crt')).subjectAltName ?? '';
    const { serviceHostNames } = vocabulary('platform');
    for (const name of ['localhost', ...serviceHostNames, `${serviceHostNames[2]}.cluster.local`, '*.example.com']) {
      assert.ok(names.split(', ').includes(`DNS:${name}`), `${name} in ${names}`);
    }
    assert.ok(names.includes('IP Address:127.0.0.1') && names.includes('IP Address:10.1.2.3'));
  });

  it('makes a certificate of the front proxy, of an authority that signs for nobody else, and both anew when one is gone', async () => {
    await ensure();
    const ca = read('front-proxy-ca.crt');
    assert.equal(isIssuedByOneOf(read('front-proxy-client.crt'), ca), true);
    assert.equal(isIssuedByOneOf(read('front-proxy-client.crt'), read('ca.crt')), false);
    assert.equal(new X509Certificate(read('front-proxy-client.crt')).subject, 'CN=front-proxy-client');
    rmSync(join(directory, 'front-proxy-client.key'));
    await ensure();
    assert.notEqual(read('front-proxy-ca.crt'), ca);
    assert.equal(isIssuedByOneOf(read('front-proxy-client.crt'), read('front-proxy-ca.crt')), true);
  });

  it('changes nothing the second time', async () => {
    await ensure(['10.1.2.3', '*.example.com', 'Some_Name']);
    const before = all();
    await ensure(['10.1.2.3', '*.example.com', 'Some_Name']);
    assert.deepEqual(all(), before);
  });

  it('makes what was removed or does not fit, and keeps the rest', async () => {
    await ensure();
    const before = all();
    rmSync(join(directory, 'admin.key'));
    await ensure(['another.host']);
    const after = all();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    assert.deepEqual(changed.sort(), ['admin.crt', 'admin.key', 'apiserver.crt', 'apiserver.key']);
  });

  it('finishes what a process left that was killed while writing', async () => {
    await ensure();
    const { 'ca.key': key } = all();
    for (const name of readdirSync(directory)) if (name !== 'ca.key') rmSync(join(directory, name));
    writeFileSync(join(directory, '.ca.crt.new'), 'half a certif');
    await ensure();
    assert.equal(read('ca.key'), key);
    assert.equal(isIssuedByOneOf(read('apiserver.crt'), read('ca.crt')), true);
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('fails with one line when the directory cannot be written', async () => {
    await assert.rejects(
      ensureCredentials({
        directory: join(directory, 'gone'),
        vocabulary: vocabulary('platform'),
        hosts: [],
        log: silent,
      }),
      /^Error: ENOENT: no such file or directory[^\n]*$/,
    );
  });
});
