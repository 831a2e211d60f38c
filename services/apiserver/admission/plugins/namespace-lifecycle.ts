import { StatusError } from '../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { Reader } from '../../registry/reader.js';
import { declaredResource, keyOf, type ResourceTable } from '../../registry/resources.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';

export interface NamespaceLifecycleDeps {
  readonly vocabulary: Vocabulary;
  readonly resources: Pick<ResourceTable, 'stored'>;
  readonly reader: Pick<Reader, 'getStored'>;
}

/** Nothing is created in a namespace that is not there or on its way out; the first namespaces are never deleted. */
export function namespaceLifecycle(d: NamespaceLifecycleDeps): AdmissionPlugin {
  const { namespaces, groups } = d.vocabulary;
  const immortal = new Set(['default', namespaces.system, namespaces.public]);
  return {
    operations: ['CREATE', 'DELETE'],
    // Before all that would add to an object which is refused anyway.
    mutate: (request) => {
      if (request.operation === 'DELETE') {
        mayDelete(immortal, request);
        return undefined;
      }
      // A review makes no object: it may ask about a namespace that is not there.
      if (request.namespace === '' || request.resource.group === groups.authorization) return undefined;
      return mayCreate(d, request);
    },
  };
}

function mayDelete(immortal: ReadonlySet<string>, { resource, name }: AdmissionRequest): void {
  if (resource.group !== '' || resource.resource !== 'namespaces' || !immortal.has(name)) return;
  throw new StatusError('Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`, {
    details: { name, kind: 'namespaces' },
  });
}

/** The store is asked about a namespace that the cache does not have: another replica may have just made it. */
function mayCreate({ resources, reader }: NamespaceLifecycleDeps, request: AdmissionRequest): Promise<void> | void {
  const { namespace } = request;
  const namespaces = declaredResource(resources, '', 'namespaces');
  const cached = namespaces.cache.newest(keyOf(namespaces, '', namespace));
  if (cached === undefined) return reader.getStored(namespaces, '', namespace).then((it) => mayHold(it, request));
  mayHold(cached, request);
  return undefined;
}

/** @throws {StatusError} Forbidden, for a namespace that is on its way out */
function mayHold(found: CachedObject, { resource, name, namespace }: AdmissionRequest): void {
  if (found.field('status.phase') !== 'Terminating') return;
  const why = `because namespace ${namespace} is being terminated`;
  const what = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`;
  throw new StatusError(
    'Forbidden',
    `${what} "${name}" is forbidden: unable to create new content in namespace ${namespace} ${why}`,
    {
      details: {
        ...(name === '' ? {} : { name }),
        ...(resource.group === '' ? {} : { group: resource.group }),
        kind: resource.resource,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    },
  );
}
