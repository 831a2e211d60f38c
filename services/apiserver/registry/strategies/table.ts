import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { DEFAULT_STRATEGY, type Strategy } from '../strategy.js';
import { configMaps, secrets } from './immutable-data.js';
import { namespaces } from './namespaces.js';
import { pods } from './pods.js';

export interface StrategyOptions {
  readonly vocabulary: Vocabulary;
  /** How long events are kept. */
  readonly eventTtlSeconds: number;
}

type Build = (o: StrategyOptions) => Partial<Strategy>;

const paths = (...dotted: readonly string[]): readonly (readonly string[])[] => dotted.map((path) => path.split('.'));
const plain =
  (strategy: Partial<Strategy>): Build =>
  () =>
    strategy;

const workload = plain({ generation: 'spec', immutable: paths('spec.selector') });
const specGeneration = plain({ generation: 'spec' });
const bodyGeneration = plain({ generation: 'body' });
const returned = plain({ returnsDeleted: true });

/**
 * Kinds that differ from the default, by `<platform form of the group>/<resource>`. A kind that needs code has a file of
 * its own.
 */
const STRATEGIES: Readonly<Record<string, Build>> = {
  '/configmaps': plain(configMaps),
  '/events': ({ eventTtlSeconds }) => ({ ttlSeconds: eventTtlSeconds }),
  '/namespaces': namespaces,
  '/persistentvolumeclaims': returned,
  '/pods': plain(pods),
  '/podtemplates': plain({ generation: 'body', returnsDeleted: true }),
  '/replicationcontrollers': specGeneration,
  '/resourcequotas': plain({ returnsDeleted: true, immutable: paths('spec.scopes') }),
  '/secrets': plain(secrets),
  '/serviceaccounts': returned,
  'admissionregistration.platform.io/mutatingwebhookconfigurations': bodyGeneration,
  'admissionregistration.platform.io/validatingwebhookconfigurations': bodyGeneration,
  'apiextensions.platform.io/customresourcedefinitions': specGeneration,
  'apps/controllerrevisions': plain({ immutable: paths('data') }),
  'apps/daemonsets': workload,
  'apps/deployments': workload,
  'apps/replicasets': workload,
  'apps/statefulsets': workload,
  'batch/cronjobs': specGeneration,
  'batch/jobs': workload,
  'certificates.platform.io/certificatesigningrequests': plain({ immutable: paths('spec') }),
  'discovery.platform.io/endpointslices': plain({ generation: 'body', immutable: paths('addressType') }),
  'flowcontrol.apiserver.platform.io/flowschemas': specGeneration,
  'flowcontrol.apiserver.platform.io/prioritylevelconfigurations': specGeneration,
  'networking.platform.io/ingressclasses': plain({ generation: 'spec', immutable: paths('spec.controller') }),
  'networking.platform.io/ingresses': specGeneration,
  'networking.platform.io/networkpolicies': specGeneration,
  'node.platform.io/runtimeclasses': plain({ immutable: paths('handler') }),
  'policy/poddisruptionbudgets': specGeneration,
  'policy/podsecuritypolicies': returned,
  'rbac.authorization.platform.io/clusterrolebindings': plain({ immutable: paths('roleRef') }),
  'rbac.authorization.platform.io/rolebindings': plain({ immutable: paths('roleRef') }),
  'scheduling.platform.io/priorityclasses': plain({
    generation: 'body',
    immutable: paths('value', 'preemptionPolicy'),
  }),
  'storage.platform.io/csidrivers': plain({
    generation: 'spec',
    immutable: paths('spec.attachRequired', 'spec.fsGroupPolicy', 'spec.volumeLifecycleModes'),
  }),
  'storage.platform.io/csistoragecapacities': plain({ immutable: paths('nodeTopology', 'storageClassName') }),
  'storage.platform.io/storageclasses': plain({
    immutable: paths('parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'),
  }),
  'storage.platform.io/volumeattachments': plain({ immutable: paths('spec') }),
};

/** @returns The strategy of each stored resource. */
export function strategies(o: StrategyOptions): (hub: ResourceDeclaration) => Strategy {
  const byId = new Map(
    Object.entries(STRATEGIES).map(([id, build]): [string, Strategy] => {
      const slash = id.indexOf('/');
      const group = slash === 0 ? '' : o.vocabulary.translate(id.slice(0, slash));
      return [`${group}${id.slice(slash)}`, { ...DEFAULT_STRATEGY, ...build(o) }];
    }),
  );
  return (hub) => byId.get(`${hub.group}/${hub.resource}`) ?? DEFAULT_STRATEGY;
}
