import assert from 'node:assert/strict';
import { eventually } from '../api/tools/objects.js';
import { withKubectl } from './kubectl.js';

const NAMESPACE = `
apiVersion: v1
kind: Namespace
metadata:
  name: team
  labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted}
`;
const SETTING = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: team}, imagePullSecrets: [{name: pull}]}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
- apiVersion: v1
  kind: LimitRange
  metadata: {name: limits, namespace: team}
  spec:
    limits: [{type: Container, default: {cpu: 500m, memory: 64Mi}, defaultRequest: {cpu: 100m}, max: {cpu: "1"}}]
- apiVersion: v1
  kind: ResourceQuota
  metadata: {name: quota, namespace: team}
  spec: {hard: {pods: "2", requests.cpu: "1", limits.memory: 1Gi}}
`;

const SAFE = 'securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}';

const pod = (name: string, spec = ''): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: team}
spec:
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - {name: c, image: i, ${SAFE}}
${spec}`;

const WHAT_IS_UNSAFE = (container: string): string =>
  [
    `allowPrivilegeEscalation != false (container "${container}" must set securityContext.allowPrivilegeEscalation=false)`,
    `unrestricted capabilities (container "${container}" must set securityContext.capabilities.drop=["ALL"])`,
    `runAsNonRoot != true (pod or container "${container}" must set securityContext.runAsNonRoot=true)`,
    `seccompProfile (pod or container "${container}" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
  ].join(', ');

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: team}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
`;

interface Pod {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: object;
}

const toleration = (key: string): object => ({
  effect: 'NoExecute',
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  tolerationSeconds: 300,
});

for (const store of ['embedded', 'etcd'] as const) {
  withKubectl(
    'meets every admission plugin that runs by default',
    { vocabulary: 'kubernetes', store, accounts: true },
    (client) => {
      before(async () => {
        await client().ok(['apply', '-f', '-'], NAMESPACE);
        // Its account comes by itself: who makes it at the same time may be told that it is there.
        await eventually(async () => {
          const { code } = await client().run(['get', 'serviceaccount', 'default', '-n', 'team']);
          return code === 0 || undefined;
        });
        await client().ok(['apply', '-f', '-'], SETTING);
      });

      const refused = async (manifest: string): Promise<string> => {
        const { code, stderr } = await client().run(['create', '-f', '-'], manifest);
        assert.equal(code, 1);
        return stderr.trim().replace(/^Error from server \((\w+)\): error when creating "STDIN": /, '$1: ');
      };

      it('creates a pod as users know it', async () => {
        await client().ok(['create', '-f', '-'], pod('good', '  priorityClassName: high'));
        const { metadata, spec, status } = await client().json<Pod>(['get', 'pod', 'good', '-n', 'team']);
        assert.deepEqual(metadata.annotations, {
          'kubernetes.io/limit-ranger':
            'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c',
          'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
        });
        const [volume] = spec['volumes'] as readonly { readonly name: string }[];
        assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
        assert.deepEqual(spec, {
          containers: [
            {
              image: 'i',
              imagePullPolicy: 'Always',
              name: 'c',
              resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              volumeMounts: [
                { mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', name: volume?.name, readOnly: true },
              ],
            },
          ],
          dnsPolicy: 'ClusterFirst',
          enableServiceLinks: true,
          imagePullSecrets: [{ name: 'pull' }],
          preemptionPolicy: 'PreemptLowerPriority',
          priority: 1000,
          priorityClassName: 'high',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          serviceAccount: 'default',
          serviceAccountName: 'default',
          terminationGracePeriodSeconds: 30,
          tolerations: [toleration('not-ready'), toleration('unreachable')],
          volumes: [
            {
              name: volume?.name,
              projected: {
                defaultMode: 420,
                sources: [
                  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
                  { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
                  {
                    downwardAPI: {
                      items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
                    },
                  },
                ],
              },
            },
          ],
        });
        assert.deepEqual(status, { phase: 'Pending', qosClass: 'Burstable' });
      });

      it('shows what the quota has left', async () => {
        const text = await client().ok(['describe', 'quota', 'quota', '-n', 'team']);
        assert.match(text, /limits.memory +64Mi +1Gi\npods +1 +2\nrequests.cpu +100m +1/);
      });

      it('is refused what is not safe', async () => {
        const unsafe = JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'bad', namespace: 'team' },
          spec: { containers: [{ name: 'bad', image: 'i' }] },
        });
        assert.equal(
          await refused(unsafe),
          `Forbidden: pods "bad" is forbidden: violates PodSecurity "restricted:latest": ${WHAT_IS_UNSAFE('bad')}`,
        );
      });

      it('is warned of a deployment whose pods would not be safe', async () => {
        const { code, stderr } = await client().run(['create', '-f', '-'], DEPLOYMENT);
        assert.equal(code, 0);
        assert.equal(stderr.trim(), `Warning: would violate PodSecurity "restricted:latest": ${WHAT_IS_UNSAFE('c')}`);
      });

      it('is refused more than its limits', async () => {
        const big = pod('big').replace('image: i,', 'image: i, resources: {limits: {cpu: "2"}},');
        assert.equal(
          await refused(big),
          'Forbidden: pods "big" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
        );
      });

      it('is refused accounts and priority classes that are not there', async () => {
        assert.equal(
          await refused(pod('none', '  serviceAccountName: nobody')),
          'Forbidden: pods "none" is forbidden: error looking up service account team/nobody: serviceaccount "nobody" not found',
        );
        assert.equal(
          await refused(pod('none', '  priorityClassName: nobody')),
          'Forbidden: pods "none" is forbidden: no PriorityClass with name nobody was found',
        );
      });

      it('is refused what the quota has no room for, until something goes', async () => {
        await client().ok(['create', '-f', '-'], pod('second'));
        assert.equal(
          await refused(pod('third')),
          'Forbidden: pods "third" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=2, limited: pods=2',
        );
        await client().ok(['delete', 'pod', 'second', '-n', 'team']);
        await client().ok(['create', '-f', '-'], pod('third'));
      });
    },
  );
}
