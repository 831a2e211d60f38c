import { isApiError } from '../../../services/client/rest/client.js';
import type { Namespace } from '../../../services/machinery/types/generated/core.v1.js';
import { pod } from '../../api/tools/objects.js';
import { scenarios, conditionsOf, types, words, type Look, type ScenarioContext } from './scenario.js';

const HOLD = 'example.com/hold';

const NOTHING_WRONG = {
  NamespaceDeletionContentFailure: 'False | ContentDeleted | All content successfully deleted, may be waiting on finalization', // prettier-ignore
  NamespaceDeletionDiscoveryFailure: 'False | ResourcesDiscovered | All resources successfully discovered',
  NamespaceDeletionGroupVersionParsingFailure: 'False | ParsedGroupVersions | All legacy kube types successfully parsed', // prettier-ignore
};

/** The namespace as it is on its way. */
const looksAt =
  (c: ScenarioContext, name: string): Look =>
  async () => {
    const namespace = await c.find(types.namespaces, name);
    if (namespace === undefined) return 'gone';
    const { phase, conditions } = namespace.status ?? {};
    return { phase, finalizers: namespace.spec?.finalizers, conditions: conditionsOf(conditions) };
  };

async function deleteNamespace(c: ScenarioContext, name: string): Promise<void> {
  await c.delete(types.namespaces, await c.comes(types.namespaces, name));
}

const hasConditions = ({ status }: Namespace): boolean => (status?.conditions ?? []).length > 0;

/** Objects whose types say little about them. */
async function fill(c: ScenarioContext, namespace: string): Promise<void> {
  const metadata = { name: 'x', namespace };
  const roleRef = { apiGroup: words.groups.rbac, kind: 'Role', name: 'x' };
  const selector = { matchLabels: { app: 'x' } };
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } };
  await Promise.all([
    c.create(types.configMaps, { metadata }),
    c.create(types.secrets, { metadata }),
    c.create(types.endpoints, { metadata }),
    c.create(types.serviceAccounts, { metadata }),
    c.create(types.services, { metadata, spec: { clusterIP: 'None' } }),
    c.create(types.podTemplates, { metadata, template }),
    c.create(types.limitRanges, { metadata, spec: { limits: [] } }),
    c.create(types.roles, { metadata }),
    c.create(types.roleBindings, { metadata, roleRef }),
    c.create(types.leases, { metadata }),
    c.create(types.controllerRevisions, { metadata, data: {}, revision: 1 }),
    c.create(types.deployments, { metadata, spec: { replicas: 0, selector, template } }),
    c.create(types.networkPolicies, { metadata, spec: { podSelector: {} } }),
    c.create(types.podDisruptionBudgets, { metadata, spec: { selector } }),
  ]);
}

export const NAMESPACES = scenarios('namespaces', [
  {
    name: 'an empty one goes',
    expected: 'gone',
    run: async (c) => {
      const name = await c.namespace();
      await deleteNamespace(c, name);
      return looksAt(c, name);
    },
  },
  {
    name: 'one goes with objects of fourteen types',
    expected: 'gone',
    run: async (c) => {
      const name = await c.namespace();
      await fill(c, name);
      await deleteNamespace(c, name);
      return looksAt(c, name);
    },
  },
  {
    name: 'what is left by its finalizer keeps one, which says so',
    expected: {
      phase: 'Terminating',
      finalizers: ['kubernetes'],
      conditions: {
        NamespaceContentRemaining:
          'True | SomeResourcesRemain | Some resources are remaining: configmaps. has 2 resource instances',
        ...NOTHING_WRONG,
        NamespaceFinalizersRemaining:
          'True | SomeFinalizersRemain | Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances',
      },
    },
    run: async (c) => {
      const name = await c.namespace();
      for (const kept of ['a', 'b']) {
        await c.create(types.configMaps, { metadata: { name: kept, namespace: name, finalizers: [HOLD] } });
      }
      await deleteNamespace(c, name);
      return looksAt(c, name);
    },
  },
  {
    name: 'one goes when the finalizer is taken off that kept it',
    expected: 'gone',
    run: async (c) => {
      const name = await c.namespace();
      const kept = await c.create(types.configMaps, {
        metadata: { name: 'kept', namespace: name, finalizers: [HOLD] },
      });
      await deleteNamespace(c, name);
      await c.comes(types.namespaces, name, '', hasConditions);
      await c.patch(types.configMaps, kept, { metadata: { finalizers: null } });
      return looksAt(c, name);
    },
  },
  {
    name: 'a pod that is given time to end keeps one',
    expected: {
      namespace: {
        phase: 'Terminating',
        finalizers: ['kubernetes'],
        conditions: {
          NamespaceContentRemaining:
            'True | SomeResourcesRemain | Some resources are remaining: pods. has 1 resource instances',
          ...NOTHING_WRONG,
          NamespaceFinalizersRemaining: 'False | ContentHasNoFinalizers | All content-preserving finalizers finished',
        },
      },
      pod: { graceSeconds: 90 },
    },
    run: async (c) => {
      const name = await c.namespace();
      await c.comes(types.serviceAccounts, 'default', name);
      const spec = { nodeName: 'nowhere', terminationGracePeriodSeconds: 90 };
      await c.create(types.pods, pod('slow', spec, { namespace: name }));
      await deleteNamespace(c, name);
      const look = looksAt(c, name);
      return async () => {
        const left = await c.find(types.pods, 'slow', name);
        return { namespace: await look(), pod: { graceSeconds: left?.metadata.deletionGracePeriodSeconds } };
      };
    },
  },
  {
    name: 'nothing is made in one that is being deleted',
    expected: { code: 403, reason: 'Forbidden', cause: 'NamespaceTerminating' },
    run: async (c) => {
      const name = await c.namespace();
      await c.create(types.configMaps, { metadata: { name: 'kept', namespace: name, finalizers: [HOLD] } });
      await deleteNamespace(c, name);
      return async () => {
        try {
          await c.create(types.secrets, { metadata: { name: 'late', namespace: name } });
          return 'made';
        } catch (err) {
          if (!isApiError(err)) throw err;
          return { code: err.code, reason: err.reason, cause: err.status?.details?.causes?.[0]?.reason };
        }
      };
    },
  },
  {
    name: 'one stays, empty, while a finalizer of others is among its own',
    expected: {
      namespace: { phase: 'Terminating', finalizers: [HOLD] },
      left: [],
    },
    run: async (c) => {
      const metadata = { name: c.named('scenario') };
      const { metadata: { name } } = await c.create(types.namespaces, { metadata, spec: { finalizers: [HOLD] } }); // prettier-ignore
      await c.create(types.secrets, { metadata: { name: 'x', namespace: name } });
      await deleteNamespace(c, name);
      return async () => {
        const { spec, status } = await c.comes(types.namespaces, name);
        const left = (await c.list(types.secrets, name)).map(({ metadata }) => metadata.name);
        return { namespace: { phase: status?.phase, finalizers: spec?.finalizers }, left };
      };
    },
  },
  {
    name: 'one that goes while others write into it leaves nothing behind',
    expected: { namespace: 'gone', left: [], refused: ['Forbidden', 'NotFound'] },
    run: async (c) => {
      const name = await c.namespace();
      const refused = new Set<string>();
      const write = async (writer: number): Promise<void> => {
        for (let i = 0; !refused.has('NotFound'); i++) {
          try {
            await c.create(types.configMaps, { metadata: { name: `w${writer}-${i}`, namespace: name } });
          } catch (err) {
            if (!isApiError(err)) throw err;
            refused.add(err.reason);
          }
        }
      };
      const writing = [0, 1, 2, 3].map(write);
      await deleteNamespace(c, name);
      const look = looksAt(c, name);
      await Promise.all(writing);
      return async () => {
        const left = (await c.list(types.configMaps, name)).map(({ metadata }) => metadata.name);
        return { namespace: await look(), left, refused: [...refused].sort() };
      };
    },
  },
]);
