import assert from 'node:assert/strict';
import { vocabulary as vocabularyOf } from '../../services/machinery/vocabulary/vocabulary.js';
import { withKubectl } from './kubectl.js';

type Members = Readonly<Record<string, unknown>>;

const TEMPLATE = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const SELECTOR = { matchLabels: { app: 'x' } };
const RULES = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const SUBJECTS = [{ kind: 'User', name: 'jane' }];

interface Shown {
  /** As `kubectl get` takes it. */
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly more: Members;
  /** The heading, as people who know the kind expect it. */
  readonly columns: string;
  /** What the object's line says. */
  readonly line: RegExp;
}

const AGE = String.raw`\d+s`;

/** In the platform's words. */
const KINDS: readonly Shown[] = [
  { resource: 'configmaps', apiVersion: 'v1', kind: 'ConfigMap', more: { data: { a: '1', b: '2' } }, columns: 'NAME DATA AGE', line: new RegExp(`^shown +2 +${AGE}$`) },
  { resource: 'secrets', apiVersion: 'v1', kind: 'Secret', more: { stringData: { a: '1' } }, columns: 'NAME TYPE DATA AGE', line: /^shown +Opaque +1 / },
  { resource: 'pods', apiVersion: 'v1', kind: 'Pod', more: { spec: TEMPLATE.spec }, columns: 'NAME READY STATUS RESTARTS AGE', line: /^shown +0\/1 +Pending +0 / },
  { resource: 'services', apiVersion: 'v1', kind: 'Service', more: { spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: { app: 'x' } } }, columns: 'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE', line: /^shown +ClusterIP +None +<none> +80\/TCP / },
  { resource: 'namespaces', apiVersion: 'v1', kind: 'Namespace', more: {}, columns: 'NAME STATUS AGE', line: /^shown +Active / },
  { resource: 'nodes', apiVersion: 'v1', kind: 'Node', more: {}, columns: 'NAME STATUS ROLES AGE VERSION', line: /^shown +Unknown +<none> / },
  { resource: 'serviceaccounts', apiVersion: 'v1', kind: 'ServiceAccount', more: {}, columns: 'NAME SECRETS AGE', line: /^shown +0 / },
  { resource: 'persistentvolumeclaims', apiVersion: 'v1', kind: 'PersistentVolumeClaim', more: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }, columns: 'NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS AGE', line: /^shown +Pending / },
  { resource: 'persistentvolumes', apiVersion: 'v1', kind: 'PersistentVolume', more: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } }, columns: 'NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS REASON AGE', line: /^shown +1Gi +RWO +Retain +Pending / },
  { resource: 'replicationcontrollers', apiVersion: 'v1', kind: 'ReplicationController', more: { spec: { replicas: 2, selector: { app: 'x' }, template: TEMPLATE } }, columns: 'NAME DESIRED CURRENT READY AGE', line: /^shown +2 +0 +0 / },
  { resource: 'endpoints', apiVersion: 'v1', kind: 'Endpoints', more: { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] }, columns: 'NAME ENDPOINTS AGE', line: /^shown +10\.1\.2\.3:80 / },
  { resource: 'deployments', apiVersion: 'apps/v1', kind: 'Deployment', more: { spec: { replicas: 3, selector: SELECTOR, template: TEMPLATE } }, columns: 'NAME READY UP-TO-DATE AVAILABLE AGE', line: /^shown +0\/3 +0 +0 / },
  { resource: 'replicasets', apiVersion: 'apps/v1', kind: 'ReplicaSet', more: { spec: { replicas: 3, selector: SELECTOR, template: TEMPLATE } }, columns: 'NAME DESIRED CURRENT READY AGE', line: /^shown +3 +0 +0 / },
  { resource: 'statefulsets', apiVersion: 'apps/v1', kind: 'StatefulSet', more: { spec: { replicas: 3, serviceName: 's', selector: SELECTOR, template: TEMPLATE } }, columns: 'NAME READY AGE', line: /^shown +0\/3 / },
  { resource: 'daemonsets', apiVersion: 'apps/v1', kind: 'DaemonSet', more: { spec: { selector: SELECTOR, template: TEMPLATE } }, columns: 'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE', line: /^shown +0 +0 +0 +0 +0 +<none> / },
  { resource: 'jobs', apiVersion: 'batch/v1', kind: 'Job', more: { spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } } }, columns: 'NAME COMPLETIONS DURATION AGE', line: /^shown +0\/1 / },
  { resource: 'cronjobs', apiVersion: 'batch/v1', kind: 'CronJob', more: { spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } } } } }, columns: 'NAME SCHEDULE SUSPEND ACTIVE LAST SCHEDULE AGE', line: /^shown +0 \* \* \* \* +False +0 +<none> / },
  { resource: 'ingresses', apiVersion: 'networking.platform.io/v1', kind: 'Ingress', more: { spec: { ingressClassName: 'c', rules: [{ host: 'h.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] } }] } }, columns: 'NAME CLASS HOSTS ADDRESS PORTS AGE', line: /^shown +c +h\.example\.com +80 / },
  { resource: 'networkpolicies', apiVersion: 'networking.platform.io/v1', kind: 'NetworkPolicy', more: { spec: { podSelector: SELECTOR } }, columns: 'NAME POD-SELECTOR AGE', line: /^shown +app=x / },
  { resource: 'poddisruptionbudgets', apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', more: { spec: { minAvailable: 1, selector: SELECTOR } }, columns: 'NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE', line: /^shown +1 +N\/A +0 / },
  { resource: 'roles', apiVersion: 'rbac.authorization.platform.io/v1', kind: 'Role', more: { rules: RULES }, columns: 'NAME CREATED AT', line: /^shown +\d{4}-\d\d-\d\dT/ },
  { resource: 'rolebindings', apiVersion: 'rbac.authorization.platform.io/v1', kind: 'RoleBinding', more: { roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.platform.io' }, subjects: SUBJECTS }, columns: 'NAME ROLE AGE', line: /^shown +Role\/r / },
  { resource: 'storageclasses', apiVersion: 'storage.platform.io/v1', kind: 'StorageClass', more: { provisioner: 'example.com/p' }, columns: 'NAME PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE ALLOWVOLUMEEXPANSION AGE', line: /^shown +example\.com\/p +Delete +Immediate +false / },
  { resource: 'priorityclasses', apiVersion: 'scheduling.platform.io/v1', kind: 'PriorityClass', more: { value: 5 }, columns: 'NAME VALUE GLOBAL-DEFAULT AGE', line: /^shown +5 +false / },
  { resource: 'leases', apiVersion: 'coordination.platform.io/v1', kind: 'Lease', more: { spec: { holderIdentity: 'me' } }, columns: 'NAME HOLDER AGE', line: /^shown +me / },
  { resource: 'endpointslices', apiVersion: 'discovery.platform.io/v1', kind: 'EndpointSlice', more: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ port: 80 }] }, columns: 'NAME ADDRESSTYPE PORTS ENDPOINTS AGE', line: /^shown +IPv4 +80 +10\.1\.2\.3 / },
  { resource: 'horizontalpodautoscalers', apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', more: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } }, columns: 'NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE', line: /^shown +Deployment\/d +(cpu: )?<unknown>\/80% +1 +3 +0 / },
]; // prettier-ignore

/** Words of a heading, whatever stands between the columns. */
const words = (text: string): string => text.trim().split(/ +/).join(' ');

for (const name of ['kubernetes', 'platform'] as const) {
  const { translate } = vocabularyOf(name);
  withKubectl('shows', { vocabulary: name, store: 'embedded' }, (client) => {
    for (const { resource, apiVersion, kind, more, columns, line } of KINDS) {
      it(`${resource} with the columns that people know`, async () => {
        const kubectl = client();
        const body = { apiVersion, kind, metadata: { name: 'shown' }, ...more };
        const object = JSON.parse(JSON.stringify(body), (_key, value: unknown) =>
          typeof value === 'string' ? translate(value) : value,
        ) as object;
        await kubectl.ok(['create', '-f', '-'], JSON.stringify(object));
        const group = apiVersion.includes('.') ? `.${translate(apiVersion).split('/', 1)[0] ?? ''}` : '';
        const [heading = '', shown = ''] = (await kubectl.ok(['get', `${resource}${group}`, 'shown'])).split('\n');
        assert.equal(words(heading), columns);
        assert.match(shown, line);
      });
    }

    it('several kinds at once, wide, by namespace, with labels and sorted', async () => {
      const kubectl = client();
      const wide = await kubectl.ok(['get', 'deployments', '-o', 'wide']);
      assert.equal(
        words(wide.split('\n', 1)[0] ?? ''),
        'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR',
      );
      const all = await kubectl.ok(['get', 'configmaps', '-A', '--show-labels', '--sort-by=.metadata.name']);
      assert.equal(words(all.split('\n', 1)[0] ?? ''), 'NAMESPACE NAME DATA AGE LABELS');
      assert.match(await kubectl.ok(['get', 'cm,secret', 'shown']), /configmap\/shown.*secret\/shown/s);
    });

    it('changes as they come', async () => {
      const kubectl = client();
      const watching = kubectl.follow(['get', 'configmaps', '--watch']);
      try {
        await watching.line(/^NAME +DATA +AGE/);
        await kubectl.ok(['create', 'configmap', 'seen', '--from-literal=a=1']);
        await watching.line(/^seen +1 /);
      } finally {
        watching.stop();
      }
    });
  });
}
