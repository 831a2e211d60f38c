import { converter } from '../../../machinery/conversion/converter.js';
import { Defaulter } from '../../../machinery/defaulting/defaulter.js';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { HistoryBudget } from '../../cache/history.js';
import { SNAPSHOT_LIMITS, SnapshotBudget } from '../../cache/snapshots.js';
import { parseAddressRanges, parsePortRange } from '../addresses/ranges.js';
import { ServiceAddresses } from '../addresses/service-addresses.js';
import { registryKeys } from '../keys.js';
import { ResourceTable, type ServedResource } from '../resources.js';
import { strategies } from '../strategies/table.js';

export const words = vocabulary('platform');
export const catalog = loadCatalog(words);
const addresses = new ServiceAddresses({
  ranges: parseAddressRanges('range', ['10.96.0.0/24']),
  nodePorts: parsePortRange('ports', '30000-30100'),
});
export const resources = new ResourceTable({
  catalog,
  convert: converter(catalog, words).convert,
  defaulter: new Defaulter(words),
  keys: registryKeys('/registry'),
  strategyFor: strategies({
    vocabulary: words,
    types: catalog.types,
    eventTtlSeconds: 60,
    addresses,
    allowPrivileged: true,
  }),
  onUnreadable: () => undefined,
  budget: new HistoryBudget({ maxBytes: 1e6, retainMs: 1e6 }),
  snapshots: new SnapshotBudget(SNAPSHOT_LIMITS),
});

/** A resource as the server serves it, with its strategy. */
export function servedAs(group: string, version: string, resource: string): ServedResource {
  const declaration = catalog.resources.find(
    (r) => r.group === group && r.version === version && r.resource === resource,
  );
  const served = declaration === undefined ? undefined : resources.served(declaration);
  if (served === undefined) throw new Error(`No declaration of ${group}/${version} ${resource}`);
  return served;
}
