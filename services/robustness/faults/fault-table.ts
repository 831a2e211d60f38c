import { ETCD_FAULTS } from './etcd.js';
import type { FaultKind } from './fault.js';
import { LINK_FAULTS } from './links.js';
import { PROCESS_FAULTS } from './processes.js';

/** Everything that can be broken. A new fault is an entry of one of these tables. */
export const FAULTS: ReadonlyMap<string, FaultKind> = new Map(
  Object.entries({ ...PROCESS_FAULTS, ...LINK_FAULTS, ...ETCD_FAULTS }),
);

/** Those that an etcd of so many members can have. */
export const faultsFor = (members: number): string[] =>
  [...FAULTS].filter(([, { members: needed = 1 }]) => needed <= members).map(([name]) => name);
