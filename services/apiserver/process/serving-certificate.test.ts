import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servingFiles, type ServingFiles } from './serving-certificate.js';

describe('servingFiles()', () => {
  let scratch: string;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'serving-'));
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  const filesFor = (o: { certDir?: string; tlsCertFile?: string; tlsKeyFile?: string }): Promise<ServingFiles> =>
    servingFiles({
      certDir: '',
      tlsCertFile: '',
      tlsKeyFile: '',
      vocabulary: 'kubernetes',
      bindAddress: '127.0.0.5',
      advertiseAddress: '192.0.2.7',
      serviceClusterIpRange: ['10.0.0.0/24'],
      ...o,
    });
  const certificates = (file: string): X509Certificate[] =>
    readFileSync(file, 'utf8')
      .split(/(?=-----BEGIN)/)
      .map((pem) => new X509Certificate(pem));

  it('makes a pair that holds its own authority and the names by which the server is called', async () => {
    const certDir = join(scratch, 'not', 'there');
    const { tlsCertFile, tlsKeyFile } = await filesFor({ certDir });
    assert.deepEqual([tlsCertFile, tlsKeyFile], [join(certDir, 'apiserver.crt'), join(certDir, 'apiserver.key')]);
    const [leaf, authority] = certificates(tlsCertFile) as [X509Certificate, X509Certificate];
    assert.ok(leaf.checkPrivateKey(createPrivateKey(readFileSync(tlsKeyFile))));
    assert.ok(authority.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey));
    for (const address of ['127.0.0.1', '127.0.0.5', '192.0.2.7', '10.0.0.1'])
      assert.ok(leaf.checkIP(address), address);
    for (const name of ['localhost', 'kubernetes.default.svc']) assert.ok(leaf.checkHost(name), name);
    assert.equal(statSync(tlsKeyFile).mode & 0o777, 0o600);
  });

  it('takes the pair that is there, and files that flags name before it', async () => {
    const made = await filesFor({ certDir: scratch });
    const before = readFileSync(made.tlsCertFile, 'utf8');
    assert.deepEqual(await filesFor({ certDir: scratch }), made);
    assert.equal(readFileSync(made.tlsCertFile, 'utf8'), before);
    const own = { tlsCertFile: 'own.crt', tlsKeyFile: 'own.key' };
    assert.deepEqual(await filesFor({ certDir: scratch, ...own }), own);
  });

  for (const [there, missing] of [
    ['apiserver.crt', 'apiserver.key'],
    ['apiserver.key', 'apiserver.crt'],
  ] as const) {
    it(`refuses ${there} alone`, async () => {
      writeFileSync(join(scratch, there), '');
      await assert.rejects(filesFor({ certDir: scratch }), {
        message: `${scratch} has ${there} without ${missing}: both are needed, or neither`,
      });
    });
  }
});
