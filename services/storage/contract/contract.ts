import { compaction } from './compaction.js';
import { leases } from './leases.js';
import { pages } from './pages.js';
import { ranges } from './ranges.js';
import { restart } from './restart.js';
import { revisions } from './revisions.js';
import { area, type OpenStore } from './scene.js';
import { signalsAndClose } from './signals.js';
import { transactions } from './transactions.js';
import { watchFlow } from './watch-flow.js';
import { watchRaces } from './watch-races.js';
import { watches } from './watches.js';

export type { OpenStore, StoreUnderTest } from './scene.js';
export { connectionLossContract, type InterruptibleStore } from './connection-loss.js';

/** The contract of a KeyValueStore. Both stores run it in every build. `open` gives each area an empty store. */
export function keyValueStoreContract(name: string, open: OpenStore): void {
  describe(`${name} store`, () => {
    area('revisions', open, revisions);
    area('transact()', open, transactions);
    area('range()', open, ranges);
    area('range() in pages', open, pages);
    area('watch()', open, watches);
    area('watch() flow', open, watchFlow);
    area('watch() under writes', open, watchRaces);
    area('compact()', open, compaction);
    area('restart', open, restart);
    area('signals and close()', open, signalsAndClose);
    area('leases', open, leases); // the last one: what is left of them ends later, and moves the head of a store that is shared
  });
}
