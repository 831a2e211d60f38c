import { StatusError } from '../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';

export interface NamespaceLifecycleDeps {
  readonly vocabulary: Vocabulary;
  /** A namespace's phase as the cache has it; undefined when it has none of that name. */
  readonly cachedPhase: (name: string) => string | undefined;
  /** The store's own word. @throws {StatusError} NotFound */
  readonly storedPhase: (name: string) => Promise<string>;
}

/** Nothing is created in a namespace that is not there or on its way out; the first namespaces are never deleted. */
export function namespaceLifecycle(d: NamespaceLifecycleDeps): AdmissionPlugin {
  const { namespaces } = d.vocabulary;
  const immortal = new Set(['default', namespaces.system, namespaces.public]);
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'DELETE'],
    validate: (request) => (request.operation === 'CREATE' ? mayCreate(d, request) : mayDelete(immortal, request)),
  };
}

function mayDelete(immortal: ReadonlySet<string>, { resource, name }: AdmissionRequest): void {
  if (resource.group !== '' || resource.resource !== 'namespaces' || !immortal.has(name)) return;
  throw new StatusError('Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`, {
    details: { name, kind: 'namespaces' },
  });
}

function mayCreate(d: NamespaceLifecycleDeps, request: AdmissionRequest): Promise<void> | void {
  if (request.namespace === '' || isQuestion(d, request)) return undefined;
  const phase = d.cachedPhase(request.namespace);
  if (phase === undefined) return askStore(d, request); // another replica may have just made it
  refuseTerminating(request, phase);
  return undefined;
}

/** Nothing comes to be: it may be asked what somebody could do in a namespace that is not there. */
const isQuestion = ({ vocabulary }: NamespaceLifecycleDeps, { resource }: AdmissionRequest): boolean =>
  resource.group === vocabulary.groups.authorization;

async function askStore(d: NamespaceLifecycleDeps, request: AdmissionRequest): Promise<void> {
  refuseTerminating(request, await d.storedPhase(request.namespace));
}

function refuseTerminating({ resource, name, namespace }: AdmissionRequest, phase: string): void {
  if (phase !== 'Terminating') return;
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
