import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { columnsOf, type Columns } from './columns.js';

const NOW = Date.parse('2024-03-01T12:00:00Z');
const CREATED = '2024-03-01T11:00:00Z';

const columnsIn = (name: VocabularyName): ((resource: string) => Columns) => {
  const { resources } = loadCatalog(vocabulary(name));
  return (resource) => {
    const found = resources.find((r) => `${r.group === '' ? '' : `${r.group}/`}${r.resource}` === resource);
    assert.ok(found !== undefined, resource);
    return columnsOf(found.table);
  };
};
const columns = columnsIn('platform');

/** The cells by their columns' names, as read at `NOW`. */
function shown(of: Columns, object: object): Record<string, unknown> {
  const names = (JSON.parse(of.definitions) as { name: string }[]).map(({ name }) => name);
  const cells = of.cells(object).map((cell) => (typeof cell === 'function' ? cell(NOW) : cell));
  assert.equal(cells.length, names.length);
  return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
}

/** Asserts some cells of one object. */
function shows(resource: string, object: object, expected: Record<string, unknown>): void {
  const cells = shown(columns(resource), { metadata: { name: 'x', creationTimestamp: CREATED }, ...object });
  const asked = Object.fromEntries(Object.keys(expected).map((name) => [name, cells[name]]));
  assert.deepEqual(asked, expected);
}

describe('columnsOf()', () => {
  for (const word of ['platform', 'kubernetes'] as const) {
    it(`compiles every declaration and takes an object without anything, in the words of ${word}`, () => {
      for (const { table, resource } of loadCatalog(vocabulary(word)).resources) {
        const of = columnsOf(table);
        assert.doesNotThrow(() => {
          of.cells({});
          of.conditions({});
        }, resource);
        for (const cell of of.cells({})) assert.notEqual(cell, undefined, resource);
      }
    });
  }

  it('shows resources without columns of their own by name and time of creation', () => {
    shows('limitranges', {}, { Name: 'x', 'Created At': CREATED });
    assert.deepEqual(
      (JSON.parse(columns('limitranges').definitions) as object[]).map(({ ...definition }) => definition),
      [
        {
          name: 'Name',
          type: 'string',
          format: 'name',
          description: 'Name of the object, unique among its kind in its namespace.',
          priority: 0,
        },
        { name: 'Created At', type: 'date', format: '', description: 'When the object was created.', priority: 0 },
      ],
    );
  });

  it('is the same for one declaration', () => {
    assert.equal(columns('pods'), columns('pods'));
  });

  it('shows events of both groups alike', () => {
    assert.equal(columns('events').definitions, columns('events.platform.io/events').definitions);
  });

  it('refuses a declaration that names what is not there', () => {
    const column = { name: 'A', type: 'string', description: '' } as const;
    assert.throws(() => columnsOf({ columns: [{ ...column, show: 'nothing' }] }), /nothing/);
    assert.throws(() => columnsOf({ columns: [{ ...column, path: 'a[' }] }), /Not a path/);
    assert.throws(() => columnsOf({ columns: [column], conditions: 'none' }), /none/);
  });

  it('knows ages and what has none', () => {
    shows('configmaps', {}, { Age: '60m' });
    shows('configmaps', { metadata: { name: 'x' } }, { Age: '<unknown>' });
  });

  it('counts entries', () => {
    shows('configmaps', { data: { a: '', b: '' }, binaryData: { c: '' } }, { Name: 'x', Data: 3 });
    shows('secrets', { type: 'Opaque', data: { a: '' } }, { Type: 'Opaque', Data: 1 });
    shows('serviceaccounts', {}, { Secrets: 0 });
  });

  it('tells zero where nothing is said of a number', () => {
    shows('apps/replicasets', { spec: { replicas: 3 } }, { Desired: 3, Current: 0, Ready: 0 });
  });

  const template = {
    spec: {
      containers: [
        { name: 'a', image: 'i:1' },
        { name: 'b', image: 'j:2' },
      ],
      nodeSelector: { z: '1', a: '2' },
    },
  };
  it('shows workloads', () => {
    const selector = {
      matchLabels: { app: 'x' },
      matchExpressions: [{ key: 'k', operator: 'In', values: ['v', 'w'] }],
    };
    shows(
      'apps/deployments',
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      {
        Ready: '1/3',
        'Up-to-date': 2,
        Available: 1,
        Containers: 'a,b',
        Images: 'i:1,j:2',
        Selector: 'app=x,k in (v,w)',
      },
    );
    shows('apps/deployments', {}, { Ready: '0/0', Containers: '', Selector: '' });
    shows('apps/daemonsets', { spec: { template } }, { 'Node Selector': 'a=2,z=1', Selector: '<none>' });
    shows('apps/statefulsets', { spec: { replicas: 2 } }, { Ready: '0/2' });
    shows('replicationcontrollers', { spec: { selector: { a: 'b' } } }, { Selector: 'a=b' });
    shows('podtemplates', { template: { ...template, metadata: { labels: { a: 'b' } } } }, { 'Pod Labels': 'a=b', Images: 'i:1,j:2' }); // prettier-ignore
    const owner = { controller: true, apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's' };
    shows('apps/controllerrevisions', { metadata: { ownerReferences: [owner] }, revision: 4 }, { Controller: 'statefulset.apps/s', Revision: 4 }); // prettier-ignore
    shows('apps/controllerrevisions', {}, { Controller: '<none>' });
  });

  it('shows jobs', () => {
    const status = { succeeded: 1, startTime: '2024-03-01T11:59:00Z', completionTime: '2024-03-01T11:59:30Z' };
    shows('batch/jobs', { spec: { completions: 3 }, status }, { Completions: '1/3', Duration: '30s' });
    shows('batch/jobs', { spec: { parallelism: 2 }, status: { startTime: status.startTime } }, { Completions: '0/1 of 2', Duration: '60s' }); // prettier-ignore
    shows('batch/jobs', { spec: { parallelism: 1 } }, { Completions: '0/1', Duration: '' });
    shows(
      'batch/cronjobs',
      { spec: { schedule: '* * * * *', suspend: false }, status: { active: [{}], lastScheduleTime: CREATED } },
      { Schedule: '* * * * *', Suspend: 'False', Active: 1, 'Last Schedule': '60m' },
    );
    shows('batch/cronjobs', {}, { Suspend: '<unset>', Active: 0, 'Last Schedule': '<none>' });
  });

  it('shows measures of an autoscaler', () => {
    const resource = (target: object): object => ({ type: 'Resource', resource: { name: 'cpu', target } });
    const autoscaler = 'autoscaling/horizontalpodautoscalers';
    const current = { type: 'Resource', resource: { current: { averageUtilization: 40, averageValue: '5m' } } };
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5 };
    const targets = (metrics: object[], currentMetrics: object[] = []): unknown =>
      shown(columns(autoscaler), { spec: { ...spec, metrics }, status: { currentMetrics } })['Targets'];
    shows(autoscaler, { spec }, { Reference: 'Deployment/d', Targets: '<none>', MinPods: '<unset>', MaxPods: 5, Replicas: 0 }); // prettier-ignore
    shows(autoscaler, { spec: { ...spec, minReplicas: 2 } }, { MinPods: '2' });
    assert.equal(targets([resource({ averageUtilization: 80 })], [current]), '40%/80%');
    assert.equal(targets([resource({ averageUtilization: 80 })]), '<unknown>/80%');
    assert.equal(targets([resource({})]), '<unknown>/<auto>');
    assert.equal(targets([resource({ averageValue: '10m' })], [current]), '5m/10m');
    const external = (target: object): object => ({ type: 'External', external: { target } });
    assert.equal(targets([external({ averageValue: '3' })]), '<unknown>/3 (avg)');
    assert.equal(targets([external({ value: '7' })], [{ external: { current: { value: '6' } } }]), '6/7');
    assert.equal(targets([{ type: 'Pods', pods: { target: { averageValue: '4' } } }]), '<unknown>/4');
    assert.equal(targets([{ type: 'constructor' }]), '<unknown type>');
    assert.equal(
      targets(Array.from({ length: 4 }, () => resource({}))),
      '<unknown>/<auto>, <unknown>/<auto> + 2 more...',
    );
  });

  it('shows services', () => {
    const ports = [
      { port: 80, protocol: 'TCP' },
      { port: 53, nodePort: 30053, protocol: 'UDP' },
    ];
    const external = (spec: object, status: object = {}): unknown =>
      shown(columns('services'), { spec, status })['External-IP'];
    shows(
      'services',
      { spec: { type: 'ClusterIP', clusterIPs: ['10.0.0.1', 'fd00::1'], ports } },
      { Type: 'ClusterIP', 'Cluster-IP': '10.0.0.1', 'External-IP': '<none>', 'Port(s)': '80/TCP,53:30053/UDP', Selector: '<none>' }, // prettier-ignore
    );
    shows('services', { spec: { type: 'ExternalName', externalName: 'e.example' } }, { 'Cluster-IP': '<none>', 'External-IP': 'e.example', 'Port(s)': '<none>' }); // prettier-ignore
    assert.equal(external({ type: 'NodePort', externalIPs: ['1.1.1.1', '2.2.2.2'] }), '1.1.1.1,2.2.2.2');
    assert.equal(external({ type: 'LoadBalancer' }), '<pending>');
    const loadBalancer = { ingress: [{ hostname: 'h.example' }, { ip: '3.3.3.3' }, { ip: '3.3.3.3' }] };
    assert.equal(external({ type: 'LoadBalancer' }, { loadBalancer }), '3.3.3.3,h.example');
    assert.equal(external({ type: 'LoadBalancer', externalIPs: ['1.1.1.1'] }, { loadBalancer }), '3.3.3.3,h.example,1.1.1.1'); // prettier-ignore
    assert.equal(external({ type: 'toString' }), '<unknown>');
  });

  it('shows endpoints, the first of many', () => {
    const addresses = ['1.1.1.1', '2.2.2.2', 'fd00::1'].map((ip) => ({ ip }));
    shows('endpoints', {}, { Endpoints: '<none>' });
    shows('endpoints', { subsets: [{ addresses }] }, { Endpoints: '1.1.1.1,2.2.2.2,fd00::1' });
    shows(
      'endpoints',
      { subsets: [{ addresses, ports: [{ port: 80 }, { port: 443 }] }] },
      { Endpoints: '1.1.1.1:80,2.2.2.2:80,[fd00::1]:80 + 3 more...' },
    );
    shows(
      'discovery.platform.io/endpointslices',
      { addressType: 'IPv4', ports: [{ port: 80 }, { name: 'web' }, {}], endpoints: [{ addresses: ['1.1.1.1'] }] },
      { AddressType: 'IPv4', Ports: '80,web,*', Endpoints: '1.1.1.1' },
    );
    shows('discovery.platform.io/endpointslices', {}, { Ports: '<unset>', Endpoints: '<unset>' });
  });

  it('shows ingresses and their classes', () => {
    const rules = ['a', 'b', 'c', 'd', 'e'].map((host) => ({ host }));
    shows('networking.platform.io/ingresses', { spec: { rules, tls: [{}] } }, { Class: '<none>', Hosts: 'a,b,c + 2 more...', Address: '', Ports: '80, 443' }); // prettier-ignore
    shows('networking.platform.io/ingresses', { spec: { rules: [{}], ingressClassName: 'c' } }, { Class: 'c', Hosts: '*', Ports: '80' }); // prettier-ignore
    const parameters = { apiGroup: 'example.com', kind: 'Params', name: 'p' };
    shows('networking.platform.io/ingressclasses', { spec: { controller: 'c', parameters } }, { Controller: 'c', Parameters: 'Params.example.com/p' }); // prettier-ignore
    shows('networking.platform.io/ingressclasses', {}, { Parameters: '<none>' });
    shows('networking.platform.io/networkpolicies', { spec: { podSelector: {} } }, { 'Pod-Selector': '<none>' });
  });

  it('shows nodes', () => {
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [
        { type: 'Hostname', address: 'h' },
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: '10.0.0.2' },
      ],
      nodeInfo: { nodeagentVersion: 'v1', osImage: 'os' },
    };
    const labels = { 'node-role.platform.io/worker': '', 'node-role.platform.io/': 'x', 'platform.io/role': 'edge' };
    shows(
      'nodes',
      { metadata: { name: 'n', labels }, spec: { unschedulable: true }, status },
      {
        Status: 'Ready,SchedulingDisabled',
        Roles: 'edge,worker',
        Version: 'v1',
        'Internal-IP': '10.0.0.1',
        'External-IP': '<none>',
        'OS-Image': 'os',
        'Kernel-Version': '<unknown>',
      },
    );
    shows('nodes', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, { Status: 'NotReady', Roles: '<none>' }); // prettier-ignore
    shows('nodes', {}, { Status: 'Unknown' });
  });

  it('reads the words of the vocabulary', () => {
    const kubernetes = columnsIn('kubernetes');
    const labels = { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' };
    const node = shown(kubernetes('nodes'), { metadata: { labels }, status: { nodeInfo: { kubeletVersion: 'v9' } } });
    assert.deepEqual([node['Roles'], node['Version']], ['edge,worker', 'v9']);
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };
    const claim = shown(kubernetes('persistentvolumeclaims'), { metadata: { annotations }, spec: { storageClassName: 'new' } }); // prettier-ignore
    assert.equal(claim['StorageClass'], 'old');
    const isDefault = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' }, name: 'fast' };
    assert.equal(shown(kubernetes('storage.k8s.io/storageclasses'), { metadata: isDefault })['Name'], 'fast (default)');
  });

  it('shows volumes and claims', () => {
    const accessModes = ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOnce', 'Other'];
    shows(
      'persistentvolumes',
      { spec: { accessModes, capacity: { storage: '5Gi' }, claimRef: { namespace: 'n', name: 'c' } }, status: { phase: 'Bound' } }, // prettier-ignore
      { Capacity: '5Gi', 'Access Modes': 'RWO,RWX', Status: 'Bound', Claim: 'n/c', StorageClass: '', VolumeMode: '<unset>' }, // prettier-ignore
    );
    shows('persistentvolumes', {}, { Capacity: '0', Claim: '' });
    const status = { phase: 'Bound', accessModes, capacity: { storage: '5Gi' } };
    shows('persistentvolumeclaims', { spec: { volumeName: 'v' }, status }, { Status: 'Bound', Volume: 'v', Capacity: '5Gi', 'Access Modes': 'RWO,RWX' }); // prettier-ignore
    shows('persistentvolumeclaims', { status }, { Volume: '', Capacity: '', 'Access Modes': '' });
    shows('persistentvolumeclaims', { metadata: { deletionTimestamp: CREATED }, status }, { Status: 'Terminating' });
    shows('storage.platform.io/storageclasses', {}, { Name: 'x', ReclaimPolicy: 'Delete', VolumeBindingMode: 'Immediate', AllowVolumeExpansion: false }); // prettier-ignore
    shows('storage.platform.io/csidrivers', { spec: { volumeLifecycleModes: ['Persistent', 'Ephemeral'], attachRequired: false } }, { AttachRequired: false, PodInfoOnMount: false, TokenRequests: '<unset>', Modes: 'Persistent,Ephemeral' }); // prettier-ignore
    shows('storage.platform.io/csidrivers', {}, { AttachRequired: true, Modes: '<none>' });
    shows('storage.platform.io/volumeattachments', {}, { Attached: false });
    shows('storage.platform.io/csinodes', { spec: { drivers: [{}, {}] } }, { Drivers: 2 });
  });

  it('shows quotas by requests and limits', () => {
    const status = {
      hard: { pods: '10', 'limits.cpu': '4', 'requests.cpu': '2' },
      used: { pods: '3', 'limits.cpu': '1' },
    };
    shows('resourcequotas', { status }, { Request: 'pods: 3/10, requests.cpu: 0/2', Limit: 'limits.cpu: 1/4' });
  });

  it('shows events', () => {
    const event = {
      involvedObject: { kind: 'Pod', name: 'p' },
      firstTimestamp: '2024-03-01T11:00:00Z',
      lastTimestamp: '2024-03-01T11:59:00Z',
      source: { component: 'c', host: 'h' },
      message: ' hello\n',
      count: 3,
    };
    shows('events', event, { 'Last Seen': '60s', 'First Seen': '60m', Object: 'pod/p', Source: 'c, h', Message: 'hello', Count: 3 }); // prettier-ignore
    const series = { count: 5, lastObservedTime: '2024-03-01T11:59:50.000000Z' };
    shows('events', { ...event, series }, { 'Last Seen': '10s', Count: 5 });
    const newer = { eventTime: '2024-03-01T11:50:00.000000Z', reportingComponent: 'r', firstTimestamp: null, lastTimestamp: null }; // prettier-ignore
    shows('events', newer, { 'Last Seen': '10m', 'First Seen': '10m', Source: 'r', Count: 1, Object: '' });
  });

  it('shows who is given a role', () => {
    const subjects = [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'User', name: 'v' },
      { kind: 'ServiceAccount', namespace: 'n', name: 's' },
    ];
    shows(
      'rbac.authorization.platform.io/rolebindings',
      { roleRef: { kind: 'Role', name: 'r' }, subjects },
      { Role: 'Role/r', Users: 'u, v', Groups: 'g', ServiceAccounts: 'n/s' },
    );
  });

  it('shows requests for certificates', () => {
    const requests = 'certificates.platform.io/certificatesigningrequests';
    const condition = (types: string[], certificate?: string): unknown =>
      shown(columns(requests), { status: { conditions: types.map((type) => ({ type })), certificate } })['Condition'];
    shows(requests, { spec: { signerName: 's', username: 'u', expirationSeconds: 3600 } }, { SignerName: 's', Requestor: 'u', RequestedDuration: '60m', Condition: 'Pending' }); // prettier-ignore
    assert.equal(condition(['Approved'], 'Y2VydA=='), 'Approved,Issued');
    assert.equal(condition(['Approved', 'Denied']), 'Denied');
    assert.equal(condition(['Approved', 'Failed']), 'Approved,Failed');
  });

  it('shows the rest', () => {
    shows('policy/poddisruptionbudgets', { spec: { minAvailable: 2 } }, { 'Min Available': '2', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 0 }); // prettier-ignore
    shows('policy/poddisruptionbudgets', { spec: { maxUnavailable: '25%' } }, { 'Max Unavailable': '25%' });
    shows('scheduling.platform.io/priorityclasses', { value: 7 }, { Value: 7, 'Global-Default': false });
    shows('coordination.platform.io/leases', { spec: { holderIdentity: 'me' } }, { Holder: 'me' });
    shows('flowcontrol.apiserver.platform.io/flowschemas', { spec: { matchingPrecedence: 9 } }, { MatchingPrecedence: 9, DistinguisherMethod: '<none>', MissingPL: '?' }); // prettier-ignore
    shows('flowcontrol.apiserver.platform.io/flowschemas', { status: { conditions: [{ type: 'Dangling', status: 'False' }] } }, { MissingPL: 'False' }); // prettier-ignore
    shows('flowcontrol.apiserver.platform.io/prioritylevelconfigurations', { spec: { type: 'Limited', limited: { assuredConcurrencyShares: 5 } } }, { Type: 'Limited', AssuredConcurrencyShares: 5, Queues: '<none>' }); // prettier-ignore
    const apiServices = 'apiregistration.platform.io/apiservices';
    const conditions = [{ type: 'Available', status: 'False', reason: 'Gone' }];
    shows(apiServices, {}, { Service: 'Local', Available: 'Unknown' });
    shows(apiServices, { spec: { service: { namespace: 'n', name: 's' } }, status: { conditions } }, { Service: 'n/s', Available: 'False (Gone)' }); // prettier-ignore
    shows('componentstatuses', { conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] }, { Status: 'Healthy', Message: 'ok', Error: '' }); // prettier-ignore
    shows('componentstatuses', {}, { Status: 'Unknown' });
  });
});
