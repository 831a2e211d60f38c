import type { History } from '../history/history.js';

/** What the servers promise and did not keep. */
export interface Violation {
  /** Which promise, e.g. `reliable`. */
  readonly promise: string;
  readonly message: string;
  /** `namespace/name` of the object that it is about. */
  readonly object?: string;
  /** Milliseconds since the run began. */
  readonly at?: number;
  /** The version that it is about. */
  readonly rv?: number;
  /** Operations that show it. */
  readonly operations?: readonly number[];
}

/** Looks at a whole history, in time that grows as the history does but for a logarithm. */
export type Validator = (history: History, limits: Limits) => Iterable<Violation>;

export interface Limits {
  /** Longest that a client may get no answer while a server is well; undefined: not looked at. 0: no request may fail. */
  readonly outageMs: number | undefined;
}
