import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Strategy, StrategyOptions } from '../strategy.js';

interface NamespaceSpec {
  readonly finalizers?: readonly string[];
}

const finalizersOf = (namespace: ApiObject): readonly string[] =>
  (namespace['spec'] as NamespaceSpec | undefined)?.finalizers ?? [];

/**
 * A namespace goes in two steps of its own (spec 1, 3.1): deletion marks it as Terminating, and it is removed when
 * spec.finalizers is empty, which only `/finalize` writes.
 */
export function namespaces({ vocabulary }: StrategyOptions): Partial<Strategy> {
  const named = (namespace: ApiObject): void => {
    const { metadata } = namespace;
    metadata.labels = sorted({ ...metadata.labels, [vocabulary.namespaceNameLabel]: metadata.name ?? '' });
  };
  return {
    returnsDeleted: true,
    prepareForCreate: (namespace) => {
      named(namespace);
      const finalizers = finalizersOf(namespace);
      const own = vocabulary.namespaceFinalizer;
      namespace['spec'] = { finalizers: finalizers.includes(own) ? finalizers : [...finalizers, own] };
      namespace['status'] = { phase: 'Active' };
    },
    prepareForUpdate: (next, old) => {
      named(next);
      next['spec'] = old['spec'];
    },
    holdsDeletion: (namespace) => finalizersOf(namespace).length > 0,
    markDeleted: (namespace) => {
      delete namespace.metadata.deletionGracePeriodSeconds; // what is in it takes the time that it takes
      namespace['status'] = { ...(namespace['status'] as object | undefined), phase: 'Terminating' };
    },
  };
}

const sorted = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
