import type { Parts } from '../installation/installation.js';
import type { Random } from '../random/random.js';

/** What a fault hits, chosen when it begins. */
export interface Fault {
  /** Servers that are not well meanwhile. */
  readonly hits: readonly number[] | 'all';
  start(): Promise<void>;
  /** Whatever it broke is whole again when it resolves. */
  stop(): Promise<void>;
}

export type MakeFault = (parts: Parts, random: Random) => Fault;

export const FAULTS = {} as const satisfies Readonly<Record<string, MakeFault>>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES: readonly string[] = Object.keys(FAULTS);
