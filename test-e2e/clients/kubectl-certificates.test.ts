import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenSsl } from '../../services/machinery/pki/testing/openssl.js';
import { eventually } from '../api/tools/objects.js';
import { askWith, CLIENT_USAGES } from '../support/certificates.js';
import { withKubectl, type Kubectl, type Ran } from './kubectl.js';

const CONTROLLERS = ['csrsigning', 'csrapproving'];

interface SigningRequest {
  readonly status: { readonly certificate?: string; readonly conditions?: readonly { readonly message?: string }[] };
}

function certificates(client: () => Kubectl): void {
  const openssl = new OpenSsl();
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-certificates-'));
  after(() => {
    openssl.remove();
    rmSync(directory, { recursive: true });
  });
  const create = async (name: string, request: string, spec: object): Promise<void> => {
    const object = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: { request: Buffer.from(request).toString('base64'), usages: CLIENT_USAGES, ...spec },
    };
    await client().ok(['create', '-f', '-'], JSON.stringify(object));
  };
  const found = (name: string): Promise<SigningRequest> => client().json<SigningRequest>(['get', 'csr', name]);
  const condition = async (name: string): Promise<string> =>
    (await client().ok(['get', 'csr', name, '--no-headers'])).trim().split(/\s+/).at(-1) ?? '';
  const becomes = (name: string, wanted: string): Promise<true> =>
    eventually(async () => ((await condition(name)) === wanted ? true : undefined), 30_000);
  /** A run as the user of a certificate, and nobody else. */
  const runAs = async (cert: string, key: string, args: readonly string[]): Promise<Ran> => {
    const { clusters } = await client().json<{ clusters: object[] }>(['config', 'view', '--raw']);
    const [certFile, keyFile, config] = ['user.crt', 'user.key', 'user.kubeconfig'].map((it) => join(directory, it)) as [string, string, string]; // prettier-ignore
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const user = { 'client-certificate': certFile, 'client-key': keyFile };
    const whole = {
      clusters: clusters.map((cluster) => ({ ...cluster, name: 'c' })),
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(config, JSON.stringify(whole));
    return client().run([`--kubeconfig=${config}`, ...args]);
  };

  it('a user asks, an approver approves, and the certificate is worth what the group may', async () => {
    const kubectl = client();
    const { key, request } = askWith(openssl, '/O=devs/CN=jane');
    await kubectl.ok(['create', 'clusterrolebinding', 'devs', '--clusterrole=view', '--group=devs']);
    await create('jane', request, { signerName: 'kubernetes.io/kube-apiserver-client', expirationSeconds: 3600 });
    assert.equal(await condition('jane'), 'Pending');
    await kubectl.ok(['certificate', 'approve', 'jane']);
    await becomes('jane', 'Approved,Issued');
    const certificate = Buffer.from((await found('jane')).status.certificate ?? '', 'base64').toString();
    const { clusters } = await kubectl.json<{ clusters: [{ cluster: Record<string, string> }] }>(['config', 'view', '--raw']); // prettier-ignore
    openssl.write('ca.crt', Buffer.from(clusters[0].cluster['certificate-authority-data'] ?? '', 'base64'));
    openssl.write('jane.crt', certificate);
    const verified = openssl.run('verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.crt', 'jane.crt');
    assert.match(verified, /jane\.crt: OK/);
    const read = await runAs(certificate, key, ['get', 'configmaps', '-n', 'default']);
    assert.equal(read.code, 0, read.stderr);
    const refused = await runAs(certificate, key, ['get', 'secrets', '-n', 'default']);
    assert.match(refused.stderr, /User "jane" cannot list resource "secrets"/);
    const can = await runAs(certificate, key, ['auth', 'can-i', 'delete', 'pods']);
    assert.match(can.stdout, /^no/);
  });

  it('what is denied, or breaks a rule, gets none, and `get csr` shows it', async () => {
    const { request } = askWith(openssl, '/CN=jane');
    const signerName = 'kubernetes.io/kube-apiserver-client';
    await create('denied', request, { signerName });
    await client().ok(['certificate', 'deny', 'denied']);
    await create('failed', request, { signerName, usages: ['client auth', 'server auth'] });
    await client().ok(['certificate', 'approve', 'failed']);
    await becomes('failed', 'Approved,Failed');
    assert.equal(await condition('denied'), 'Denied');
    const { conditions = [], certificate } = (await found('failed')).status;
    assert.equal(conditions.at(-1)?.message, 'usage "server auth" is not allowed');
    assert.equal(certificate, undefined);
  });
}

withKubectl(
  'asks for certificates',
  { vocabulary: 'kubernetes', store: 'embedded', controllers: CONTROLLERS },
  certificates,
);
