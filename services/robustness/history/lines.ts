/**
 * What a run leaves: one JSON object a line. Times are milliseconds of one clock that only rises; versions are
 * resourceVersions as numbers, which stores of this API give in order.
 */
export type Line = RunLine | OperationLine | WatchLine | EventLine | CutLine | TurnLine | FaultLine | FinalLine;

/** What the objects of a namespace are there for. */
export type Pool = 'main' | 'family' | 'quota' | 'fence';

export interface RunLine {
  readonly t: 'run';
  readonly version: 1;
  readonly seed: number;
  readonly options: Readonly<Record<string, string>>;
  /** Namespaces, by name. */
  readonly pools: Readonly<Record<string, Pool>>;
  /** ConfigMaps that the quota allows, where there is one. */
  readonly quota?: number;
}

/** An object without what every write changes: who it is, and what the clients of a run write. */
export interface Body {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
  /** uid of its owner. */
  readonly owner?: string;
  readonly deleting?: true;
}

/** What a write asks for: all of it, or what is to be changed. */
export interface Sent {
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly owner?: string;
}

/** One object as it was answered. Its body is there unless a line before has it. */
export type Seen = readonly [name: string, rv: number, digest: string, body?: Body];

export type WriteVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete';
export type Verb = WriteVerb | 'get' | 'list';

/** `newest`: nothing older than what was written before it began; `any`: whatever a server has. */
export type ReadMode = 'newest' | 'any';

export interface OperationLine {
  readonly t: 'op';
  readonly id: number;
  readonly client: number;
  readonly verb: Verb;
  readonly ns: string;
  /** '' for lists. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** HTTP status; 0: no answer, or none that tells whether it was done. */
  readonly code: number;
  readonly reason?: string;
  readonly sent?: Sent;
  /** A value in it that no other operation has written before. */
  readonly token?: string;
  /** Preconditions. */
  readonly ifRv?: number;
  readonly ifUid?: string;
  readonly read?: ReadMode;
  readonly selector?: string;
  /** Of lists in pages. */
  readonly limit?: number;
  /** Of the whole list. */
  readonly rv?: number;
  /** What was answered: one object, or the items of a list. */
  readonly seen?: readonly Seen[];
}

/** A stream of events begins. */
export interface WatchLine {
  readonly t: 'watch';
  /** Of this stream. */
  readonly stream: number;
  /** Who watches; streams of the same watcher follow each other. */
  readonly watcher: number;
  readonly ns: string;
  readonly selector: string;
  /** Where it begins: the version of a list, or the last one that the stream before showed. */
  readonly from: number;
  /** The list that it begins with; absent: it goes on where the stream before was cut. */
  readonly list?: number;
  readonly at: number;
}

/** `A`dded, `M`odified, `D`eleted, `B`ookmark. */
export type EventType = 'A' | 'M' | 'D' | 'B';

export interface EventLine {
  readonly t: 'ev';
  readonly stream: number;
  readonly type: EventType;
  readonly at: number;
  /** A bookmark has no name and no digest. */
  readonly seen: Seen;
}

/** A stream ends. */
export interface CutLine {
  readonly t: 'cut';
  readonly stream: number;
  readonly at: number;
  readonly why: string;
}

/** The time in which a contender held a lease by its own clock. */
export interface TurnLine {
  readonly t: 'turn';
  readonly lease: string;
  readonly holder: string;
  readonly transitions: number;
  readonly from: number;
  readonly to: number;
}

export interface FaultLine {
  readonly t: 'fault';
  readonly name: string;
  /** Servers that it hits, by number; `all` when it is the store, or what they all need. */
  readonly hits: readonly number[] | 'all';
  readonly from: number;
  readonly to: number;
}

/** What was there when everything had come to rest. */
export interface FinalLine {
  readonly t: 'final';
  readonly ns: string;
  readonly items: readonly { readonly name: string; readonly uid: string; readonly owner?: string }[];
}
