import type { Catalog } from '../../../machinery/types/declarations.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from '../../options/flags.js';
import type { Reader } from '../reader.js';
import type { ResourceTable } from '../resources.js';
import { parseAddressRanges, parsePortRange } from './ranges.js';
import { ServiceAddresses } from './service-addresses.js';

/** The ranges to choose from, as the flags say. @throws {FlagError} */
export function serviceAddresses(
  o: Pick<ApiServerOptions, 'serviceClusterIpRange' | 'serviceNodePortRange'>,
): ServiceAddresses {
  const { serviceClusterIpRange: addresses, serviceNodePortRange: ports } = API_SERVER_FLAGS;
  return new ServiceAddresses({
    ranges: parseAddressRanges(addresses.flag, o.serviceClusterIpRange),
    nodePorts: parsePortRange(ports.flag, o.serviceNodePortRange),
  });
}

/** Lets it know what is in use. */
export function attachAddresses(
  addresses: ServiceAddresses,
  { catalog, resources, reader }: { catalog: Catalog; resources: ResourceTable; reader: Reader },
): void {
  const services = resources.stored('', 'services');
  const spec = catalog.types.get('core/v1.ServiceSpec');
  if (services === undefined || spec === undefined) throw new Error('No declaration of services');
  addresses.attach({
    cache: services.cache,
    fresh: () => reader.whenFresh(),
    specMembers: spec.fields.map(({ name }) => name),
  });
}
