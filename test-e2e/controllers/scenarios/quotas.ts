import type { ResourceQuotaSpec } from '../../../services/machinery/types/generated/core.v1.js';
import { pod } from '../../api/tools/objects.js';
import { scenarios, types, type Look, type ScenarioContext } from './scenario.js';

const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } };
const deployment = { replicas: 0, selector: { matchLabels: { app: 'x' } }, template };

const resources = (cpu: string, memory: string): object => ({
  containers: [{ name: 'main', image: 'image:1', resources: { requests: { cpu, memory }, limits: { cpu, memory } } }],
});

/** A namespace in which pods can be made. */
async function place(c: ScenarioContext): Promise<string> {
  const namespace = await c.namespace();
  await c.comes(types.serviceAccounts, 'default', namespace);
  return namespace;
}

async function quota(c: ScenarioContext, namespace: string, spec: ResourceQuotaSpec, name = 'q'): Promise<void> {
  await c.create(types.resourceQuotas, { metadata: { name, namespace }, spec });
}

const statusOf =
  (c: ScenarioContext, namespace: string, name = 'q'): Look =>
  async () =>
    (await c.comes(types.resourceQuotas, name, namespace)).status;

const configMap = (c: ScenarioContext, namespace: string, name: string): Promise<unknown> =>
  c.create(types.configMaps, { metadata: { name, namespace } });

/** Waits until the quota says so many. */
const says = (c: ScenarioContext, namespace: string, resource: string, amount: string): Promise<unknown> =>
  c.comes(types.resourceQuotas, 'q', namespace, ({ status }) => status?.used?.[resource] === amount);

export const QUOTAS = scenarios('quotas', [
  {
    name: 'a new one counts what is there, of types of several groups',
    expected: {
      hard: { 'count/deployments.apps': '5', pods: '3', secrets: '9', services: '2' },
      used: { 'count/deployments.apps': '1', pods: '2', secrets: '3', services: '1' },
    },
    run: async (c) => {
      const namespace = await place(c);
      await c.until(async () => ((await c.list(types.secrets, namespace)).length === 1 ? true : undefined)); // of the account
      for (const name of ['a', 'b']) {
        await c.create(types.pods, pod(name, {}, { namespace }));
        await c.create(types.secrets, { metadata: { name, namespace } });
      }
      await c.create(types.services, { metadata: { name: 's', namespace }, spec: { clusterIP: 'None' } });
      await c.create(types.deployments, { metadata: { name: 'd', namespace }, spec: deployment });
      const hard = { pods: '3', secrets: '9', services: '2', 'count/deployments.apps': '5' };
      await quota(c, namespace, { hard });
      return statusOf(c, namespace);
    },
  },
  {
    name: 'the status follows limits that change',
    expected: { hard: { pods: '1', secrets: '4' }, used: { pods: '0', secrets: '1' } },
    run: async (c) => {
      const namespace = await place(c);
      await c.until(async () => ((await c.list(types.secrets, namespace)).length === 1 ? true : undefined)); // of the account
      await quota(c, namespace, { hard: { configmaps: '5', pods: '3' } });
      await says(c, namespace, 'pods', '0');
      const present = await c.comes(types.resourceQuotas, 'q', namespace);
      await c.patch(types.resourceQuotas, present, { spec: { hard: { configmaps: null, pods: '1', secrets: '4' } } });
      return statusOf(c, namespace);
    },
  },
  {
    name: 'what is deleted is counted no more',
    expected: { hard: { configmaps: '5', pods: '3' }, used: { configmaps: '1', pods: '0' } },
    run: async (c) => {
      const namespace = await place(c);
      await c.comes(types.configMaps, 'kube-root-ca.crt', namespace);
      await quota(c, namespace, { hard: { configmaps: '5', pods: '3' } });
      await says(c, namespace, 'configmaps', '1');
      await configMap(c, namespace, 'a');
      const made = await c.create(types.pods, pod('p', {}, { namespace }));
      await says(c, namespace, 'pods', '1');
      await c.delete(types.pods, made);
      await c.delete(types.configMaps, await c.comes(types.configMaps, 'a', namespace));
      return statusOf(c, namespace);
    },
  },
  {
    name: 'what pods ask for is summed up, without those that have ended',
    expected: {
      hard: { 'limits.cpu': '4', pods: '5', 'requests.cpu': '4', 'requests.memory': '4Gi' },
      used: { 'limits.cpu': '750m', pods: '2', 'requests.cpu': '750m', 'requests.memory': '768Mi' },
    },
    run: async (c) => {
      const namespace = await place(c);
      await quota(c, namespace, {
        hard: { pods: '5', 'requests.cpu': '4', 'requests.memory': '4Gi', 'limits.cpu': '4' },
      });
      await says(c, namespace, 'pods', '0');
      await c.create(types.pods, pod('a', resources('250m', '256Mi'), { namespace }));
      await c.create(types.pods, pod('b', resources('500m', '512Mi'), { namespace }));
      const ended = await c.create(types.pods, pod('c', resources('1', '1Gi'), { namespace }));
      await says(c, namespace, 'pods', '3');
      await c.patch(types.pods, ended, { status: { phase: 'Succeeded' } }, 'status');
      return statusOf(c, namespace);
    },
  },
  {
    name: 'two of one namespace count what is in their scopes',
    expected: {
      besteffort: { hard: { pods: '5' }, used: { pods: '1' } },
      others: { hard: { pods: '5' }, used: { pods: '2' } },
    },
    run: async (c) => {
      const namespace = await place(c);
      await c.create(types.pods, pod('a', {}, { namespace }));
      await c.create(types.pods, pod('b', resources('1', '1Gi'), { namespace }));
      await c.create(types.pods, pod('c', resources('1', '1Gi'), { namespace }));
      await quota(c, namespace, { hard: { pods: '5' }, scopes: ['BestEffort'] }, 'besteffort');
      await quota(c, namespace, { hard: { pods: '5' }, scopes: ['NotBestEffort'] }, 'others');
      const [besteffort, others] = [statusOf(c, namespace, 'besteffort'), statusOf(c, namespace, 'others')];
      return async () => ({ besteffort: await besteffort(), others: await others() });
    },
  },
  {
    name: 'what is charged while one is counted is lost to none',
    expected: { hard: { configmaps: '40' }, used: { configmaps: '21' }, there: 21 },
    run: async (c) => {
      const namespace = await place(c);
      await c.comes(types.configMaps, 'kube-root-ca.crt', namespace);
      const made = [quota(c, namespace, { hard: { configmaps: '40' } })];
      for (let i = 0; i < 20; i++) made.push(configMap(c, namespace, `c${i}`) as Promise<void>);
      await Promise.all(made);
      const look = statusOf(c, namespace);
      return async () => ({ ...((await look()) as object), there: (await c.list(types.configMaps, namespace)).length });
    },
  },
  {
    name: 'ports of services and storage of claims are counted by their sort',
    expected: {
      hard: { persistentvolumeclaims: '3', 'requests.storage': '9Gi', 'services.loadbalancers': '2', 'services.nodeports': '5', 'slow.storageclass.storage.k8s.io/requests.storage': '5Gi' }, // prettier-ignore
      used: { persistentvolumeclaims: '2', 'requests.storage': '3Gi', 'services.loadbalancers': '1', 'services.nodeports': '3', 'slow.storageclass.storage.k8s.io/requests.storage': '2Gi' }, // prettier-ignore
    },
    run: async (c) => {
      const namespace = await c.namespace();
      const ports = [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ];
      await c.create(types.services, { metadata: { name: 'a', namespace }, spec: { type: 'NodePort', ports } });
      await c.create(types.services, { metadata: { name: 'b', namespace }, spec: { type: 'LoadBalancer', ports: ports.slice(1) } }); // prettier-ignore
      await c.create(types.services, { metadata: { name: 'c', namespace }, spec: { ports } });
      for (const [name, storageClassName, storage] of [
        ['a', '', '1Gi'],
        ['b', 'slow', '2Gi'],
      ] as const) {
        // prettier-ignore
        const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } };
        await c.create(types.persistentVolumeClaims, { metadata: { name, namespace }, spec });
      }
      const hard = { persistentvolumeclaims: '3', 'requests.storage': '9Gi', 'services.loadbalancers': '2', 'services.nodeports': '5', 'slow.storageclass.storage.k8s.io/requests.storage': '5Gi' }; // prettier-ignore
      await quota(c, namespace, { hard });
      return statusOf(c, namespace);
    },
  },
]);
