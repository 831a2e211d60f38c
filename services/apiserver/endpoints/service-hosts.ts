import { API_SERVER_FLAGS } from '../options/flags.js';
import { addressAt, parseAddressRanges } from '../registry/addresses/ranges.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';

const NAMESPACE = 'default';

/**
 * Names of the server as clients reach it by its service: its names, and the first address of each range.
 *
 * @throws {FlagError} for ranges that are none
 */
export function serviceHosts({ defaultServiceName: name }: Vocabulary, ranges: readonly string[]): readonly string[] {
  const qualified = `${name}.${NAMESPACE}.svc`;
  return [
    name,
    `${name}.${NAMESPACE}`,
    qualified,
    `${qualified}.cluster.local`,
    ...parseAddressRanges(API_SERVER_FLAGS.serviceClusterIpRange.flag, ranges).map((range) => addressAt(range, 0)),
  ];
}
