import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Strategy, StrategyOptions } from '../strategy.js';

interface Endpoint {
  /** Topology of older versions; read-only in v1. */
  readonly deprecatedTopology?: unknown;
}

const endpointsOf = (slice: ApiObject): readonly Endpoint[] => (slice['endpoints'] ?? []) as readonly Endpoint[]; // decoded by its declaration

function dropTopology(slice: ApiObject): void {
  if (!endpointsOf(slice).some(({ deprecatedTopology }) => deprecatedTopology !== undefined)) return;
  slice['endpoints'] = endpointsOf(slice).map(({ deprecatedTopology: _, ...endpoint }) => endpoint);
}

/** A write in v1 keeps the old topology of unchanged endpoints; changed ones lose it. */
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
