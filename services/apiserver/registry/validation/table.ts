import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { webhookConfigurations } from './admissionregistration/webhooks.js';
import { customResourceDefinitions } from './apiextensions/definitions.js';
import { apiServices } from './apiregistration/api-services.js';
import { appsValidation } from './apps/table.js';
import { horizontalPodAutoscalers } from './autoscaling/autoscalers.js';
import { batchValidation } from './batch/table.js';
import { certificateSigningRequests } from './certificates/requests.js';
import { leases } from './coordination/leases.js';
import { coreValidation } from './core/table.js';
import { endpointSlices } from './discovery/endpoint-slices.js';
import { flowSchemas } from './flowcontrol/flow-schemas.js';
import { priorityLevelConfigurations } from './flowcontrol/priority-levels.js';
import { networkingValidation } from './networking/table.js';
import { runtimeClasses } from './node/runtime-classes.js';
import { podChecks } from './pods/spec.js';
import { policyValidation } from './policy/table.js';
import { rbacValidation } from './rbac/table.js';
import { priorityClasses } from './scheduling/priority-classes.js';
import { storageValidation } from './storage/table.js';
import type { GroupValidation, KindValidation, ValidationOptions } from './types.js';

const NOTHING_TO_CHECK: KindValidation = {};

/** What is checked of each kind, by group and resource. A kind has a file of its own, or shares one with its like. */
export function validationTable(
  vocabulary: Vocabulary,
  o: ValidationOptions,
): Readonly<Record<string, GroupValidation>> {
  const checks = podChecks(vocabulary, o);
  const { groups } = vocabulary;
  return {
    '': coreValidation(vocabulary, checks),
    [groups.admissionregistration]: {
      mutatingwebhookconfigurations: webhookConfigurations,
      validatingwebhookconfigurations: webhookConfigurations,
    },
    [groups.apiextensions]: { customresourcedefinitions: customResourceDefinitions(vocabulary) },
    [groups.apiregistration]: { apiservices: apiServices },
    apps: appsValidation(checks),
    autoscaling: { horizontalpodautoscalers: horizontalPodAutoscalers(vocabulary) },
    batch: batchValidation(checks),
    [groups.certificates]: { certificatesigningrequests: certificateSigningRequests(vocabulary) },
    [groups.coordination]: { leases },
    [groups.discovery]: { endpointslices: endpointSlices },
    [groups.flowcontrol]: {
      flowschemas: flowSchemas,
      prioritylevelconfigurations: priorityLevelConfigurations,
    },
    [groups.networking]: networkingValidation(vocabulary),
    [groups.node]: { runtimeclasses: runtimeClasses(vocabulary) },
    policy: policyValidation,
    [groups.rbac]: rbacValidation(vocabulary),
    [groups.scheduling]: { priorityclasses: priorityClasses },
    [groups.storage]: storageValidation(vocabulary),
  };
}

/** @returns The checks of each stored resource. */
export function validations(
  vocabulary: Vocabulary,
  o: ValidationOptions,
): (hub: ResourceDeclaration) => KindValidation {
  const table = validationTable(vocabulary, o);
  return ({ group, resource }) => table[group]?.[resource] ?? NOTHING_TO_CHECK;
}
