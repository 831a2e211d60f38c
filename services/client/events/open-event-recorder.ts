import type { Log } from '../../machinery/log/log.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { builtInTypes } from '../rest/built-in-types.js';
import { isApiError, type ApiClient, type ResourceClient } from '../rest/client.js';
import type { AnyObject, ResourceType } from '../rest/resource-type.js';
import { EventCorrelator, type Correlated } from './correlator.js';
import { CORE_FORM, eventName, eventNamespace, EVENTS_FORM, type EventForm, type EventSource } from './event-forms.js';
import type { EventRecorder, RecordedEvent } from './event-recorder.js';

export interface EventRecorderOptions {
  readonly client: Pick<ApiClient, 'resource' | 'raw'>;
  readonly vocabulary: Vocabulary;
  readonly source: EventSource;
  readonly log: Log;
  /** Ends writing; what waits is dropped. */
  readonly signal: AbortSignal;
  readonly correlator?: EventCorrelator;
}

/** Events that may wait to be written. */
const MOST_WAITING = 1_000;
/** Objects whose names are remembered, to count further. */
const MOST_NAMES = 4_096;

interface Api {
  readonly events: ResourceClient<AnyObject>;
  readonly form: EventForm;
}

/** Writes events one after the other, in the newer of the two APIs that the server has. */
export function openEventRecorder(o: EventRecorderOptions): EventRecorder {
  return new ApiEventRecorder(o);
}

class ApiEventRecorder implements EventRecorder {
  readonly #o: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #waiting: Correlated[] = [];
  readonly #names = new Map<string, string>();
  #api: Api | undefined;
  #isWriting = false;
  #dropped = 0;
  #last = 0n;

  constructor(o: EventRecorderOptions) {
    this.#o = o;
    this.#correlator = o.correlator ?? new EventCorrelator();
  }

  record(event: RecordedEvent): void {
    const { log, signal } = this.#o;
    if (signal.aborted) return;
    const { kind, metadata: { namespace, name } = {} } = event.about;
    log.debug('Event', { kind, namespace, name, reason: event.reason, message: event.message });
    const correlated = this.#correlator.correlate(event);
    if (correlated === undefined) return;
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(correlated);
    else if (this.#dropped++ === 0) log.warn('Too many events wait to be written: some are dropped');
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#write(next);
      } catch (err) {
        if (this.#o.signal.aborted) break;
        this.#o.log.warn('An event cannot be written', { reason: next.event.reason, err });
      }
    }
    this.#waiting.length = 0;
    this.#dropped = 0;
    this.#isWriting = false;
  }

  async #write(c: Correlated): Promise<void> {
    const { signal } = this.#o;
    const { events, form } = (this.#api ??= await this.#choose());
    const known = this.#names.get(c.key);
    if (known !== undefined) {
      try {
        await events.patch({ namespace: eventNamespace(c), name: known }, 'merge', form.change(c), {}, signal);
        return;
      } catch (err) {
        if (!isApiError(err, 'NotFound')) throw err; // else its time to live is over
      }
    }
    const name = eventName(c, this.#unique());
    await events.create(form.object(c, this.#o.source, name), {}, signal);
    this.#remember(c.key, name);
  }

  async #choose(): Promise<Api> {
    const { client, vocabulary, signal } = this.#o;
    const types = builtInTypes(vocabulary);
    const { group, version } = types.eventsEvents;
    const { status } = await client.raw({ method: 'GET', path: `/apis/${group}/${version}` }, signal);
    const open = (type: ResourceType): ResourceClient<AnyObject> => client.resource(type);
    return status === 200
      ? { events: open(types.eventsEvents), form: EVENTS_FORM }
      : { events: open(types.events), form: CORE_FORM };
  }

  #remember(key: string, name: string): void {
    this.#names.delete(key);
    this.#names.set(key, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > MOST_NAMES && oldest !== undefined) this.#names.delete(oldest);
  }

  /** Nanoseconds of now, and more than the last one. */
  #unique(): bigint {
    const now = BigInt(Date.now()) * 1_000_000n;
    return (this.#last = now > this.#last ? now : this.#last + 1n);
  }
}
