import type { DiscoveredResource } from '../client/discovery/discovery.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { CollectedTypes } from './collected-types.js';
import { Collector, EXAMINE, ORPHANS } from './collector.js';
import { OwnerCensus } from './owner-census.js';
import { OwnerGraph } from './owner-graph.js';
import { OwnerStandings } from './owner-standing.js';

export interface GarbageCollectorOptions {
  readonly concurrentGcSyncs: number;
}

/**
 * Deletes objects whose owners are gone, and finishes deletions that wait for dependents (spec 1, 3.1). A key says what is
 * to be done, and the uid of the object that it is about.
 */
export function openGarbageCollector(o: GarbageCollectorOptions, d: ControllerDeps): Controller {
  const { discovery, informers, client, events, log, queue } = d;
  const graph = new OwnerGraph({
    examine: (uid) => queue.add(EXAMINE + uid),
    orphan: (uid) => queue.add(ORPHANS + uid),
  });
  /** Keys that wait for what is not known of types. */
  const held = new Set<string>();
  const release = (): void => {
    for (const key of held) queue.add(key);
    held.clear();
  };
  const sink: CollectedTypesSink = {
    observe: (type, object) => graph.observe({ type, object }),
    remove: (type, object) => {
      if (graph.hasDependents(object.metadata.uid)) standings.gone({ type, object });
      graph.forget(object.metadata.uid);
    },
    lose: (_, { metadata }) => graph.forget(metadata.uid),
  };
  const isFollowed = isCollected(d.vocabulary);
  const types = new CollectedTypes({ discovery, informers, log, isFollowed, sink, changed: release });
  const standings = new OwnerStandings({ graph, types, client });
  const census = new OwnerCensus({ client, types });
  const hold = (key: string): void => void held.add(key);
  const collector = new Collector({ graph, types, standings, census, client, events, hold });
  return {
    informers: [types],
    workers: o.concurrentGcSyncs,
    reconcile: (key, signal) => collector.reconcile(key, signal),
    run: (signal) => types.run(() => held.size > 0, signal),
  };
}

type CollectedTypesSink = ConstructorParameters<typeof CollectedTypes>[0]['sink'];

/** Events come and go by themselves. */
function isCollected({ groups }: Vocabulary): (type: DiscoveredResource) => boolean {
  const needed = ['delete', 'list', 'watch'];
  return ({ group, resource, verbs }) =>
    !(resource === 'events' && (group === '' || group === groups.events)) && needed.every((verb) => verbs.has(verb));
}
