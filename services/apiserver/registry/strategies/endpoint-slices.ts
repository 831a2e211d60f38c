import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Strategy, StrategyOptions } from '../strategy.js';

interface Endpoint {
  /** What older versions say of the place; in v1 it is there to be read. */
  readonly deprecatedTopology?: unknown;
}

const endpointsOf = (slice: ApiObject): readonly Endpoint[] => (slice['endpoints'] ?? []) as readonly Endpoint[]; // decoded by its declaration

function dropTopology(slice: ApiObject): void {
  if (!endpointsOf(slice).some(({ deprecatedTopology }) => deprecatedTopology !== undefined)) return;
  slice['endpoints'] = endpointsOf(slice).map(({ deprecatedTopology: _, ...endpoint }) => endpoint);
}

/** Who writes in v1 leaves the old topology as it is, or loses it: endpoints that are changed have none. */
export const endpointSlices = ({ vocabulary }: StrategyOptions): Partial<Strategy> => {
  const v1 = `${vocabulary.groups.discovery}/v1`;
  return {
    generation: 'body',
    immutable: [['addressType']],
    prepareForCreate: (slice, _, apiVersion) => {
      if (apiVersion === v1) dropTopology(slice);
    },
    prepareForUpdate: (next, old, apiVersion) => {
      if (apiVersion === v1 && !isDeepStrictEqual(next['endpoints'], old['endpoints'])) dropTopology(next);
    },
  };
};
