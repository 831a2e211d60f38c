import type { Endpoints, Service } from '../../machinery/types/generated/core.v1.js';
import type { Availability } from './api-service.js';
import type { Route } from './routes.js';

/** What the cache knows of where a route leads; undefined: there is none. */
export interface Surroundings {
  readonly service: Service | undefined;
  readonly endpoints: Endpoints | undefined;
}

export const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

const unavailable = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

/** Why no request can reach the service of a route; undefined: one may. */
export function placeProblem({ service: ref }: Pick<Route, 'service'>, around: Surroundings): Availability | undefined {
  const { service, endpoints } = around;
  const which = `service/${ref.name} in ${JSON.stringify(ref.namespace)}`;
  if (service === undefined) return unavailable('ServiceNotFound', `${which} is not present`);
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined; // what is behind it is not known here
  const port = service.spec?.ports?.find((it) => it.port === ref.port);
  if (port === undefined) return unavailable('ServicePortError', `${which} is not listening on port ${ref.port}`);
  if (endpoints === undefined) return unavailable('EndpointsNotFound', `cannot find endpoints for ${which}`);
  const { name = '' } = port;
  const isReady = (endpoints.subsets ?? []).some(
    ({ addresses, ports }) => (addresses ?? []).length > 0 && (ports ?? []).some((it) => (it.name ?? '') === name),
  );
  if (isReady) return undefined;
  return unavailable(
    'MissingEndpoints',
    `endpoints for ${which} have no addresses with port name ${JSON.stringify(name)}`,
  );
}

/** @param why Holds no addresses: it would differ from one try to the next, and be written each time. */
export const discoveryFailed = (url: string, why: string): Availability =>
  unavailable('FailedDiscoveryCheck', `failing or missing response from ${url}: ${why}`);
