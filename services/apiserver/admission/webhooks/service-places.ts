import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Endpoints, Service } from '../../../machinery/types/generated/core.v1.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { derived, type AdmissionObjects } from '../objects.js';

/** Where a service can be reached: a host and a port. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

const SERVICES = { group: '', resource: 'services' } as const;
const ENDPOINTS = { group: '', resource: 'endpoints' } as const;

const serviceOf = derived((object) => object as ApiObject & Service);
const endpointsOf = derived((object) => object as ApiObject & Endpoints);

/**
 * Ready addresses behind a port of a service, or its cluster IP where none is known. Read from the cache.
 *
 * @param toEndpoints false: its cluster IP in any case. @throws {Error} For one that is not there, has no such port, or nothing behind it.
 */
export function placesOf(
  objects: Pick<AdmissionObjects, 'cached'>,
  namespace: string,
  name: string,
  port: number,
  toEndpoints = true,
): readonly Place[] {
  const found = objects.cached(SERVICES, namespace, name);
  if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { spec = {} } = serviceOf(found);
  if (spec.type === 'ExternalName') return [{ host: spec.externalName ?? '', port }];
  const servicePort = spec.ports?.find((it) => it.port === port);
  if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const ready = !toEndpoints ? [] : readyPlaces(objects.cached(ENDPOINTS, namespace, name), servicePort.name ?? '');
  if (ready.length > 0) return ready;
  const { clusterIP = '' } = spec;
  if (clusterIP === '' || clusterIP === 'None') {
    throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  }
  return [{ host: clusterIP, port }];
}

function readyPlaces(found: CachedObject | undefined, portName: string): readonly Place[] {
  if (found === undefined) return [];
  return (endpointsOf(found).subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
    const port = ports.find(({ name = '' }) => name === portName)?.port;
    return port === undefined ? [] : addresses.map(({ ip = '' }) => ({ host: ip, port }));
  });
}
