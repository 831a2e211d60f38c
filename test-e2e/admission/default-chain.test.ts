import assert from 'node:assert/strict';
import { vocabulary, type VocabularyName } from '../../services/machinery/vocabulary/vocabulary.js';
import { MASTERS_REQUESTS, pem, CERTIFICATE } from '../../services/apiserver/registry/validation/testing/signing-requests.js'; // prettier-ignore
import type { Client, Reply } from '../api/tools/client.js';
import { configMap, configMapsIn, created, eventually, newNamespace, ok, refused } from '../api/tools/objects.js';
import { onServer, type TestServer } from '../api/tools/server.js';
import { SIGNING_REQUEST } from '../api/tools/signing-request.js';

/* What users see of the plugins that run where no flag says otherwise, in both forms of the words. */

for (const name of ['platform', 'kubernetes'] as const satisfies readonly VocabularyName[]) {
  const words = vocabulary(name);
  const { groups, annotations, finalizers, labelPrefixes } = words;

  const title = `the plugins that run by default, in words of ${name}`;
  onServer(
    title,
    { store: 'embedded', accounts: true, flags: [`--vocabulary=${name}`] },
    (server: () => TestServer) => {
      const client = (): Client => server().client;
      const as = (user: string, method: string, path: string, body: unknown): Promise<Reply> =>
        client().request(method, path, { body, headers: { 'impersonate-user': user } });
      const notReady = { key: `${labelPrefixes.node}not-ready`, effect: 'NoSchedule' };
      const metadataOf = (prefix: string, of: Record<string, string> = {}): object => ({
        name: `${prefix}-${Math.random().toString(36).slice(2)}`,
        annotations: of,
      });

      describe('pods', () => {
        const pod = (spec: object = {}): object => ({
          metadata: { name: 'p' },
          spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
        });
        const inNew = async (labels: Record<string, string> = {}): Promise<string> => {
          const namespace = await newNamespace(client());
          ok(await client().patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } }));
          return namespace;
        };

        it('come with an account, a token, limits, a priority and tolerations, and are counted', async () => {
          const namespace = await inNew();
          const at = `/api/v1/namespaces/${namespace}`;
          const limits = [{ type: 'Container', default: { cpu: '200m' }, defaultRequest: { cpu: '100m' } }];
          created(await client().post(`${at}/limitranges`, { metadata: { name: 'l' }, spec: { limits } }));
          created(
            await client().post(`${at}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { pods: '1' } } }),
          );
          const { spec, metadata } = created(await client().post(`${at}/pods`, pod()));
          const got = spec as { serviceAccountName: string; priority: number; volumes: { name: string }[]; tolerations: object[]; containers: { resources: object; volumeMounts: { mountPath: string }[] }[] }; // prettier-ignore
          assert.deepEqual([got.serviceAccountName, got.priority], ['default', 0]);
          const prefix = name === 'platform' ? 'platform-api-access-' : 'kube-api-access-';
          assert.ok(got.volumes[0]?.name.startsWith(prefix), JSON.stringify(got.volumes));
          const [container] = got.containers;
          assert.deepEqual(container?.resources, { limits: { cpu: '200m' }, requests: { cpu: '100m' } });
          assert.equal(container.volumeMounts.length, 1);
          assert.deepEqual(
            got.tolerations,
            ['not-ready', 'unreachable'].map((key) => ({ key: `${labelPrefixes.node}${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })), // prettier-ignore
          );
          assert.match(metadata.annotations?.[annotations.limitRanger] ?? '', /LimitRanger plugin set: cpu/);
          const over = await client().post(`${at}/pods`, { ...pod(), metadata: { name: 'second' } });
          refused(over, 403, 'Forbidden', /exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1/);
        });

        it('are refused by the standards of their namespace', async () => {
          const label = words.translate('pod-security.platform.io/enforce');
          const namespace = await inNew({ [label]: 'restricted' });
          const reply = await client().post(`/api/v1/namespaces/${namespace}/pods`, pod());
          refused(reply, 403, 'Forbidden', /violates PodSecurity "restricted:latest"/);
        });

        it('are not created where their namespace is not there, or on its way out', async () => {
          refused(
            await client().post('/api/v1/namespaces/nowhere/pods', pod()),
            404,
            'NotFound',
            /^namespaces "nowhere"/,
          );
          const namespace = await inNew();
          const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
          await eventually(async () => ((await client().get(account)).code === 200 ? true : undefined));
          ok(await client().delete(`/api/v1/namespaces/${namespace}`));
          const why = new RegExp(`create new content in namespace ${namespace} because it is being terminated`);
          for (const path of ['pods', 'pods/p/binding', 'serviceaccounts/default/token']) {
            const body = path === 'pods' ? pod() : path.endsWith('token') ? {} : { metadata: { name: 'p' }, target: { name: 'n' } }; // prettier-ignore
            refused(await client().post(`/api/v1/namespaces/${namespace}/${path}`, body), 403, 'Forbidden', why);
          }
          refused(
            await client().delete(`/api/v1/namespaces/${words.namespaces.public}`),
            403,
            'Forbidden',
            /may not be/,
          );
        });
      });

      describe('claims and volumes', () => {
        const claim = (spec: object = {}): object => ({
          metadata: metadataOf('claim'),
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
        });
        const classes = `/apis/${groups.storage}/v1/storageclasses`;

        it('are protected while they are used, and get the default class', async () => {
          const claims = `/api/v1/namespaces/${await newNamespace(client())}/persistentvolumeclaims`;
          const before = created(await client().post(claims, claim()));
          assert.deepEqual(before.metadata.finalizers, [finalizers.pvcProtection]);
          assert.equal(before.spec['storageClassName'], undefined);
          const isDefault = { [annotations.defaultStorageClass]: 'true' };
          const one = { metadata: metadataOf('class', isDefault), provisioner: 'example.com/p' };
          const { metadata } = created(await client().post(classes, one));
          const { spec } = created(await client().post(claims, claim()));
          assert.equal(spec['storageClassName'], metadata.name);
          const other = { metadata: metadataOf('class', isDefault), provisioner: 'example.com/p' };
          const second = created(await client().post(classes, other));
          refused(await client().post(claims, claim()), 403, 'Forbidden', /2 default StorageClasses were found$/);
          for (const each of [metadata.name, second.metadata.name]) ok(await client().delete(`${classes}/${each}`));
          const source = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
          const volume = created(
            await client().post('/api/v1/persistentvolumes', { metadata: metadataOf('pv'), spec: source }),
          );
          assert.deepEqual(volume.metadata.finalizers, [finalizers.pvProtection]);
        });

        it('grow where their class allows it', async () => {
          const claims = `/api/v1/namespaces/${await newNamespace(client())}/persistentvolumeclaims`;
          for (const allowVolumeExpansion of [true, false]) {
            const body = { metadata: metadataOf('class'), provisioner: 'example.com/p', allowVolumeExpansion };
            const { metadata } = created(await client().post(classes, body));
            const made = created(await client().post(claims, claim({ storageClassName: metadata.name })));
            const at = `${claims}/${made.metadata.name}`;
            ok(await client().patch(`${at}/status`, { status: { phase: 'Bound' } }));
            const grown = await client().patch(at, { spec: { resources: { requests: { storage: '2Gi' } } } });
            if (allowVolumeExpansion) ok(grown);
            else refused(grown, 403, 'Forbidden', /storageclass that provisions the pvc must support resize$/);
          }
        });
      });

      it('give ingresses the default class', async () => {
        const ingresses = `/apis/${groups.networking}/v1/namespaces/${await newNamespace(client())}/ingresses`;
        const classes = `/apis/${groups.networking}/v1/ingressclasses`;
        const ingress = (): object => ({
          metadata: metadataOf('ingress'),
          spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
        });
        const isDefault = { [annotations.defaultIngressClass]: 'true' };
        const body = (): object => ({
          metadata: metadataOf('class', isDefault),
          spec: { controller: 'example.com/c' },
        });
        const { metadata } = created(await client().post(classes, body()));
        assert.equal(created(await client().post(ingresses, ingress())).spec['ingressClassName'], metadata.name);
        created(await client().post(classes, body()));
        const why = /2 default IngressClasses were found, only 1 allowed$/;
        refused(await client().post(ingresses, ingress()), 403, 'Forbidden', why);
      });

      it('taint new nodes', async () => {
        const { spec } = created(await client().post('/api/v1/nodes', { metadata: metadataOf('node') }));
        assert.deepEqual(spec['taints'], [notReady]);
      });

      it('let those decide on requests for certificates, and sign them, who have the right for the signer', async () => {
        const path = `/apis/${groups.certificates}/v1/certificatesigningrequests`;
        const roles = `/apis/${groups.rbac}/v1`;
        const csr = (signerName: string, request: string): object => ({
          metadata: metadataOf('csr'),
          spec: { request, signerName, usages: ['client auth'] },
        });
        const grant = async (user: string, rules: object[]): Promise<void> => {
          const metadata = metadataOf('grant') as { name: string };
          created(await client().post(`${roles}/clusterroles`, { metadata, rules }));
          const roleRef = { apiGroup: groups.rbac, kind: 'ClusterRole', name: metadata.name };
          const subjects = [{ apiGroup: groups.rbac, kind: 'User', name: user }];
          created(await client().post(`${roles}/clusterrolebindings`, { metadata, roleRef, subjects }));
        };
        const apiGroups = [groups.certificates];
        const resources = ['approval', 'status'].map((part) => `certificatesigningrequests/${part}`);
        for (const user of ['writer', 'signer']) await grant(user, [{ apiGroups, resources, verbs: ['update'] }]);
        await grant('signer', [
          { apiGroups, resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['approve', 'sign'] },
        ]);

        const masters = await client().post(path, csr(words.signers.apiServerClient, pem(MASTERS_REQUESTS[0])));
        refused(masters, 403, 'Forbidden', /with system:masters group is not allowed$/);

        const made = created(await client().post(path, csr('example.com/s', SIGNING_REQUEST)));
        const at = `${path}/${made.metadata.name}`;
        const certificate = pem(CERTIFICATE, 'CERTIFICATE');
        const early = await as('signer', 'PUT', `${at}/status`, { ...made, status: { certificate } });
        refused(early, 422, 'Invalid', /the request has not been approved$/);
        const conditions = [{ type: 'Approved', status: 'True', reason: 'r' }];
        const approval = { ...made, status: { conditions } };
        const not = (verb: string): RegExp =>
          new RegExp(`not permitted to ${verb} requests with signerName "example.com/s"`);
        refused(await as('writer', 'PUT', `${at}/approval`, approval), 403, 'Forbidden', not('approve'));
        const approved = ok(await as('signer', 'PUT', `${at}/approval`, approval));
        const signed = { ...approved, status: { ...(approved.status as object), certificate } };
        refused(await as('writer', 'PUT', `${at}/status`, signed), 403, 'Forbidden', not('sign'));
        ok(await as('signer', 'PUT', `${at}/status`, signed));
      });

      it('say nothing to what other plugins would refuse', async () => {
        const namespace = await newNamespace(client());
        const spec = { ports: [{ port: 80 }], externalIPs: ['1.2.3.4'] };
        created(await client().post(`/api/v1/namespaces/${namespace}/services`, { metadata: { name: 's' }, spec }));
        const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 'n', uid: 'u', blockOwnerDeletion: true };
        const owned = configMap('c', { metadata: { ownerReferences: [owner] } });
        created(await client().post(configMapsIn(namespace), owned));
      });
    },
  );
}
