import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueLeaf, newKey, type Authority } from '../machinery/pki/issue.js';
import { authorityFiles, openAuthority, type AuthorityOptions, type SigningAuthority } from './authorities.js';
import { newAuthority } from './testing/signing-requests.js';

const NONE: AuthorityOptions = {
  clusterSigningCertFile: '',
  clusterSigningKeyFile: '',
  clusterSigningApiServerClientCertFile: '',
  clusterSigningApiServerClientKeyFile: '',
  clusterSigningNodeAgentClientCertFile: '',
  clusterSigningNodeAgentClientKeyFile: '',
  clusterSigningNodeAgentServingCertFile: '',
  clusterSigningNodeAgentServingKeyFile: '',
  clusterSigningLegacyUnknownCertFile: '',
  clusterSigningLegacyUnknownKeyFile: '',
};

describe('the files of signing authorities', () => {
  const pair = { certFile: 'c', keyFile: 'k' };

  it('are one pair for all signers', () => {
    const files = authorityFiles({ ...NONE, clusterSigningCertFile: 'c', clusterSigningKeyFile: 'k' });
    const all = ['apiServerClient', 'apiServerClientNodeAgent', 'nodeAgentServing', 'legacyUnknown'];
    assert.deepEqual([...files], all.map((kind) => [kind, pair])); // prettier-ignore
  });

  for (const [kind, member] of [
    ['apiServerClient', 'ApiServerClient'],
    ['apiServerClientNodeAgent', 'NodeAgentClient'],
    ['nodeAgentServing', 'NodeAgentServing'],
    ['legacyUnknown', 'LegacyUnknown'],
  ] as const) {
    const [cert, key] = [`clusterSigning${member}CertFile`, `clusterSigning${member}KeyFile`] as const;
    it(`are a pair for the signer ${kind} alone`, () =>
      assert.deepEqual([...authorityFiles({ ...NONE, [cert]: 'c', [key]: 'k' })], [[kind, pair]]));
    it(`of the signer ${kind} go together, and not with a pair for all`, () => {
      const together = new RegExp(`certificate and the key of the signer ${kind} go together`);
      assert.throws(() => authorityFiles({ ...NONE, [cert]: 'c' }), together);
      assert.throws(() => authorityFiles({ ...NONE, [key]: 'k' }), together);
      const all = { clusterSigningCertFile: 'c', clusterSigningKeyFile: 'k' };
      assert.throws(() => authorityFiles({ ...NONE, ...all, [cert]: 'c', [key]: 'k' }), /cannot be given together/);
    });
  }

  it('of all signers go together, and may be missing', () => {
    assert.throws(() => authorityFiles({ ...NONE, clusterSigningKeyFile: 'k' }), /of all signers go together/);
    assert.throws(() => authorityFiles({ ...NONE, clusterSigningCertFile: 'c' }), /of all signers go together/);
    assert.equal(authorityFiles(NONE).size, 0);
  });
});

describe('a signing authority', () => {
  const directory = mkdtempSync(join(tmpdir(), 'authorities-'));
  const files = { certFile: join(directory, 'ca.crt'), keyFile: join(directory, 'ca.key') };
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (message: string): void => void warnings.push(message) };
  let first: Authority;
  let second: Authority;
  const write = ({ cert, key }: Authority): void => {
    writeFileSync(files.certFile, cert);
    writeFileSync(files.keyFile, key);
  };
  const open = (): SigningAuthority => openAuthority(files, log);
  before(async () => {
    [first, second] = [await newAuthority('first'), await newAuthority('second')];
  });
  beforeEach(() => {
    warnings.length = 0;
    write(first);
  });
  after(() => rmSync(directory, { recursive: true }));

  it('is the pair in the files, with when it ends', () => {
    const { cert, key, endsAt } = open().current();
    assert.deepEqual({ cert, key }, first);
    assert.ok(endsAt > Date.now() + 3600 * 24 * 3_600_000);
  });

  it('is the next pair when the files were replaced', () => {
    const authority = open();
    authority.current();
    write(second);
    const { cert, key } = authority.current();
    assert.deepEqual({ cert, key }, second);
    assert.deepEqual(warnings, []);
  });

  it('stays while one of the files is replaced, half-written or away, and says so once', () => {
    const authority = open();
    for (const spoil of [
      (): void => writeFileSync(files.certFile, second.cert),
      (): void => writeFileSync(files.certFile, second.cert.slice(0, 300)),
      (): void => writeFileSync(files.keyFile, ''),
      (): void => rmSync(files.keyFile),
    ]) {
      write(first);
      authority.current();
      warnings.length = 0;
      spoil();
      for (let i = 0; i < 3; i++) {
        const { cert, key } = authority.current();
        assert.deepEqual({ cert, key }, first);
      }
      assert.equal(warnings.length, 1);
    }
    write(second);
    assert.equal(authority.current().cert, second.cert);
  });

  it('is refused at the start when the files do not fit', async () => {
    writeFileSync(files.keyFile, second.key);
    assert.throws(open, /Cannot use .*ca\.key: the key is not that of the certificate$/);
    writeFileSync(files.keyFile, 'secret');
    assert.throws(open, (err: Error) => /no certificate and private key in PEM$/.test(err.message) && !/secret/.test(err.message)); // prettier-ignore
    const key = await newKey();
    const leaf = { key, commonName: 'leaf', hosts: [], usage: 'clientAuth' } as const;
    write({ key, cert: issueLeaf(leaf, first, new Date()) });
    assert.throws(open, /the certificate may not sign others$/);
    rmSync(files.certFile);
    assert.throws(open, /ca\.crt/);
  });
});
