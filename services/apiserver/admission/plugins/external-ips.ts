import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Service } from '../../../machinery/types/generated/core.v1.js';
import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

const addressesOf = (service: ApiObject | undefined): readonly string[] =>
  (service as Service | undefined)?.spec?.externalIPs ?? [];

/** Services get no external addresses that they do not have; to give some up stays possible (spec 2, 4.4). */
export const denyServiceExternalIPs = (): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE'],
  resources: ['services'],
  validate: (request) => {
    if (request.subresource !== '') return;
    const had = addressesOf(request.oldObject);
    if (addressesOf(request.object).every((address) => had.includes(address))) return;
    throw refused(request, 'Use of external IPs is denied by admission control');
  },
});
