import type { Informers } from '../client/informer/informer.js';
import type { ApiClient } from '../client/rest/client.js';
import type { EventRecorder } from '../client/events/event-recorder.js';
import type { Discovery } from '../client/discovery/discovery.js';
import type { FlagTable, FlagTypes } from '../machinery/flags/flags.js';
import type { Log } from '../machinery/log/log.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

/** The queue of one controller, as those see it who add to it. */
export interface KeyQueue {
  /** A key that waits already is not added again; one that is being worked on comes again afterwards. */
  add(key: string): void;
  /** The sooner of two times counts. */
  addAfter(key: string, ms: number): void;
}

/** What reconciling a key says about the next time; nothing: when something changes. */
export type Reconciled = { readonly againInMs: number } | undefined;

/**
 * A loop that brings what is to what should be. Level-triggered: `reconcile` starts from observed state and may be called
 * at any time for any key, after any crash, as often as one likes.
 */
export interface Controller {
  /** The informers have to be filled before the first reconcile; `open` has asked for them and added handlers. */
  readonly informers: readonly { synced(signal: AbortSignal): Promise<void> }[];
  /** Keys that are worked on at once; a key never twice. */
  readonly workers: number;
  /** What it throws is logged and counted, and the key comes again with back-off. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Reconciled>;
  /** Work that has no key, e.g. following discovery. Ends with the signal; what it throws ends the process. */
  readonly run?: (signal: AbortSignal) => Promise<void>;
}

export interface ControllerDeps {
  /** Requests under the controller's own identity. */
  readonly client: ApiClient;
  /** Shared by all controllers of the process. */
  readonly informers: Informers;
  /** Opened for those controllers that read it while they open. */
  readonly discovery: Discovery;
  readonly events: EventRecorder;
  readonly vocabulary: Vocabulary;
  readonly log: Log;
  /** URL by which the client reaches the server; the first one of several. */
  readonly server: string;
  /** Certificates by which the client verifies the server, PEM; undefined: what the machine trusts. */
  readonly authorities: string | undefined;
  /** The queue that `reconcile` is fed from; handlers of informers add to it. */
  readonly queue: KeyQueue;
}

/** One line of a table of controllers. */
export interface ControllerEntry<O extends object = never> {
  /** As `--controllers` names it. */
  readonly name: string;
  /** The service account whose role it needs, in the namespace of the system. '': it runs as its process does. */
  readonly account: string;
  /** Whether `*` means it. */
  readonly isOnByDefault: boolean;
  /** @returns undefined: it cannot run with these options, which was logged. */
  readonly open: (o: O, d: ControllerDeps) => Promise<Controller | undefined> | Controller | undefined;
}

/** The controllers of one process, and the flags that they add to those of every controller process. */
export interface ControllerGroup<T extends FlagTable = FlagTable> {
  readonly flags: T;
  readonly controllers: readonly ControllerEntry<{ readonly [K in keyof T]: FlagTypes[T[K]['type']] }>[];
}
