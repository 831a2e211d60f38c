import { FlagError } from '../../machinery/flags/flags.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { openPlugins, type Plugin } from '../../machinery/plugins/plugins.js';
import type { Log } from '../../machinery/log/log.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Attributes, Decision } from '../authorization/authorizer.js';
import type { AccessIndex } from '../authorization/rbac/access-index.js';
import { ADMISSION_FLAGS, ADMISSION_PLUGIN_NAMES } from '../options/admission.js';
import type { AdmissionMetrics } from '../metrics/admission-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import { makeMissing } from '../registry/bootstrap.js';
import type { FieldOwnership } from '../registry/field-ownership.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import type { Reader } from '../registry/reader.js';
import { declaredResource, type ResourceTable } from '../registry/resources.js';
import type { Writer } from '../registry/writer.js';
import type { UserInfo } from '../request/request.js';
import { AdmissionChain } from './chain.js';
import { readAdmissionConfiguration } from './configuration-file.js';
import type { PluginDocument } from './configuration.js';
import type { AdmissionObjects } from './objects.js';
import type { AdmissionPlugin } from './plugin.js';
import { rbacEscalation } from './plugins/escalation.js';
import { alwaysPullImages } from './plugins/always-pull-images.js';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.js';
import { denyEscalatingExec, denyExecOnPrivileged } from './plugins/deny-exec.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.js';
import { openImagePolicyWebhook } from './plugins/image-policy/open.js';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.js';
import { limitRanger } from './plugins/limit-ranger/plugin.js';
import { podNodeSelector } from './plugins/pod-node-selector.js';
import { podSecurityPolicy } from './plugins/pod-security-policy/plugin.js';
import { podSecurity } from './plugins/pod-security/plugin.js';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.js';
import { priority } from './plugins/priority.js';
import { runtimeClass } from './plugins/runtime-class.js';
import { securityContextDeny } from './plugins/security-context-deny.js';
import { serviceAccount } from './plugins/service-account/plugin.js';
import { mutatingPolicies } from './policies/mutating.js';
import { policyReferences } from './policies/references.js';
import { validatingPolicies } from './policies/validating.js';
import { mutatingWebhooks } from './webhooks/mutating.js';
import { validatingWebhooks } from './webhooks/validating.js';
import { nodeRestriction } from './plugins/node-restriction/plugin.js';
import { limitedResources } from './plugins/resource-quota/limited.js';
import { alwaysAdmit, alwaysDeny } from './plugins/always.js';
import { certificateApproval } from './plugins/certificates/approval.js';
import { certificateSigning } from './plugins/certificates/signing.js';
import { certificateSubjectRestriction } from './plugins/certificates/subject-restriction.js';
import { defaultIngressClass, defaultStorageClass } from './plugins/default-classes.js';
import { eventRateLimit } from './plugins/event-rate-limit.js';
import { denyServiceExternalIPs } from './plugins/external-ips.js';
import { namespaceAutoProvision } from './plugins/namespaces/auto-provision.js';
import { namespaceExists } from './plugins/namespaces/exists.js';
import { namespaceLifecycle } from './plugins/namespaces/lifecycle.js';
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references.js';
import { persistentVolumeClaimResize } from './plugins/storage/claim-resize.js';
import { storageObjectInUseProtection } from './plugins/storage/in-use-protection.js';
import { persistentVolumeLabel } from './plugins/storage/volume-label.js';
import { taintNodesByCondition } from './plugins/taint-nodes.js';
import { resourceQuota } from './plugins/resource-quota/plugin.js';

/** Sources that plugins may read. */
export interface AdmissionDeps {
  readonly vocabulary: Vocabulary;
  readonly catalog: Catalog;
  /** Objects beside the one that a request is about. */
  readonly objects: AdmissionObjects;
  /** What the configuration file says to plugins, by their names. */
  readonly configuration: ReadonlyMap<string, PluginDocument>;
  readonly metrics: AdmissionMetrics;
  readonly log: Log;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  /** With the watch caches. */
  readonly resources: ResourceTable;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  /** What is served, which changes. */
  readonly live: LiveCatalog;
  /** Who has which roles; undefined where roles decide nothing. */
  readonly access: AccessIndex | undefined;
  /** Asks all authorizers. */
  readonly decide: (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;
}

type Options = Pick<ApiServerOptions, keyof typeof ADMISSION_FLAGS | 'authorizationMode'>;

export interface AdmissionEntry extends Plugin<Options, AdmissionDeps, AdmissionPlugin> {
  /** Whether the plugin runs where no flag names it. Absent: no flag does, and `open` decides alone. */
  readonly byDefault?: boolean | ((o: Options) => boolean);
  /** For a plugin that should not be enabled any more: what to do instead. */
  readonly deprecated?: string;
}

const NO_CLOUD = 'provisioners label what they make';
const NO_EXEC = 'use roles or PodSecurity to say who may run what';

/** Plugins in the order in which they see a request; those that change objects before those that look at the outcome. */
export const ADMISSION_PLUGINS: readonly AdmissionEntry[] = [
  {
    name: 'NamespaceAutoProvision',
    byDefault: false,
    open: (_, d) =>
      namespaceAutoProvision({ ...d, makeNamespace: (name) => makeMissing(d, '', 'namespaces', name, {}) }),
  },
  { name: 'NamespaceLifecycle', byDefault: true, open: (_, d) => namespaceLifecycle(d) },
  { name: 'NamespaceExists', byDefault: false, open: (_, d) => namespaceExists(d) },
  { name: 'SecurityContextDeny', byDefault: false, open: () => securityContextDeny },
  {
    name: 'LimitPodHardAntiAffinityTopology',
    byDefault: false,
    open: (_, { vocabulary }) => limitPodHardAntiAffinityTopology(vocabulary),
  },
  { name: 'LimitRanger', byDefault: true, open: (_, d) => limitRanger(d) },
  { name: 'ServiceAccount', byDefault: true, open: (_, d) => serviceAccount(d) },
  {
    name: 'NodeRestriction',
    byDefault: ({ authorizationMode }) => authorizationMode.includes('Node'),
    open: (_, d) => nodeRestriction({ ...d, present: (...which) => newest(d, ...which) }),
  },
  { name: 'TaintNodesByCondition', byDefault: true, open: (_, d) => taintNodesByCondition(d) },
  { name: 'AlwaysPullImages', byDefault: false, open: () => alwaysPullImages },
  { name: 'ImagePolicyWebhook', byDefault: false, open: (_, d) => openImagePolicyWebhook(d) },
  { name: 'PodSecurity', byDefault: true, open: (_, d) => podSecurity(d) },
  {
    name: 'PodSecurityPolicy',
    byDefault: false,
    deprecated: 'use PodSecurity',
    open: (_, d) => podSecurityPolicy(d),
  },
  { name: 'PodNodeSelector', byDefault: false, open: (_, d) => podNodeSelector(d) },
  { name: 'Priority', byDefault: true, open: (_, d) => priority(d) },
  {
    name: 'DefaultTolerationSeconds',
    byDefault: true,
    open: (o, { vocabulary }) => defaultTolerationSeconds(o, vocabulary),
  },
  { name: 'PodTolerationRestriction', byDefault: false, open: (_, d) => podTolerationRestriction(d) },
  {
    name: 'EventRateLimit',
    byDefault: false,
    open: (_, d) => eventRateLimit({ ...d, document: d.configuration.get('EventRateLimit') }),
  },
  {
    name: 'ExtendedResourceToleration',
    byDefault: false,
    open: (_, { vocabulary }) => extendedResourceToleration(vocabulary),
  },
  { name: 'PersistentVolumeLabel', byDefault: false, deprecated: NO_CLOUD, open: (_, d) => persistentVolumeLabel(d) },
  { name: 'DefaultStorageClass', byDefault: true, open: (_, d) => defaultStorageClass(d) },
  { name: 'StorageObjectInUseProtection', byDefault: true, open: (_, d) => storageObjectInUseProtection(d) },
  {
    name: 'OwnerReferencesPermissionEnforcement',
    byDefault: false,
    open: (_, { live, decide }) => ownerReferencesPermissionEnforcement({ decide, served: () => live.current.api }),
  },
  { name: 'PersistentVolumeClaimResize', byDefault: true, open: (_, d) => persistentVolumeClaimResize(d) },
  { name: 'RuntimeClass', byDefault: true, open: (_, d) => runtimeClass(d) },
  { name: 'CertificateApproval', byDefault: true, open: (_, d) => certificateApproval(d) },
  { name: 'CertificateSigning', byDefault: true, open: (_, d) => certificateSigning(d) },
  { name: 'CertificateSubjectRestriction', byDefault: true, open: (_, d) => certificateSubjectRestriction(d) },
  { name: 'DefaultIngressClass', byDefault: true, open: (_, d) => defaultIngressClass(d) },
  { name: 'DenyServiceExternalIPs', byDefault: false, open: denyServiceExternalIPs },
  { name: 'DenyEscalatingExec', byDefault: false, deprecated: NO_EXEC, open: (_, d) => denyEscalatingExec(d) },
  { name: 'DenyExecOnPrivileged', byDefault: false, deprecated: NO_EXEC, open: (_, d) => denyExecOnPrivileged(d) },
  { name: 'MutatingAdmissionPolicy', byDefault: true, open: (_, d) => mutatingPolicies(d) },
  { name: 'MutatingAdmissionWebhook', byDefault: true, open: (_, d) => mutatingWebhooks(d) },
  { name: 'ValidatingAdmissionPolicy', byDefault: true, open: (_, d) => validatingPolicies(d) },
  { name: 'ValidatingAdmissionWebhook', byDefault: true, open: (_, d) => validatingWebhooks(d) },
  {
    name: 'ResourceQuota',
    byDefault: true,
    open: (_, d) =>
      resourceQuota({ ...d, limited: limitedResources(d.configuration.get('ResourceQuota'), d.vocabulary) }),
  },
  { name: 'AlwaysAdmit', byDefault: false, deprecated: 'it does nothing', open: alwaysAdmit },
  { name: 'AlwaysDeny', byDefault: false, deprecated: 'nothing can be written with it', open: alwaysDeny },
  {
    name: 'PolicyReferences',
    open: (_, d) => policyReferences({ ...d, group: d.vocabulary.groups.admissionregistration }),
  },
  {
    name: 'RBACEscalation',
    open: (_, { access, vocabulary, decide, reader }) =>
      access && rbacEscalation({ group: vocabulary.groups.rbac, index: access, decide, reader }),
  },
];

/** The newest state of an object of the core group. @throws {StatusError} NotFound */
async function newest(
  { reader, resources }: AdmissionDeps,
  resource: string,
  namespace: string,
  name: string,
): Promise<ApiObject> {
  const object = await reader.get(declaredResource(resources, '', resource), namespace, name);
  return object.parse() as ApiObject; // we encoded it, and checked it against its type
}

/** Whether the flags let a plugin run: what disables it wins. */
export function runs(o: Options, { name, byDefault }: Pick<AdmissionEntry, 'name' | 'byDefault'>): boolean {
  if (byDefault === undefined) return true;
  if (o.disableAdmissionPlugins.includes(name)) return false;
  return o.enableAdmissionPlugins.includes(name) || (typeof byDefault === 'boolean' ? byDefault : byDefault(o));
}

/**
 * Names of plugins that are not there may be disabled, not enabled.
 *
 * @returns One line for each deprecated plugin that a flag enables. @throws {FlagError}
 */
export function checkAdmissionPlugins(o: Options, table = ADMISSION_PLUGINS): readonly string[] {
  const { enableAdmissionPlugins: enable, disableAdmissionPlugins: disable } = ADMISSION_FLAGS;
  const there = table.filter(({ byDefault }) => byDefault !== undefined);
  const names = there.map(({ name }) => name);
  checkNames(enable.flag, o.enableAdmissionPlugins, names);
  checkNames(disable.flag, o.disableAdmissionPlugins, [...new Set([...names, ...ADMISSION_PLUGIN_NAMES])]);
  return there
    .filter(({ name, deprecated }) => deprecated !== undefined && o.enableAdmissionPlugins.includes(name))
    .map(({ name, deprecated }) => `--${enable.flag}: ${name} is deprecated: ${deprecated ?? ''}`);
}

function checkNames(flag: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new FlagError(`Cannot parse --${flag}: ${JSON.stringify(unknown)} choose one of ${known.join(', ')}`);
}

/** @throws {Error} In one line, for files that cannot be used, and for what they say to plugins that take nothing */
export async function openAdmission(
  o: Options,
  d: Omit<AdmissionDeps, 'configuration'>,
  table = ADMISSION_PLUGINS,
): Promise<AdmissionChain> {
  const names = table.filter(({ byDefault }) => byDefault !== undefined).map(({ name }) => name);
  const file = o.admissionControlConfigFile;
  const { documents, deprecated } = await readAdmissionConfiguration(file, d.vocabulary, names);
  if (deprecated) d.log.warn('The admission configuration has a deprecated form', { file, ...deprecated });
  const configuration = new TakenDocuments(documents);
  const wanted = table.filter((entry) => runs(o, entry));
  const chain = new AdmissionChain(await openPlugins(wanted, o, { ...d, configuration }), d.metrics);
  for (const { name } of wanted) configuration.checkTaken(name);
  return chain;
}

class TakenDocuments extends Map<string, PluginDocument> {
  readonly #taken = new Set<string>();

  override get(name: string): PluginDocument | undefined {
    this.#taken.add(name);
    return super.get(name);
  }

  /** @throws {Error} for a document that a plugin has not asked for */
  checkTaken(name: string): void {
    const document = super.get(name);
    if (document !== undefined && !this.#taken.has(name)) throw document.error([], `${name} takes no configuration`);
  }
}
