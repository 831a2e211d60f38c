import type {
  CutLine,
  EventType,
  FaultLine,
  FinalLine,
  OperationLine,
  Pool,
  RunLine,
  TurnLine,
  Body,
} from './lines.js';

/** An object at one version, as all who saw it saw it. */
export interface State {
  readonly item: Item;
  readonly rv: number;
  readonly digest: string;
  /** undefined: only its digest was seen. */
  body: Body | undefined;
  /** It was deleted at this version; the body is that of the last state. */
  readonly gone: boolean;
  /** When somebody knew of it first. */
  knownAt: number;
  /** The write that made it, and was answered. */
  by: Operation | undefined;
}

export interface Operation extends Omit<OperationLine, 'seen'> {
  readonly states: readonly State[];
}

/** What is known of one object of a name, through all its lives. */
export interface Item {
  readonly ns: string;
  readonly name: string;
  /** By version. */
  states: State[];
  /** Writes that were done, or may have been. */
  readonly writes: Operation[];
  /** All others about this object. */
  readonly others: Operation[];
  /** Writes without an answer whose work was seen, or of which it was not. */
  readonly unknown: { readonly seen: Operation[]; readonly unseen: Operation[] };
}

export interface WatchEvent {
  readonly type: EventType;
  readonly rv: number;
  readonly at: number;
  readonly name: string;
  readonly digest: string;
}

/** One stream of a session. */
export interface Stream {
  readonly from: number;
  /** Index of its first event in the session. */
  readonly first: number;
}

/** What a watcher saw from a list on, over all streams that follow each other. */
export interface Session {
  readonly watcher: number;
  readonly ns: string;
  readonly selector: string;
  readonly from: number;
  readonly streams: Stream[];
  readonly events: WatchEvent[];
}

/** Two answers that tell different things of one version. */
export interface Clash {
  readonly item: Item;
  readonly rv: number;
  readonly at: number;
}

/** A run, read and put in order: what validators look at. */
export interface History {
  readonly run: RunLine;
  /** In the order of their ends. */
  readonly operations: readonly Operation[];
  readonly items: ReadonlyMap<string, Item>;
  readonly sessions: readonly Session[];
  readonly cuts: readonly CutLine[];
  readonly turns: readonly TurnLine[];
  readonly faults: readonly FaultLine[];
  readonly finals: readonly FinalLine[];
  readonly clashes: readonly Clash[];
  /** Changes of the objects of a namespace, by version. */
  changesOf(ns: string): readonly State[];
  poolOf(ns: string): Pool | undefined;
}

/** What became of an operation. `refused`: it was surely not done. */
export type Outcome = 'done' | 'refused' | 'unknown';

export function outcomeOf({ code }: Pick<OperationLine, 'code'>): Outcome {
  if (code >= 200 && code < 300) return 'done';
  return code >= 400 && code < 500 ? 'refused' : 'unknown';
}

/** When it is over for sure: what was not answered may still be done later. */
export const endOf = (op: Operation): number => (outcomeOf(op) === 'unknown' ? Infinity : op.end);

export const isRead = ({ verb }: Pick<OperationLine, 'verb'>): boolean => verb === 'get' || verb === 'list';

export const keyOf = (ns: string, name: string): string => `${ns}/${name}`;
