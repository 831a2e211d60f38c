import assert from 'node:assert/strict';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, ok } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';
import { SIGNING_REQUEST } from './tools/signing-request.js';

/*
 * An approver reads in the request who asks for the certificate, and a signer signs for that one. So what is stored there
 * is what the authentication found, and no write says otherwise.
 */

const words = vocabulary('platform');
const { certificates: group } = words.groups;
const VERSIONS = loadCatalog(words)
  .resources.filter((r) => r.group === group && r.resource === 'certificatesigningrequests')
  .map(({ version }) => version);
const LIES = { username: 'admin', uid: '0', groups: ['system:nodes'], extra: { scopes: ['all'] } };
const DECIDED = { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }], certificate: 'Y2VydA==' };
const AS_ALICE = {
  'impersonate-user': 'alice',
  'impersonate-uid': 'u1',
  'impersonate-group': 'system:masters',
  'impersonate-extra-scopes': 'read',
};
const ALICE = {
  username: 'alice',
  uid: 'u1',
  groups: ['system:masters', 'system:authenticated'],
  extra: { scopes: ['read'] },
};

let made = 0;

for (const version of VERSIONS) {
  const path = `/apis/${group}/${version}/certificatesigningrequests`;
  const request = (name: string, spec: object = {}): Document =>
    ({
      kind: 'CertificateSigningRequest',
      apiVersion: `${group}/${version}`,
      metadata: { name },
      spec: { request: SIGNING_REQUEST, signerName: 'example.com/signer', usages: ['client auth'], ...spec },
    }) as unknown as Document;
  const authorOf = ({ spec }: Document): object => {
    const { username, uid, groups, extra } = spec;
    return { username, uid, groups, extra };
  };
  const newName = (): string => `by-${version}-${process.pid}-${++made}`;
  const asked = async (client: Client): Promise<Document> =>
    created(await client.request('POST', path, { body: request(newName()), headers: AS_ALICE }));

  onServer(`the author of a signing request in ${version}`, { store: 'embedded' }, (server: () => TestServer) => {
    it('is who was authenticated', async () => {
      const { client } = server();
      const object = created(await client.post(path, { ...request(newName(), LIES), status: DECIDED }));
      const groups = ['system:masters', 'system:authenticated'];
      assert.deepEqual(authorOf(object), { username: 'tester', uid: '1', groups, extra: undefined });
      assert.deepEqual(object.status, {});
    });

    it('is who is impersonated, by each way of creating', async () => {
      const { client } = server();
      const apply = `?fieldManager=m`;
      const lying = (name: string): object => ({ ...request(name, LIES), status: DECIDED });
      const ways: readonly (readonly [method: string, at: (name: string) => string, type: string])[] = [
        ['POST', () => path, 'application/json'],
        ['PATCH', (name) => `${path}/${name}${apply}`, 'application/apply-patch+yaml'],
        ['POST', () => `${path}?dryRun=All`, 'application/json'],
      ];
      for (const [method, at, type] of ways) {
        const name = newName();
        const object = created(await client.request(method, at(name), { body: lying(name), type, headers: AS_ALICE }));
        assert.deepEqual(authorOf(object), ALICE, `${method} ${at(name)}`);
        assert.deepEqual(object.status, {}, `${method} ${at(name)}`);
      }
    });

    for (const part of ['', '/status', '/approval']) {
      const at = ({ metadata }: Document): string => `${path}/${metadata.name}${part}`;
      it(`is not changed by a PUT of the request${part}`, async () => {
        const { client } = server();
        const before = await asked(client);
        const spec = { ...before.spec, ...LIES, signerName: 'example.com/other' };
        assert.deepEqual(ok(await client.put(at(before), { ...before, spec })).spec, before.spec);
      });

      for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
        it(`is not changed by a ${type} of the request${part}`, async () => {
          const { client } = server();
          const before = await asked(client);
          assert.deepEqual(ok(await client.patch(at(before), { spec: LIES }, type)).spec, before.spec);
        });
      }

      it(`is not changed by a JSON patch of the request${part}`, async () => {
        const { client } = server();
        const before = await asked(client);
        const steps = [
          { op: 'replace', path: '/spec/username', value: 'admin' },
          { op: 'remove', path: '/spec/groups' },
        ];
        assert.deepEqual(ok(await client.patch(at(before), steps, 'application/json-patch+json')).spec, before.spec);
      });

      it(`is not changed by an apply on the request${part}`, async () => {
        const { client } = server();
        const before = await asked(client);
        const body = { ...request(before.metadata.name, LIES) };
        const reply = await client.patch(
          `${at(before)}?fieldManager=m&force=true`,
          body,
          'application/apply-patch+yaml',
        );
        assert.deepEqual(ok(reply).spec, before.spec);
      });
    }
  });
}
