import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { DEFAULT_STRATEGY, type Strategy, type StrategyOptions } from '../strategy.js';
import { validations } from '../validation/table.js';
import type { ValidationSources } from '../validation/types.js';
import { daemonSets } from './daemon-sets.js';
import { definitions } from './definitions.js';
import { endpointSlices } from './endpoint-slices.js';
import { jobs } from './jobs.js';
import { namespaces } from './namespaces.js';
import { SYSTEM_PRIORITY_CLASSES } from '../system-priority-classes.js';
import { settlePodCidrs } from './pairs.js';
import { pods } from './pods.js';
import { secrets } from './secrets.js';
import { services } from './services.js';
import { signingRequests } from './signing-requests.js';

type Build = (o: StrategyOptions) => Partial<Strategy>;

const paths = (...dotted: readonly string[]): readonly (readonly string[])[] => dotted.map((path) => path.split('.'));
const plain =
  (strategy: Partial<Strategy>): Build =>
  () =>
    strategy;

const workload = plain({ generation: 'spec', immutable: paths('spec.selector') });
const specGeneration = plain({ generation: 'spec' });
/** They hold as soon as it was said that they do. */
const policies = plain({ generation: 'spec', decidesAccess: true });
const bodyGeneration = plain({ generation: 'body' });
const startsPending: Partial<Strategy> = {
  prepareForCreate: (object) => {
    object['status'] = { phase: 'Pending' };
  },
};
const returned: Partial<Strategy> = { returnsDeleted: true };
const statusAlone: Partial<Strategy> = { statusLeaves: 'everything' };
const decidesAccess = plain({ decidesAccess: true });

/**
 * Kinds that differ from the default, by group and resource. A kind that needs code has a file of its own; a new one is
 * one line here.
 */
export const strategyTable = ({ groups }: Vocabulary): Readonly<Record<string, Readonly<Record<string, Build>>>> => ({
  '': {
    events: ({ eventTtlSeconds }) => ({ ttlSeconds: eventTtlSeconds }),
    namespaces,
    nodes: plain({ keepsFirstStatus: true, normalise: settlePodCidrs }),
    persistentvolumeclaims: plain({ ...startsPending, returnsDeleted: true }),
    persistentvolumes: plain({ keepsFirstStatus: true, returnsDeleted: true }),
    pods: ({ vocabulary }) => pods(vocabulary),
    podtemplates: plain({ generation: 'body', returnsDeleted: true }),
    replicationcontrollers: plain({ generation: 'spec', orphansIn: ['v1'] }),
    resourcequotas: plain(returned),
    secrets: plain({ ...secrets, decidesAccess: true }),
    serviceaccounts: plain({ returnsDeleted: true, decidesAccess: true }),
    services,
  },
  [groups.admissionregistration]: {
    mutatingadmissionpolicies: policies,
    mutatingadmissionpolicybindings: policies,
    validatingadmissionpolicies: policies,
    validatingadmissionpolicybindings: policies,
    mutatingwebhookconfigurations: bodyGeneration,
    validatingwebhookconfigurations: bodyGeneration,
  },
  [groups.apiextensions]: {
    customresourcedefinitions: ({ vocabulary }) => definitions(vocabulary),
  },
  [groups.apiregistration]: {
    apiservices: plain(statusAlone),
  },
  apps: {
    controllerrevisions: plain({ immutable: paths('data') }),
    daemonsets: plain(daemonSets),
    deployments: plain({
      generation: 'specAndAnnotations',
      immutable: paths('spec.selector'),
      statusLeaves: paths('labels'),
    }),
    replicasets: workload,
    statefulsets: specGeneration,
  },
  batch: {
    cronjobs: plain({ generation: 'spec', orphansIn: ['v1beta1'] }),
    jobs: plain(jobs),
  },
  [groups.certificates]: {
    certificatesigningrequests: plain(signingRequests),
  },
  [groups.discovery]: {
    endpointslices: endpointSlices,
  },
  [groups.flowcontrol]: {
    flowschemas: plain({ ...statusAlone, generation: 'spec' }),
    prioritylevelconfigurations: plain({ ...statusAlone, generation: 'spec' }),
  },
  [groups.networking]: {
    ingressclasses: plain({ generation: 'spec', immutable: paths('spec.controller') }),
    ingresses: specGeneration,
    networkpolicies: specGeneration,
  },
  [groups.node]: {
    runtimeclasses: plain({ immutable: paths('handler') }),
  },
  policy: {
    poddisruptionbudgets: specGeneration,
    podsecuritypolicies: plain(returned),
  },
  [groups.rbac]: {
    clusterrolebindings: decidesAccess,
    clusterroles: decidesAccess,
    rolebindings: decidesAccess,
    roles: decidesAccess,
  },
  [groups.scheduling]: {
    priorityclasses: plain({
      generation: 'body',
      keeps: (name) =>
        SYSTEM_PRIORITY_CLASSES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined,
    }),
  },
  [groups.storage]: {
    csidrivers: plain({ ...returned, generation: 'specOnceChanged' }),
    csinodes: plain(returned),
    csistoragecapacities: plain({ immutable: paths('nodeTopology', 'storageClassName') }),
    storageclasses: plain(returned),
    volumeattachments: plain({ ...returned, ...statusAlone, immutable: paths('spec') }),
  },
});

/** @returns The strategy of each stored resource. */
export function strategies(o: StrategyOptions & ValidationSources): (hub: ResourceDeclaration) => Strategy {
  const builds = strategyTable(o.vocabulary);
  const validationOf = validations(o);
  return (hub) => ({
    ...DEFAULT_STRATEGY,
    validation: validationOf(hub),
    ...builds[hub.group]?.[hub.resource]?.(o),
  });
}
