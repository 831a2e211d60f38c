import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configMap, configMapsIn, created, newNamespace, ok, refused } from '../api/tools/objects.js';
import { onServer, type TestServer } from '../api/tools/server.js';
import { startPlatform } from '../support/platform.js';
import { scratchDirectory } from '../support/scratch.js';

const file = (name: string, text: string): string => {
  const path = join(scratchDirectory(), name);
  writeFileSync(path, text);
  return path;
};
const limits = file(
  'limits.yaml',
  'apiVersion: eventratelimit.admission.platform.io/v1alpha1\nkind: Configuration\nlimits:\n- {type: Namespace, qps: 1, burst: 2}\n',
);
const configuration = (plugins: string): string =>
  file(
    'admission.yaml',
    `apiVersion: apiserver.config.platform.io/v1\nkind: AdmissionConfiguration\nplugins:\n${plugins}`,
  );

const ENABLED =
  'NamespaceAutoProvision,NamespaceExists,EventRateLimit,OwnerReferencesPermissionEnforcement,DenyServiceExternalIPs';
const flags = [
  `--enable-admission-plugins=${ENABLED}`,
  `--admission-control-config-file=${configuration(`- {name: EventRateLimit, path: ${JSON.stringify(limits)}}\n`)}`,
];

onServer('plugins that flags enable', { store: 'embedded', flags }, (server: () => TestServer) => {
  it('make namespaces that are missing, but for rehearsals', async () => {
    const { client } = server();
    refused(await client.post(`${configMapsIn('missing')}?dryRun=All`, configMap('c')), 404, 'NotFound');
    created(await client.post(configMapsIn('missing'), configMap('c')));
    const { metadata, status } = ok(await client.get('/api/v1/namespaces/missing'));
    assert.equal(metadata.labels?.['platform.io/metadata.name'], 'missing');
    assert.deepEqual(status, { phase: 'Active' });
    refused(
      await client.post(configMapsIn('no_name'), configMap('c')),
      403,
      'Forbidden',
      /Namespace "no_name" is invalid/,
    );
  });

  it('count events', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const event = (name: string): object => ({ metadata: { name }, involvedObject: { namespace } });
    const path = `/api/v1/namespaces/${namespace}/events`;
    for (const name of ['a', 'b']) created(await client.post(path, event(name)));
    const why = new RegExp(`^Too many requests: limit reached on type Namespace for key ${namespace}$`);
    refused(await client.post(path, event('c')), 429, 'TooManyRequests', why);
  });

  it('ask for rights on owners', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 'n', uid: 'u', blockOwnerDeletion: true };
    const owned = (name: string, one: object): object => configMap(name, { metadata: { ownerReferences: [one] } });
    const unknown = /cannot find RESTMapping for APIVersion example.com\/v1 Kind Thing/;
    refused(await client.post(configMapsIn(namespace), owned('c', owner)), 403, 'Forbidden', unknown);
    const known = { ...owner, apiVersion: 'apps/v1', kind: 'Deployment' };
    created(await client.post(configMapsIn(namespace), owned('c', known)));
  });

  it('let services have no external addresses', async () => {
    const { client } = server();
    const path = `/api/v1/namespaces/${await newNamespace(client)}/services`;
    const spec = { ports: [{ port: 80 }], externalIPs: ['1.2.3.4'] };
    refused(
      await client.post(path, { metadata: { name: 's' }, spec }),
      403,
      'Forbidden',
      /Use of external IPs is denied/,
    );
  });
});

describe('--admission-control-config-file', function () {
  this.timeout(90_000);
  for (const [what, plugins, why] of [
    ['an unknown plugin', '- name: Nope\n', /admission\.yaml: line 4: plugins\[0\]\.name: there is no plugin "Nope"/],
    [
      'a plugin that takes nothing',
      '- {name: Priority, configuration: {}}\n',
      /line 4: .*: Priority takes no configuration/,
    ],
    ['a file that is not there', '- {name: EventRateLimit, path: gone.yaml}\n', /gone\.yaml: does not exist/],
  ] as const) {
    it(`ends the start with one line for ${what}`, async () => {
      const args = [`--admission-control-config-file=${configuration(plugins)}`, '--log-level=error'];
      await assert.rejects(startPlatform({ args }), why);
    });
  }
});
