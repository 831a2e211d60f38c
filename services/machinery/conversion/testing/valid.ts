import fc from 'fast-check';
import type { ApiObject } from '../../meta/object.js';
import type { Catalog } from '../../types/declarations.js';
import { arbitraryOf } from '../../types/testing/arbitrary.js';

type Any = fc.Arbitrary<unknown>;

const quantity = fc.integer({ min: 1, max: 99 }).map((n) => `${String(n * 2 - 1)}m`);
const percentage = fc.integer({ min: 0, max: 200 });
const resource = fc.constantFrom('cpu', 'memory');
const record = (model: Record<string, Any>, optional: readonly string[] = []): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(model, { requiredKeys: Object.keys(model).filter((k) => !optional.includes(k)), noNullPrototype: true });

const byValue = record({ type: fc.constant('Value'), value: quantity });
const byAverage = record({ type: fc.constant('AverageValue'), averageValue: quantity });
const byUtilization = record({ type: fc.constant('Utilization'), averageUtilization: percentage });
const valueNow = record({ value: quantity });
const averageNow = record({ averageValue: quantity });
const usageNow = record({ averageValue: quantity, averageUtilization: percentage }, ['averageUtilization']);

/** One metric of each source, with the numbers that the source can have: `type` says which source it is. */
function metrics(sources: Readonly<Record<string, Any>>): Any {
  return fc.oneof(
    ...Object.entries(sources).map(([source, arbitrary]) =>
      record({ type: fc.constant(source.slice(0, 1).toUpperCase() + source.slice(1)), [source]: arbitrary }),
    ),
  );
}

function autoscalerMetrics(catalog: Catalog): Readonly<Record<string, Any>> {
  const metric = arbitraryOf(catalog, 'autoscaling/v2.MetricIdentifier');
  const describedObject = arbitraryOf(catalog, 'autoscaling/v2.CrossVersionObjectReference');
  const container = fc.constantFrom('app', 'proxy');
  return {
    'autoscaling/v2.MetricSpec': metrics({
      object: record({ describedObject, metric, target: fc.oneof(byValue, byAverage) }),
      pods: record({ metric, target: byAverage }),
      resource: record({ name: resource, target: fc.oneof(byUtilization, byAverage) }),
      containerResource: record({ name: resource, container, target: fc.oneof(byUtilization, byAverage) }),
      external: record({ metric, target: fc.oneof(byValue, byAverage) }),
    }),
    'autoscaling/v2.MetricStatus': metrics({
      object: record({ describedObject, metric, current: fc.oneof(valueNow, averageNow) }),
      pods: record({ metric, current: averageNow }),
      resource: record({ name: resource, current: usageNow }),
      containerResource: record({ name: resource, container, current: usageNow }),
      external: record({ metric, current: fc.oneof(valueNow, averageNow) }),
    }),
  };
}

/** Objects of a kind that keep those rules between their members on which conversion relies. */
export const validObject = (catalog: Catalog, type: string): fc.Arbitrary<ApiObject> =>
  arbitraryOf(catalog, type, { maxDepth: 5, instead: autoscalerMetrics(catalog) }) as fc.Arbitrary<ApiObject>; // a kind
