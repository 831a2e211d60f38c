import { StatusError } from '../../../../machinery/meta/status.js';
import type { AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { NAMESPACES } from '../../namespaces.js';

export interface NamespaceAutoProvisionDeps {
  readonly objects: Pick<AdmissionObjects, 'present'>;
  /** Makes it, unless somebody else is quicker. @throws {StatusError} for what cannot be a namespace */
  readonly makeNamespace: (name: string) => Promise<void>;
}

/** Creates the namespace that something is created in. It stays, also where the request is refused by a later step. */
export const namespaceAutoProvision = (d: NamespaceAutoProvisionDeps): AdmissionPlugin => ({
  operations: ['CREATE'],
  mutate: async (request) => {
    const { namespace, dryRun } = request;
    if (namespace === '' || dryRun) return;
    if ((await d.objects.present(NAMESPACES, '', namespace, request)) !== undefined) return;
    try {
      await d.makeNamespace(namespace);
    } catch (err) {
      throw err instanceof StatusError ? refused(request, err.message) : err;
    }
  },
});
