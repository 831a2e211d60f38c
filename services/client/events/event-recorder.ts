import type { AnyObject } from '../rest/resource-type.js';

export interface RecordedEvent {
  /** What it is about; kind, apiVersion and metadata count. */
  readonly about: AnyObject;
  /** A second object that takes part, in the newer API alone. */
  readonly related?: AnyObject;
  readonly type: 'Normal' | 'Warning';
  /** One word, e.g. `FailedCreate`. */
  readonly reason: string;
  /** What was done or tried, one word. @default The reason. */
  readonly action?: string;
  /** For a person; at most 1,024 characters are kept. */
  readonly message: string;
}

/**
 * Tells users what happened to an object. Never throws and never waits: equal events are counted in one object, floods are
 * dropped, and what cannot be written is logged.
 */
export interface EventRecorder {
  record(event: RecordedEvent): void;
}
