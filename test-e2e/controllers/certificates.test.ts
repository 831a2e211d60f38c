import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newAuthority } from '../../services/certificate-signer/testing/signing-requests.js';
import { OpenSsl } from '../../services/machinery/pki/testing/openssl.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { eventsIn, flagsFor, place, POLICY } from '../api/tools/audit.js';
import { eventually } from '../api/tools/objects.js';
import { askWith, CertificateRequests, CLIENT_USAGES, SERVER_USAGES, type Asked } from '../support/certificates.js';
import { client as adminOf, clientFor, credentialsOf, type Client } from '../support/client.js';
import { startPlatform, type Running } from '../support/platform.js';
import { removeDirectory } from '../support/scratch.js';

const words = vocabulary('platform');
const { signers, groups, namespaces, secretTypes } = words;
const requests = new CertificateRequests(words);
const RBAC = `/apis/${groups.rbac}/v1`;
const NODE = '/O=system:nodes/CN=system:node:a';
const SERVES_NODES = 'system:certificates.platform.io:certificatesigningrequests';

const isWrite = (verb: string): boolean => !['get', 'list', 'watch'].includes(verb);

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

describe('certificates for those who ask', function () {
  this.timeout(90_000);
  const openssl = new OpenSsl();
  const audit = place({ ...POLICY, rules: [{ level: 'Metadata' }] });
  const file = (name: string): string => join(audit.dir, name);
  let server: Running;
  let admin: Client;
  let ca: string;
  const opened: Client[] = [];

  const putAuthority = async (name: string): Promise<string> => {
    const { cert, key } = await newAuthority(name);
    writeFileSync(file('serving.key'), key);
    writeFileSync(file('serving.crt'), cert);
    return cert;
  };
  before(async () => {
    await putAuthority('serving 1');
    server = await startPlatform({
      controllers: ['csrsigning', 'csrapproving', 'csrcleaner'],
      args: [
        `--cluster-signing-nodeagent-serving-cert-file=${file('serving.crt')}`,
        `--cluster-signing-nodeagent-serving-key-file=${file('serving.key')}`,
        ...flagsFor(audit),
      ],
    });
    admin = adminOf(server);
    ca = credentialsOf(server.kubeconfig).ca;
    openssl.write('ca.crt', ca);
  });
  after(async () => {
    for (const it of [...opened, admin]) it.close();
    await server.stop();
    openssl.remove();
    removeDirectory(audit.dir);
  });

  const as = (credentials: { cert: string; key: string } | { token: string }): Client => {
    const made = clientFor(server.url, { ca, ...credentials });
    opened.push(made);
    return made;
  };
  const bind = async (name: string, role: string, group: string): Promise<void> => {
    const subjects = [{ kind: 'Group', apiGroup: groups.rbac, name: group }];
    const roleRef = { apiGroup: groups.rbac, kind: 'ClusterRole', name: role };
    const { status } = await admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, subjects, roleRef });
    assert.equal(status, 201);
  };
  const create = async (client: Client, name: string, { request }: Asked, spec: object): Promise<void> => {
    const answer = await requests.create(client, name, request, spec);
    assert.equal(answer.status, 201, answer.text);
  };
  const verify = (certificate: string, purpose: 'sslclient' | 'sslserver', authority = 'ca.crt'): void => {
    openssl.write('leaf.crt', certificate);
    const strict = ['-x509_strict', '-purpose', purpose, '-CAfile', authority, 'leaf.crt'];
    assert.match(openssl.run('verify', ...strict), /leaf\.crt: OK/);
  };

  for (const [name, key] of [
    ['rsa', ['rsa:2048']],
    ['ecdsa', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['ed25519', ['ed25519']],
  ] as const) {
    it(`a user with a key of ${name} is known by the certificate, and has the rights of the group`, async () => {
      const asked = askWith(openssl, `/O=devs-${name}/CN=jane`, '', key);
      await bind(`devs-${name}`, 'view', `devs-${name}`);
      await create(admin, name, asked, { signerName: signers.apiServerClient, expirationSeconds: 3600 });
      assert.equal((await requests.decide(admin, name)).status, 200);
      const { certificate, failed } = await requests.signed(admin, name);
      assert.equal(failed, undefined);
      verify(certificate, 'sslclient');
      const { validTo } = new X509Certificate(certificate);
      assert.ok(Math.abs(Date.parse(validTo) - Date.now() - 3_600_000) < 120_000, validTo);
      const jane = as({ cert: certificate, key: asked.key });
      assert.equal((await jane.get('/api/v1/namespaces/default/configmaps')).status, 200);
      const refused = await jane.get('/api/v1/namespaces/default/secrets');
      assert.equal(refused.status, 403);
      assert.match(refused.text, /User \\"jane\\" cannot list resource \\"secrets\\"/);
    });
  }

  const { apiServerClient, apiServerClientNodeAgent: client, nodeAgentServing: serving } = signers;
  const served = { signerName: serving, usages: SERVER_USAGES };
  const REFUSED: readonly (readonly [subject: string, names: string, spec: object, message: string])[] = [
    ['/CN=a', '', { signerName: apiServerClient, usages: ['digital signature'] }, 'usages must include "client auth"'],
    ['/CN=a', '', { signerName: apiServerClient, usages: [...CLIENT_USAGES, 'server auth'] }, 'usage "server auth" is not allowed'], // prettier-ignore
    ['/CN=a', '', { signerName: apiServerClient, usages: [...CLIENT_USAGES, 'cert sign'] }, 'usage "cert sign" is not allowed'], // prettier-ignore
    ['/O=people/CN=system:node:a', '', { signerName: client }, 'subject organization is not system:nodes'],
    ['/O=system:nodes/O=x/CN=system:node:a', '', { signerName: client }, 'subject organization is not system:nodes'],
    ['/O=system:nodes/CN=alice', '', { signerName: client }, 'subject common name does not begin with system:node:'],
    [NODE, 'DNS:a', { signerName: client }, 'DNS subjectAltNames are not allowed'],
    [NODE, 'IP:10.0.0.1', { signerName: client }, 'IP subjectAltNames are not allowed'],
    [NODE, 'email:a@b.c', { signerName: client }, 'Email subjectAltNames are not allowed'],
    [NODE, 'URI:u:r', { signerName: client }, 'URI subjectAltNames are not allowed'],
    [NODE, '', { signerName: client, usages: CLIENT_USAGES.slice(1) }, 'usages did not match [digital signature, key encipherment, client auth]'], // prettier-ignore
    ['/O=people/CN=system:node:a', 'DNS:a', served, 'subject organization is not system:nodes'],
    ['/O=system:nodes/CN=alice', 'DNS:a', served, 'subject common name does not begin with system:node:'],
    [NODE, '', served, 'DNS or IP subjectAltName is required'],
    [NODE, 'DNS:a,email:a@b.c', served, 'Email subjectAltNames are not allowed'],
    [NODE, 'DNS:a,URI:u:r', served, 'URI subjectAltNames are not allowed'],
    [NODE, 'DNS:a', { ...served, usages: [...SERVER_USAGES, 'client auth'] }, 'usages did not match [digital signature, key encipherment, server auth]'], // prettier-ignore
  ];

  it('what breaks a rule of its signer fails, and the condition says why', async () => {
    for (const [i, [subject, names, spec]] of REFUSED.entries()) {
      await create(admin, `refused-${i}`, askWith(openssl, subject, names), spec);
      assert.equal((await requests.decide(admin, `refused-${i}`)).status, 200);
    }
    for (const [i, [subject, names, , message]] of REFUSED.entries()) {
      const { certificate, failed } = await requests.signed(admin, `refused-${i}`);
      assert.equal(certificate, '');
      assert.deepEqual([failed?.reason, failed?.message], ['SignerValidationFailure', message], `${subject} ${names}`);
    }
  });

  it('what is no request, or for the masters, is not even taken', async () => {
    const spec = { signerName: apiServerClient };
    const { request } = askWith(openssl, '/CN=a');
    const spoiled = request.replace(/\n(.{20})/, '\nAAAA$1');
    for (const text of ['x', spoiled]) {
      assert.equal((await requests.create(admin, 'hostile', text, spec)).status, 422);
    }
    const masters = askWith(openssl, '/O=system:masters/CN=a');
    assert.equal((await requests.create(admin, 'hostile', masters.request, spec)).status, 403);
    assert.equal((await requests.create(admin, 'hostile', request, { signerName: signers.legacyUnknown })).status, 422);
  });

  it('a request that was denied, or is for a signer of others, stays without a certificate', async () => {
    const asked = askWith(openssl, '/CN=a');
    await create(admin, 'denied', asked, { signerName: apiServerClient });
    assert.equal((await requests.decide(admin, 'denied', 'Denied')).status, 200);
    await create(admin, 'foreign', asked, { signerName: 'example.com/signer' });
    assert.equal((await requests.decide(admin, 'foreign')).status, 200);
    await create(admin, 'after', asked, { signerName: apiServerClient }); // signed after those were looked at
    assert.equal((await requests.decide(admin, 'after')).status, 200);
    await requests.signed(admin, 'after');
    assert.deepEqual((await requests.conditions(admin, 'denied')).map(({ type }) => type), ['Denied']); // prettier-ignore
    for (const name of ['denied', 'foreign']) {
      const { status } = await requests.get(admin, name);
      assert.equal((status as { certificate?: string }).certificate, undefined);
    }
  });

  it('a node with a bootstrap token gets its certificate on its own, is a node by it, and renews it', async () => {
    await bind('bootstrappers', 'system:node-bootstrapper', 'system:bootstrappers');
    await bind('approve-bootstrappers', `${SERVES_NODES}:nodeclient`, 'system:bootstrappers');
    await bind('approve-nodes', `${SERVES_NODES}:selfnodeclient`, 'system:nodes');
    const secret = {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: secretTypes.bootstrapToken,
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    };
    assert.equal((await admin.post(`/api/v1/namespaces/${namespaces.system}/secrets`, secret)).status, 201);
    const token = as({ token: 'abcdef.0123456789abcdef' });
    const asked = askWith(openssl, NODE);
    await create(token, 'node-a', asked, { signerName: client });
    const { certificate } = await requests.signed(token, 'node-a');
    verify(certificate, 'sslclient');
    const [approved] = await requests.conditions(token, 'node-a');
    assert.deepEqual([approved?.type, approved?.reason], ['Approved', 'AutoApproved']);

    const node = as({ cert: certificate, key: asked.key });
    const body = (name: string): object => ({ metadata: { name } });
    assert.equal((await token.post('/api/v1/nodes', body('a'))).status, 403);
    assert.equal((await node.post('/api/v1/nodes', body('b'))).status, 403);
    assert.equal((await node.post('/api/v1/nodes', body('a'))).status, 201);
    assert.equal(
      (await node.get(`/api/v1/namespaces/${namespaces.system}/secrets/bootstrap-token-abcdef`)).status,
      403,
    );

    const next = askWith(openssl, NODE);
    await create(node, 'node-a-again', next, { signerName: client });
    const renewed = await requests.signed(node, 'node-a-again');
    assert.equal((await as({ cert: renewed.certificate, key: next.key }).get('/api/v1/nodes/a')).status, 200);
    const [self] = await requests.conditions(node, 'node-a-again');
    assert.match(self?.message ?? '', /renews its own/);
  });

  it('a certificate for serving is for an approver, is good for a server, and its authority may be replaced', async () => {
    for (const [i, usages] of [SERVER_USAGES, CLIENT_USAGES].entries()) {
      const asked = askWith(openssl, NODE, 'DNS:a.example,IP:10.0.0.1');
      await create(admin, `serving-${i}`, asked, { signerName: serving, usages });
      assert.deepEqual(await requests.conditions(admin, `serving-${i}`), []);
      await requests.decide(admin, `serving-${i}`);
      const { certificate } = await requests.signed(admin, `serving-${i}`);
      openssl.write('serving.crt', readFileSync(file('serving.crt')));
      verify(certificate, i === 0 ? 'sslserver' : 'sslclient', 'serving.crt');
      assert.equal(new X509Certificate(certificate).subjectAltName, 'DNS:a.example, IP Address:10.0.0.1');
    }
    openssl.write('next.crt', await putAuthority('serving 2'));
    let tries = 0;
    await eventually(async () => {
      const name = `rotated-${++tries}`;
      await create(admin, name, askWith(openssl, NODE, 'DNS:a'), served);
      await requests.decide(admin, name);
      const { certificate } = await requests.signed(admin, name);
      if (new X509Certificate(certificate).issuer !== 'CN=serving 2') return undefined;
      verify(certificate, 'sslserver', 'next.crt');
      return true;
    }, 60_000);
  });

  it('every right of the role to write was used, and no other asked for', async () => {
    const account = `system:serviceaccount:${namespaces.system}:certificate-controller`;
    const path = `/apis/${groups.certificates}/v1/certificatesigningrequests`;
    const role = (await admin.get(`${RBAC}/clusterroles/system:controller:certificate-controller`)).json();
    const rules = role['rules'] as readonly Rule[];
    await create(admin, 'over', askWith(openssl, '/CN=a'), { signerName: apiServerClient });
    const object = await requests.get(admin, 'over');
    const failed = { type: 'Failed', status: 'True', reason: 'r', lastUpdateTime: '2020-01-01T00:00:00Z' };
    const answer = await admin.put(`${path}/over/status`, { ...object, status: { conditions: [failed] } });
    assert.equal(answer.status, 200, answer.text);
    await eventually(async () => ((await admin.get(`${path}/over`)).status === 404 ? true : undefined));

    const used = eventsIn(audit.log)
      .filter(({ user }) => user['username'] === account)
      .map(({ verb, objectRef = {} }) => {
        const { apiGroup = '', resource = '', subresource } = objectRef;
        return [verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`].join(' ');
      });
    // Reading and events are for controllers of others that run under the account: ours look through shared informers.
    const granted = rules
      .filter(({ resources }) => !resources.includes('signers') && !resources.includes('events'))
      .flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((it) => verbs.filter(isWrite).map((verb) => [verb, group, it].join(' '))),
        ),
      );
    assert.deepEqual([...new Set(used)].sort(), granted.sort());
  });
});
