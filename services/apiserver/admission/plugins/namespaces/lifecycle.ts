import { notFound, StatusError } from '../../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../../cache/cached-object.js';
import type { AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { NAMESPACES, withNamespace } from '../../namespaces.js';

export interface NamespaceLifecycleDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present' | 'stored'>;
}

/**
 * Nothing is created in a namespace that is not there or on its way out, nothing is changed in one that is not there, and the
 * first namespaces are never deleted (spec 2, 3.3). In the mutating phase, so that no other plugin speaks of such a request; and
 * when an object is stored, for its namespace may have gone while others looked at it, or without this server knowing.
 */
export function namespaceLifecycle({ vocabulary, objects }: NamespaceLifecycleDeps): AdmissionPlugin {
  const { namespaces, groups } = vocabulary;
  const immortal = new Set(['default', namespaces.system, namespaces.public]);
  return {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    mutate: (request) => {
      if (request.operation === 'DELETE') {
        mayDelete(immortal, request);
        return;
      }
      // A review makes no object: it may ask about a namespace that is not there.
      if (request.namespace === '' || request.resource.group === groups.authorization) return undefined;
      return withNamespace(objects, request, (found) => {
        if (request.operation === 'CREATE') mayHold(found, request);
      });
    },
    charge: ({ stored, namespace, name, current, next }) => {
      if (current !== undefined || next === undefined || namespace === '') return [];
      const check = (found: CachedObject | undefined): void => {
        if (found === undefined) throw notFound(NAMESPACES, namespace);
        mayHold(found, { resource: stored.hub, namespace, name, object: next });
      };
      return [{ stored: objects.stored(NAMESPACES), namespace: '', name: namespace, check }];
    },
  };
}

function mayDelete(immortal: ReadonlySet<string>, request: AdmissionRequest): void {
  const { resource, name } = request;
  if (resource.group !== '' || resource.resource !== 'namespaces' || !immortal.has(name)) return;
  throw refused(request, 'this namespace may not be deleted');
}

type Created = Pick<AdmissionRequest, 'resource' | 'namespace' | 'name' | 'object'>;

/** @throws {StatusError} Forbidden, for a namespace that is on its way out */
function mayHold(found: CachedObject, request: Created): void {
  if (found.field('status.phase') !== 'Terminating') return;
  const { namespace } = request;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message, details } = refused(request, why);
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw new StatusError('Forbidden', message, { details: { ...details, causes: [cause] } });
}
