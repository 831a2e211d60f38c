import { KindUnderTest } from '../testing/cases.js';

/** What people really write. */
describe('validation of pods as they are written', () => {
  const pods = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
  const metadata = { name: 'x', namespace: 'default', labels: { app: 'x' } };

  pods.acceptsManifest('a cluster name server', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      priorityClassName: 'system-cluster-critical',
      serviceAccountName: 'coredns',
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              podAffinityTerm: {
                labelSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns'] }] },
                topologyKey: 'kubernetes.io/hostname',
              },
            },
          ],
        },
      },
      tolerations: [
        { key: 'CriticalAddonsOnly', operator: 'Exists' },
        { key: 'node-role.kubernetes.io/master', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      containers: [
        {
          name: 'coredns',
          image: 'registry.example.com/coredns/coredns:v1.8.6',
          imagePullPolicy: 'IfNotPresent',
          resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
          args: ['-conf', '/etc/coredns/Corefile'],
          volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
          ports: [
            { containerPort: 53, name: 'dns', protocol: 'UDP' },
            { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
            { containerPort: 9153, name: 'metrics', protocol: 'TCP' },
          ],
          livenessProbe: {
            httpGet: { path: '/health', port: 8080, scheme: 'HTTP' },
            initialDelaySeconds: 60,
            timeoutSeconds: 5,
            successThreshold: 1,
            failureThreshold: 5,
          },
          readinessProbe: { httpGet: { path: '/ready', port: 8181, scheme: 'HTTP' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { add: ['NET_BIND_SERVICE'], drop: ['all'] },
            readOnlyRootFilesystem: true,
          },
        },
      ],
      dnsPolicy: 'Default',
      volumes: [
        { name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } },
      ],
    },
  });

  pods.acceptsManifest('an agent on every machine', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: '', generateName: 'agent-' },
    spec: {
      hostNetwork: true,
      hostPID: true,
      serviceAccountName: 'agent',
      terminationGracePeriodSeconds: 0,
      initContainers: [
        { name: 'install', image: 'cni', volumeMounts: [{ name: 'bin', mountPath: '/host/bin' }] },
        { name: 'mount', image: 'cni', securityContext: { privileged: true } },
      ],
      containers: [
        {
          name: 'agent',
          image: 'agent@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
          env: [
            { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
            { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } } },
            { name: 'KEY', valueFrom: { secretKeyRef: { name: 'agent', key: 'api.key', optional: true } } },
            { name: 'EMPTY' },
          ],
          envFrom: [{ prefix: 'CFG_', configMapRef: { name: 'agent', optional: true } }],
          ports: [{ containerPort: 9100, hostPort: 9100 }],
          lifecycle: { preStop: { exec: { command: ['/bin/stop'] } } },
          securityContext: { privileged: true },
          volumeMounts: [
            { name: 'bin', mountPath: '/bin/host', mountPropagation: 'Bidirectional' },
            { name: 'token', mountPath: '/var/run/secrets/tokens' },
            { name: 'info', mountPath: '/etc/podinfo', subPathExpr: '$(NODE)' },
          ],
        },
      ],
      volumes: [
        { name: 'bin', hostPath: { path: '/opt/cni/bin', type: 'DirectoryOrCreate' } },
        {
          name: 'token',
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token', expirationSeconds: 3607, audience: 'vault' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
            ],
          },
        },
        {
          name: 'info',
          downwardAPI: {
            items: [
              { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
              { path: 'cpu', resourceFieldRef: { containerName: 'agent', resource: 'requests.cpu' } },
            ],
          },
        },
      ],
    },
  });

  pods.acceptsManifest('a worker with everything else', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      restartPolicy: 'OnFailure',
      activeDeadlineSeconds: 600,
      os: { name: 'linux' },
      hostname: 'worker-0',
      subdomain: 'workers',
      hostAliases: [{ ip: '127.0.0.1', hostnames: ['db.local'] }],
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['10.0.0.10', 'fd00::a'],
        searches: ['svc.cluster.local.'],
        options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
      },
      readinessGates: [{ conditionType: 'example.com/ready' }],
      imagePullSecrets: [{ name: 'registry' }],
      securityContext: {
        runAsUser: 1000,
        runAsNonRoot: true,
        fsGroup: 0,
        sysctls: [{ name: 'net.core.somaxconn', value: '1024' }],
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { app: 'x' } },
        },
      ],
      containers: [
        {
          name: 'a',
          image: 'a',
          startupProbe: { tcpSocket: { port: 'http' } },
          livenessProbe: { grpc: { port: 9000 } },
          ports: [{ name: 'http', containerPort: 80 }],
          resources: { limits: { 'nvidia.com/gpu': '1' } },
          volumeDevices: [{ name: 'raw', devicePath: '/dev/xvda' }],
        },
        { name: 'b', image: 'b', ports: [{ name: 'http', containerPort: 8080 }] },
      ],
      volumes: [
        { name: 'raw', persistentVolumeClaim: { claimName: 'raw' } },
        { name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
        { name: 'secret', secret: { secretName: 'tls', defaultMode: 0o400 } },
        { name: 'nfs', nfs: { server: 'nfs.example.com', path: '/export' } },
        { name: 'csi', csi: { driver: 'inline.storage.example.com' } },
        {
          name: 'scratch',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { type: 'scratch' } },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
      ],
    },
  });
});

describe('validation of other kinds as they are written', () => {
  const metadata = { name: 'x', namespace: 'default' };
  const template = {
    metadata: { labels: { app: 'x' }, annotations: { 'example.com/note': 'hello world' } },
    spec: { containers: [{ name: 'x', image: 'x' }] },
  };
  const rc = new KindUnderTest({ resource: 'replicationcontrollers', type: 'core/v1.ReplicationController' });
  rc.acceptsManifest('a controller', {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata,
    spec: { replicas: 0, selector: { app: 'x' }, template },
  });
  rc.acceptsManifest('a controller without selector', {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata,
    spec: { template },
  });

  const services = new KindUnderTest({ resource: 'services', type: 'core/v1.Service' });
  const service = (spec: object): Readonly<Record<string, unknown>> => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec,
  });
  services.acceptsManifest('a service', service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }] }));
  services.acceptsManifest('a headless service', service({ clusterIP: 'None', selector: { app: 'x' } }));
  services.acceptsManifest(
    'a name server service',
    service({
      clusterIP: '10.96.0.10',
      clusterIPs: ['10.96.0.10'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    }),
  );
  services.acceptsManifest(
    'a node port',
    service({ type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] }),
  );
  services.acceptsManifest(
    'a load balancer',
    service({
      type: 'LoadBalancer',
      sessionAffinity: 'ClientIP',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      loadBalancerClass: 'example.com/lb',
      allocateLoadBalancerNodePorts: false,
      ports: [{ port: 443 }],
    }),
  );
  services.acceptsManifest('a name outside', service({ type: 'ExternalName', externalName: 'db.example.com.' }));

  const volumes = new KindUnderTest({ resource: 'persistentvolumes', type: 'core/v1.PersistentVolume' });
  const volume = (spec: object): Readonly<Record<string, unknown>> => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'x' },
    spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  });
  volumes.acceptsManifest(
    'a directory',
    volume({ hostPath: { path: '/data' }, storageClassName: 'manual', persistentVolumeReclaimPolicy: 'Recycle' }),
  );
  volumes.acceptsManifest(
    'a local disk',
    volume({
      local: { path: '/mnt/ssd' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }] }],
        },
      },
    }),
  );
  volumes.acceptsManifest(
    'a driver',
    volume({
      csi: {
        driver: 'ebs.csi.aws.com',
        volumeHandle: 'vol-1',
        nodePublishSecretRef: { name: 'a', namespace: 'b' },
      },
      claimRef: { namespace: 'default', name: 'x' },
      volumeMode: 'Block',
      mountOptions: ['ro'],
    }),
  );

  const claims = new KindUnderTest({ resource: 'persistentvolumeclaims', type: 'core/v1.PersistentVolumeClaim' });
  claims.acceptsManifest('a claim', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      accessModes: ['ReadWriteMany', 'ReadOnlyMany'],
      resources: { requests: { storage: '8Gi' } },
      storageClassName: '',
    },
  });
  claims.acceptsManifest('a claim of a snapshot', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      accessModes: ['ReadWriteOncePod'],
      resources: { requests: { storage: '8Gi' } },
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' },
    },
  });

  const nodes = new KindUnderTest({ resource: 'nodes', type: 'core/v1.Node' });
  nodes.acceptsManifest('a node', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'x' },
    spec: {
      podCIDR: '10.244.0.0/24',
      podCIDRs: ['10.244.0.0/24', 'fd00:10:244::/64'],
      providerID: 'kind://docker/kind/x',
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    },
    status: { capacity: { cpu: '8', memory: '32Gi', pods: '110', 'hugepages-2Mi': '0' } },
  });

  const quotas = new KindUnderTest({ resource: 'resourcequotas', type: 'core/v1.ResourceQuota' });
  quotas.acceptsManifest('a quota', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata,
    spec: {
      hard: {
        pods: '10',
        'requests.cpu': '4',
        'limits.memory': '8Gi',
        'count/deployments.apps': '5',
        'requests.nvidia.com/gpu': '1',
      },
    },
  });
  quotas.acceptsManifest('a quota of a class', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata,
    spec: {
      hard: { pods: '10' },
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
    },
  });

  const limits = new KindUnderTest({ resource: 'limitranges', type: 'core/v1.LimitRange' });
  limits.acceptsManifest('a limit range', {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata,
    spec: {
      limits: [
        { type: 'Pod', max: { cpu: '2' }, min: { cpu: '200m' }, maxLimitRequestRatio: { cpu: '10' } },
        {
          type: 'Container',
          default: { cpu: '300m' },
          defaultRequest: { cpu: '200m' },
          max: { cpu: '2' },
          min: { cpu: '100m' },
        },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
      ],
    },
  });

  const events = new KindUnderTest({ resource: 'events', type: 'core/v1.Event' });
  events.acceptsManifest('an event', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata,
    involvedObject: { kind: 'Pod', name: 'x', namespace: 'default' },
    reason: 'Scheduled',
    source: { component: 'scheduler' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    type: 'Normal',
  });
  events.acceptsManifest('an event with a time', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...metadata, namespace: 'kube-system' },
    involvedObject: { kind: 'Node', name: 'x' },
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingComponent: 'example.com/controller',
    reportingInstance: 'controller-0',
    action: 'Binding',
    reason: 'Scheduled',
  });

  const endpoints = new KindUnderTest({ resource: 'endpoints', type: 'core/v1.Endpoints' });
  endpoints.acceptsManifest('endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata,
    subsets: [
      {
        addresses: [{ ip: '10.1.2.3', nodeName: 'node-1', targetRef: { kind: 'Pod', name: 'x' } }, { ip: 'fd00::1' }],
        ports: [{ port: 80 }],
      },
    ],
  });
  endpoints.acceptsManifest('no endpoints yet', { apiVersion: 'v1', kind: 'Endpoints', metadata });
});
