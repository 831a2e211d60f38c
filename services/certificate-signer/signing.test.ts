import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import type { Authority } from '../machinery/pki/issue.js';
import { OpenSsl } from '../machinery/pki/testing/openssl.js';
import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openSigning, type SigningOptions } from './signing.js';
import { condition, newAuthority, requestText, signingRequest, type AskedOf } from './testing/signing-requests.js';

const words = vocabulary('platform');
const { certificateSigningRequests: type } = builtInTypes(words);
const { signers } = words;
const CLIENT = ['digital signature', 'key encipherment', 'client auth'];
const NODE = '/O=system:nodes/CN=system:node:a';
const DAY_MS = 24 * 3_600_000;
const YEARS_MS = 3650 * DAY_MS;
const never = new AbortController().signal;

describe('the controller that signs requests', () => {
  const openssl = new OpenSsl();
  const directory = mkdtempSync(join(tmpdir(), 'signing-'));
  const file = (name: string): string => join(directory, name);
  let authority: Authority;
  let cluster: FakeCluster;
  let controller: Controller;
  const OPTIONS: SigningOptions = {
    clusterSigningCertFile: file('ca.crt'),
    clusterSigningKeyFile: file('ca.key'),
    clusterSigningApiServerClientCertFile: '',
    clusterSigningApiServerClientKeyFile: '',
    clusterSigningNodeAgentClientCertFile: '',
    clusterSigningNodeAgentClientKeyFile: '',
    clusterSigningNodeAgentServingCertFile: '',
    clusterSigningNodeAgentServingKeyFile: '',
    clusterSigningLegacyUnknownCertFile: '',
    clusterSigningLegacyUnknownKeyFile: '',
    clusterSigningDurationMs: 365 * DAY_MS,
    concurrentCertificateSigningSyncs: 5,
  };
  const openWith = (o: Partial<SigningOptions> = {}): Controller =>
    openSigning({ ...OPTIONS, ...o }, cluster.deps()) ?? assert.fail('it does not run');
  const putAuthority = ({ cert, key }: Authority, name = 'ca'): void => {
    writeFileSync(file(`${name}.crt`), cert);
    writeFileSync(file(`${name}.key`), key);
  };
  before(async () => {
    authority = await newAuthority('an authority');
    openssl.write('ca.crt', authority.cert);
    putAuthority(authority);
  });
  after(() => {
    openssl.remove();
    rmSync(directory, { recursive: true });
  });
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = openWith();
  });

  interface Made {
    readonly signerName?: string;
    readonly usages?: readonly string[];
    readonly spec?: object;
    readonly conditions?: readonly object[];
    readonly certificate?: string;
    readonly text?: string;
  }
  const make = (o: Made = {}, asked: AskedOf = {}): Live<CertificateSigningRequest> => {
    const { signerName = signers.apiServerClient, usages = CLIENT, conditions = [condition('Approved')] } = o;
    const text = o.text ?? requestText(openssl, asked);
    const more = o.certificate === undefined ? {} : { certificate: o.certificate };
    return cluster.put(
      type,
      signingRequest('r', text, { spec: { signerName, usages, ...o.spec }, conditions, ...more }),
    );
  };
  const found = (): Live<CertificateSigningRequest> => cluster.get(type, 'r') ?? assert.fail('it is gone');
  const certificate = (): X509Certificate => {
    const pem = Buffer.from(found().status?.certificate ?? assert.fail('it is not signed'), 'base64');
    openssl.write('leaf.crt', pem);
    return new X509Certificate(pem);
  };
  const failure = (): string | undefined => {
    const failed = found().status?.conditions?.find((it) => it.type === 'Failed');
    if (failed !== undefined) assert.equal(failed.reason, 'SignerValidationFailure');
    return failed?.message;
  };

  for (const [name, key] of [
    ['RSA', ['rsa:2048']],
    ['ECDSA', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['Ed25519', ['ed25519']],
  ] as const) {
    it(`signs an approved request with a key of ${name}, and openssl verifies it`, async () => {
      make({}, { key, subject: '/O=devs/CN=jane' });
      await cluster.settle(controller);
      const leaf = certificate();
      const strict = ['-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.crt', 'leaf.crt'];
      assert.match(openssl.run('verify', ...strict), /leaf\.crt: OK/);
      assert.equal(leaf.subject, 'O=devs\nCN=jane');
      assert.deepEqual(cluster.asked, ['update certificatesigningrequests/status r']);
      assert.equal(found().status?.conditions?.length, 1);
    });
  }

  for (const [what, made] of [
    ['one that is not approved', { conditions: [] }],
    ['one that is approved and denied', { conditions: [condition('Approved'), condition('Denied')] }],
    ['one that has failed', { conditions: [condition('Approved'), condition('Failed')] }],
    ['one that is signed', { certificate: 'eA==' }],
    ['one whose approval is taken back', { conditions: [{ type: 'Approved', status: 'False' }] }],
    ['one of a signer of others', { signerName: 'example.com/signer' }],
    ['one that names the signers of another vocabulary', { signerName: 'kubernetes.io/kube-apiserver-client' }],
  ] as const) {
    it(`leaves ${what} alone`, async () => {
      make(made);
      await cluster.settle(controller);
      assert.deepEqual(cluster.asked, []);
    });
  }

  it('leaves a request alone whose signer it has no authority for', async () => {
    cluster = new FakeCluster();
    controller = openWith({
      clusterSigningCertFile: '',
      clusterSigningKeyFile: '',
      clusterSigningNodeAgentClientCertFile: file('ca.crt'),
      clusterSigningNodeAgentClientKeyFile: file('ca.key'),
    });
    make();
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked, []);
    make({ signerName: signers.apiServerClientNodeAgent }, { subject: NODE });
    await cluster.settle(controller);
    assert.equal(certificate().subject, 'O=system:nodes\nCN=system:node:a');
  });

  it('does not run without any authority, and says so', () => {
    const o = { ...OPTIONS, clusterSigningCertFile: '', clusterSigningKeyFile: '' };
    assert.equal(openSigning(o, cluster.deps()), undefined);
    assert.equal(cluster.warnings.length, 1);
  });

  it('says in a condition why a signer refuses, and does not sign', async () => {
    make({ usages: ['client auth', 'server auth'] });
    await cluster.settle(controller);
    assert.equal(failure(), 'usage "server auth" is not allowed');
    assert.equal(found().status?.certificate, undefined);
    assert.deepEqual(cluster.asked, ['update certificatesigningrequests/status r']);
    const { status, lastUpdateTime, lastTransitionTime } = found().status?.conditions?.[1] ?? {};
    assert.deepEqual([status, lastUpdateTime === undefined], ['True', false]);
    assert.equal(lastTransitionTime, lastUpdateTime);
  });

  it('judges each signer by its own rules', async () => {
    make({ signerName: signers.apiServerClientNodeAgent }, { subject: '/O=system:nodes/O=system:masters/CN=system:node:a' }); // prettier-ignore
    await cluster.settle(controller);
    assert.equal(failure(), 'subject organization is not system:nodes');
    make({ signerName: signers.nodeAgentServing }, { subject: NODE });
    await cluster.settle(controller);
    assert.equal(failure(), 'DNS or IP subjectAltName is required');
    make({ signerName: signers.legacyUnknown, usages: ['cert sign', 'any'] });
    await cluster.settle(controller);
    assert.equal(certificate().ca, false);
  });

  const forged = (): string => {
    const text = requestText(openssl);
    const der = Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64');
    der[der.indexOf('alice')] = 'b'.charCodeAt(0);
    return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  };
  const block = (bytes: Buffer): string =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  for (const [what, text] of [
    ['no PEM', (): string => 'x'],
    ['another block', (): string => authority.cert],
    ['nothing', (): string => ''],
    ['a signature by another key', forged],
    ['an endless length', (): string => block(Buffer.from('3084ffffffff', 'hex'))],
    ['an indefinite length', (): string => block(Buffer.from('30800000', 'hex'))],
    ['a thousand nested sequences', (): string => block(Buffer.alloc(2000, '3080', 'hex'))],
    ['no members', (): string => block(Buffer.from('3000', 'hex'))],
  ] as const) {
    it(`says of a request with ${what} that it cannot be read`, async () => {
      make({ text: text() });
      await cluster.settle(controller);
      assert.match(failure() ?? '', /^unable to parse the request: ./);
      assert.equal(found().status?.certificate, undefined);
    });
  }

  it('gives no more time than is asked for', async () => {
    make({ spec: { expirationSeconds: 86_400 } });
    const now = Date.now();
    await cluster.settle(controller);
    const { validFrom, validTo } = certificate();
    assert.equal(Date.parse(validTo) - Date.parse(validFrom), DAY_MS);
    assert.ok(Math.abs(Date.parse(validFrom) - (now - 300_000)) < 60_000);
  });

  it('gives no more time than its flag', async () => {
    controller = openWith({ clusterSigningDurationMs: DAY_MS });
    make({ spec: { expirationSeconds: 864_000 } });
    await cluster.settle(controller);
    const { validFrom, validTo } = certificate();
    assert.equal(Date.parse(validTo) - Date.parse(validFrom), DAY_MS);
  });

  it('leaves a request to its change when it was changed meanwhile, or is gone', async () => {
    make();
    for (const reason of ['Conflict', 'NotFound'] as const) {
      cluster.refuse(/^update/, reason);
      assert.equal(await controller.reconcile('r', never), undefined);
    }
    cluster.refuse(/^update/, 'Forbidden');
    await assert.rejects(controller.reconcile('r', never), /Forbidden/);
    cluster.isLagging = true;
    cluster.put(type, { ...found(), status: { conditions: [condition('Denied')] } });
    assert.equal(await controller.reconcile('r', never), undefined);
    assert.equal(found().status?.certificate, undefined);
    assert.equal(await controller.reconcile('gone', never), undefined);
  });

  it('waits for another authority when its own has ended', async () => {
    putAuthority(await newAuthority('ended', new Date(Date.now() - YEARS_MS - DAY_MS)), 'old');
    cluster = new FakeCluster();
    controller = openWith({ clusterSigningCertFile: file('old.crt'), clusterSigningKeyFile: file('old.key') });
    make();
    const again = await controller.reconcile('r', never);
    assert.ok((again?.againInMs ?? 0) > 0);
    assert.deepEqual(cluster.asked, []);
    assert.equal(cluster.warnings.length, 1);
  });
});
