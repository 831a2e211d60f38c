/** How much of a request is audited, from nothing to its bodies. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];

/** The stages of a request at which events are made. */
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type StageName = (typeof STAGES)[number];

/** The name of a backend, as a label of the metrics of lost events. */
export type PluginName = 'log' | 'webhook';

/** Where events end up: a file, a service. */
export interface Sink {
  readonly name: PluginName;
  /**
   * Called once at a time; the events are JSON objects without line breaks, in their order. Bounded in time by itself.
   *
   * @param signal Time is over: give up.
   * @throws {Error} when they are lost
   */
  write(events: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Takes events from requests, and sees how they get to where they end up. */
export interface AuditBackend {
  /**
   * undefined: the request need not wait. Else it resolves when the event is written, or lost: false only when the
   * request may not go on without it. Never rejects.
   */
  emit(event: string): Promise<boolean> | undefined;
  /** Writes what still waits, within a bound. What is told afterwards is lost. */
  close(): Promise<void>;
}

/** Events that no backend is told of: they cannot be written down. */
export const ENCODER = 'encoder';

/** Called for events that were lost, before the requests that wait for them go on. */
export type OnLost = (plugin: PluginName | typeof ENCODER, events: number, err: unknown) => void;

/** The mode of a backend with which a request fails whose event cannot be written. */
export const STRICT = 'blocking-strict';

/** Longest that a stopping server waits for a backend. */
export const CLOSE_MS = 10_000;
