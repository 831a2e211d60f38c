import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Type } from '../../../machinery/types/graph.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import {
  mutatingBindings,
  mutatingPolicies,
  validatingBindings,
  validatingPolicies,
} from './admissionregistration/policies.js';
import { admissionregistrationRules } from './admissionregistration/rules.js';
import { webhookConfigurations } from './admissionregistration/webhooks.js';
import { customResourceDefinitions } from './apiextensions/definitions.js';
import { apiregistrationRules } from './apiregistration/api-services.js';
import { appsRules, counted, statefulSets } from './apps/rules.js';
import { autoscalingRules, horizontalPodAutoscalers } from './autoscaling/rules.js';
import { batchRules, jobs } from './batch/jobs.js';
import { certificateSigningRequests, certificatesRules } from './certificates/requests.js';
import { At } from './checks/at.js';
import { metaRules } from './checks/labels.js';
import { persistentVolumeClaims } from './core/claims.js';
import { configMaps, secrets } from './core/data.js';
import { events } from './core/events.js';
import { namespaces } from './core/namespaces.js';
import { nodes } from './core/nodes.js';
import { persistentVolumes } from './core/persistent-volumes.js';
import { pods } from './core/pods.js';
import { resourceQuotas } from './core/quotas.js';
import { coreRules } from './core/rules.js';
import { services } from './core/services.js';
import type { AnyRule } from './declared/walker.js';
import { DeclaredChecks } from './declared/walker.js';
import { discoveryRules } from './discovery/endpoint-slices.js';
import { flowcontrolRules } from './flowcontrol/flow-rules.js';
import { flowSchemas } from './flowcontrol/flow-schemas.js';
import { priorityLevelConfigurations } from './flowcontrol/priority-levels.js';
import { ingresses } from './networking/ingresses.js';
import { networkingRules } from './networking/rules.js';
import { nodeRules } from './node/runtime-classes.js';
import { policyRules, podSecurityPolicyRules } from './policy/rules.js';
import { clusterRoleBindings, rbacRules, roleBindings, roles } from './rbac/rules.js';
import { priorityClasses, schedulingRules } from './scheduling/priority-classes.js';
import { csiDrivers, csiNodes, storageClasses, storageRules } from './storage/rules.js';
import type { KindValidation, Problems, ValidationOptions, ValidationSources } from './types.js';

/** The rules of kinds, by `<group>/<resource>`: what a declaration cannot say, and no rule of a type inside the kind. */
export function kindRules(vocabulary: Vocabulary): ReadonlyMap<string, KindValidation> {
  const { groups } = vocabulary;
  return new Map<string, KindValidation>([
    ['/configmaps', configMaps],
    ['/events', events(vocabulary)],
    ['/namespaces', namespaces(vocabulary)],
    ['/nodes', nodes(vocabulary)],
    ['/persistentvolumeclaims', persistentVolumeClaims(vocabulary)],
    ['/persistentvolumes', persistentVolumes],
    ['/pods', pods(vocabulary)],
    ['/resourcequotas', resourceQuotas(vocabulary)],
    ['/secrets', secrets],
    ['/services', services],
    [`${groups.admissionregistration}/mutatingadmissionpolicies`, mutatingPolicies],
    [`${groups.admissionregistration}/mutatingadmissionpolicybindings`, mutatingBindings],
    [`${groups.admissionregistration}/mutatingwebhookconfigurations`, webhookConfigurations],
    [`${groups.admissionregistration}/validatingadmissionpolicies`, validatingPolicies],
    [`${groups.admissionregistration}/validatingadmissionpolicybindings`, validatingBindings],
    [`${groups.admissionregistration}/validatingwebhookconfigurations`, webhookConfigurations],
    [`${groups.apiextensions}/customresourcedefinitions`, customResourceDefinitions(vocabulary)],
    ['apps/daemonsets', counted],
    ['apps/deployments', counted],
    ['apps/statefulsets', statefulSets],
    ['autoscaling/horizontalpodautoscalers', horizontalPodAutoscalers],
    ['batch/jobs', jobs],
    [`${groups.certificates}/certificatesigningrequests`, certificateSigningRequests],
    [`${groups.flowcontrol}/flowschemas`, flowSchemas],
    [`${groups.flowcontrol}/prioritylevelconfigurations`, priorityLevelConfigurations],
    [`${groups.networking}/ingresses`, ingresses(vocabulary)],
    [`${groups.rbac}/clusterrolebindings`, clusterRoleBindings(vocabulary)],
    [`${groups.rbac}/rolebindings`, roleBindings(vocabulary)],
    [`${groups.rbac}/roles`, roles],
    [`${groups.scheduling}/priorityclasses`, priorityClasses],
    [`${groups.storage}/csidrivers`, csiDrivers],
    [`${groups.storage}/csinodes`, csiNodes],
    [`${groups.storage}/storageclasses`, storageClasses],
  ]);
}

/** The rules of types, by the keys that the types have in the vocabulary. */
export function typeRules(vocabulary: Vocabulary, o: ValidationOptions): ReadonlyMap<string, AnyRule> {
  const { groups } = vocabulary;
  const table: readonly (readonly [groupVersion: string, rules: object])[] = [
    ['meta/v1', metaRules],
    ['core/v1', coreRules(vocabulary, o)],
    [`${groups.admissionregistration}/v1`, admissionregistrationRules],
    [`${groups.apiregistration}/v1`, apiregistrationRules],
    ['apps/v1', appsRules],
    ['autoscaling/v2', autoscalingRules(vocabulary)],
    ['batch/v1', batchRules],
    [`${groups.certificates}/v1`, certificatesRules(vocabulary)],
    [`${groups.discovery}/v1`, discoveryRules],
    [`${groups.flowcontrol}/v1beta2`, flowcontrolRules],
    [`${groups.networking}/v1`, networkingRules],
    [`${groups.node}/v1`, nodeRules(vocabulary)],
    ['policy/v1', policyRules],
    ['policy/v1beta1', podSecurityPolicyRules],
    [`${groups.rbac}/v1`, rbacRules],
    [`${groups.scheduling}/v1`, schedulingRules],
    [`${groups.storage}/v1`, storageRules],
  ];
  return new Map(
    table.flatMap(([groupVersion, rules]) =>
      Object.entries(rules as Readonly<Record<string, AnyRule>>).map(
        ([name, rule]) => [`${groupVersion}.${name}`, rule] as const,
      ),
    ),
  );
}

const isBody = (member: string): boolean => member !== 'metadata' && member !== 'status';
const isStatus = (member: string): boolean => member === 'status';

/** Compiled when it is first needed: a server that starts validates few kinds. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** First what the declarations say of each field and the rules of types between them, then the rules of the kind. */
function declaredKind(checks: DeclaredChecks, type: () => Type, rules: KindValidation): KindValidation {
  const body = lazily(() => checks.visit(type(), isBody));
  const status = lazily(() => checks.members(type(), isStatus));
  const { ephemeralcontainers } = rules.parts ?? {};
  const fixed = lazily(() => checks.compare(type(), isBody));
  return {
    ...rules,
    object: (object, problems, apiVersion) => {
      if (rules.neverChanges !== true) body()?.(At.root(problems), object);
      rules.object?.(object, problems, apiVersion);
    },
    create: (object, problems, apiVersion) => {
      if (rules.neverChanges === true) body()?.(At.root(problems), object);
      return rules.create?.(object, problems, apiVersion);
    },
    update: (next, old, problems, apiVersion) => {
      fixed()?.(At.root(problems), next, old);
      return rules.update?.(next, old, problems, apiVersion);
    },
    parts: {
      ...rules.parts,
      ...(ephemeralcontainers === undefined
        ? {}
        : {
            ephemeralcontainers: (next: ApiObject, old: ApiObject, problems: Problems) => {
              body()?.(At.root(problems), next);
              return ephemeralcontainers(next, old, problems);
            },
          }),
      status: (next: ApiObject, old: ApiObject, problems: Problems) => {
        status()?.(At.root(problems), next);
        return rules.parts?.status?.(next, old, problems);
      },
    },
  };
}

/** @returns The checks of each stored resource. A kind without rules of its own has those that its declaration carries. */
export function validations(o: ValidationSources): (hub: ResourceDeclaration) => KindValidation {
  const kinds = kindRules(o.vocabulary);
  const checks = new DeclaredChecks(typeRules(o.vocabulary, o));
  return ({ group, resource, type }) =>
    declaredKind(checks, () => o.types.of(type), kinds.get(`${group}/${resource}`) ?? {});
}
