import type { ApiObject } from '../../../machinery/meta/object.js';
import { notFound } from '../../../machinery/meta/status.js';
import type { Reader } from '../../registry/reader.js';
import type { ResourceTable } from '../../registry/resources.js';

/** Reads objects that say where to connect to. */
export interface ObjectsDeps {
  readonly reader: Reader;
  readonly resources: ResourceTable;
}

/** The newest state, in the storage version. `namespace` is '' for objects of the cluster. @throws {StatusError} NotFound */
export async function objectOf<T>(
  { reader, resources }: ObjectsDeps,
  resource: 'endpoints' | 'nodes' | 'pods' | 'secrets' | 'serviceaccounts' | 'services',
  namespace: string,
  name: string,
): Promise<ApiObject & T> {
  const stored = resources.stored('', resource);
  if (stored === undefined || name === '') throw notFound({ group: '', resource }, name);
  const found = await reader.get(stored, namespace, name);
  return found.parse() as ApiObject & T; // we encoded it, and checked it against its type
}

export interface ContainerParts {
  readonly name?: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
}

export interface PodParts {
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly initContainers?: readonly ContainerParts[];
    readonly containers?: readonly ContainerParts[] | null;
    readonly ephemeralContainers?: readonly ContainerParts[];
  };
  readonly status?: { readonly podIP?: string; readonly podIPs?: readonly { readonly ip?: string }[] };
}

export interface ServiceParts {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port?: number }[] };
}

export interface EndpointAddress {
  readonly ip?: string;
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
}

export interface EndpointsParts {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[];
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
  }[];
}

export interface NodeParts {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
    readonly daemonEndpoints?: Readonly<Record<string, { readonly Port?: number }>>;
  };
}
