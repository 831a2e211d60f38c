import { containersOf, specOf } from '../pods/pod.js';
import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

const OF_PODS = [
  ['supplementalGroups', 'SupplementalGroups'],
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
  ['fsGroup', 'FSGroup'],
] as const;
const OF_CONTAINERS = [
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
] as const;

/** No pod says as which user it runs, or with which labels (spec 2, 4.4). */
export const securityContextDeny: AdmissionPlugin = {
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  validate: (request) => {
    const { object, subresource } = request;
    if (object === undefined || subresource !== '') return;
    const spec = specOf(object);
    for (const [member, word] of OF_PODS) {
      if (spec.securityContext?.[member] == null) continue;
      throw refused(request, `pod.Spec.SecurityContext.${word} is forbidden`);
    }
    for (const { container } of containersOf(spec)) {
      for (const [member, word] of OF_CONTAINERS) {
        if (container.securityContext?.[member] == null) continue;
        throw refused(request, `SecurityContext.${word} is forbidden`);
      }
    }
  },
};
