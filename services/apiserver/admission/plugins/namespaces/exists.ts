import type { AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { withNamespace } from '../../namespaces.js';

/** Nothing is written in a namespace that is not there. */
export const namespaceExists = (d: { readonly objects: Pick<AdmissionObjects, 'present'> }): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  validate: (request) => (request.namespace === '' ? undefined : withNamespace(d.objects, request, () => undefined)),
});
