import type { Parts, ServerPart } from '../installation/installation.js';
import type { Random } from '../random/random.js';

/** Something that is broken for a while. */
export interface Fault {
  /** Servers that are not well meanwhile; `all` when it is the store. */
  readonly hits: readonly number[] | 'all';
  start(): Promise<void>;
  /** What it broke is whole again when it resolves. */
  stop(): Promise<void>;
}

export interface FaultKind {
  readonly help: string;
  /** Faults of one group would be in each other's way. */
  readonly group: 'process' | 'client link' | 'store link' | 'clock' | 'etcd' | 'compaction';
  /** Members of etcd that it needs. @default 1 */
  readonly members?: number;
  /** @param random Chooses what is hit. */
  readonly make: (parts: Parts, random: Random) => Fault;
}

/** A fault of one server, chosen by a number. */
export const ofServer =
  (start: (server: ServerPart) => Promise<void> | void, stop: (server: ServerPart) => Promise<void> | void) =>
  ({ servers }: Parts, random: Random): Fault => {
    const index = random.below(servers.length);
    const server = servers[index];
    if (server === undefined) throw new RangeError('An installation without servers');
    return {
      hits: [index],
      start: () => Promise.resolve(start(server)),
      stop: () => Promise.resolve(stop(server)),
    };
  };
