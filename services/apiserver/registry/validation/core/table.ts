import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { PodChecks } from '../pods/spec.js';
import type { GroupValidation } from '../types.js';
import { persistentVolumeClaims } from './claims.js';
import { configMaps, secrets } from './data.js';
import { endpoints } from './endpoints.js';
import { events } from './events.js';
import { limitRanges } from './limit-ranges.js';
import { namespaces } from './namespaces.js';
import { nodes } from './nodes.js';
import { persistentVolumes } from './persistent-volumes.js';
import { pods } from './pods.js';
import { resourceQuotas } from './quotas.js';
import { services } from './services.js';
import { podTemplates, replicationControllers } from './templates.js';

/** The kinds of the group without a name; those that are not here have nothing but metadata to check. */
export function coreValidation(vocabulary: Vocabulary, checks: PodChecks): GroupValidation {
  return {
    configmaps: configMaps,
    endpoints,
    events: events(vocabulary),
    limitranges: limitRanges(vocabulary),
    namespaces: namespaces(vocabulary),
    nodes: nodes(vocabulary),
    persistentvolumeclaims: persistentVolumeClaims(vocabulary),
    persistentvolumes: persistentVolumes(vocabulary),
    pods: pods(checks),
    podtemplates: podTemplates(checks),
    replicationcontrollers: replicationControllers(checks),
    resourcequotas: resourceQuotas(vocabulary),
    secrets: secrets(vocabulary),
    services: services(vocabulary),
  };
}
