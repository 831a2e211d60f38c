/** What every key of a product begins with; ends in "/". @param etcdPrefix As the flag gives it, e.g. `/registry`. */
export const registryPrefix = (etcdPrefix: string): string => `/${etcdPrefix.replace(/^\/+|\/+$/g, '')}/`;

/** Keys below the prefix that are no objects begin with this: `-` is no group's name. */
export const INTERNAL = '-/';

/** Below it stands one key for each API server that lives, with a lease of 15 s. */
export const LIVING_SERVERS = `${INTERNAL}apiservers/`;

/** Records of a store that say something about itself, by their keys below the prefix. */
export const RECORDS = {
  /** The words that the store speaks: written by the first server, and by a restore when it is finished. */
  vocabulary: `${INTERNAL}vocabulary`,
  /** Where the replicas agree on who compacts. */
  compaction: `${INTERNAL}compaction`,
  /** There as long as a restore has not finished: no server starts on such a store. */
  restore: `${INTERNAL}restore`,
} as const;
