import {
  NO_REVISION,
  StoreError,
  revision,
  isStoreError,
  type Revision,
  type StoreEvent,
  type StoreWatch,
  type WatchHandler,
  type WatchOptions,
} from '../store.js';
import { backoffMs } from '../../machinery/loop/backoff.js';
import type { Channel } from './channel.js';
import { GRPC, errorOf, messageOf, ruleOf, type GrpcStatus } from './errors.js';
import { prefixRange, type KeySpace } from './keys.js';
import type { Place, Witness } from './lineage.js';
import type { StoreLog } from './log.js';
import type { Session } from './session.js';
import { WatchBatches } from './watch-batches.js';
import {
  ALL_WATCHES,
  decodeWatchResponse,
  encodeWatchCreate,
  encodeWatchProgress,
  type WatchResponse,
} from './watch-messages.js';
import { ProgressRequests } from './watch-progress.js';
import { WatchStream } from './watch-stream.js';

const RECONNECT = { leastMs: 50, mostMs: 2000 };
/** A stream that lived so long, or brought anything, was a good one: the next failure is the first again. */
const STEADY_MS = 2000;

export interface EtcdWatchOptions {
  readonly channel: Channel;
  readonly space: KeySpace;
  readonly log: StoreLog;
  /** Whether etcd's answers about progress can be relied on. */
  readonly reliableProgress: boolean;
  /** A stream that is not confirmed within this time is given up. */
  readonly confirmTimeoutMs: number;
  readonly observe: (seconds: number) => void;
  /** Told how far the watch has come. */
  readonly saw: (at: Revision) => void;
  /** Whether nothing from `next` on was dropped. @throws {StoreError} compacted, replaced: the watch is over */
  readonly verify: (place: Place) => Promise<void>;
  readonly over: (watch: EtcdWatch) => void;
}

/**
 * One watch, over as many streams as it takes. A new stream begins at the first revision that was not delivered, never
 * at what the store's answers say its head is: a stream that is cut while it catches up has not delivered that.
 *
 * etcd keeps no deletion at the very revision that it compacted, and takes a watch from there all the same. So before
 * the first that a stream brings from the past is delivered, the store is asked whether the revision before it is still
 * there; the other way round, a compaction could come in between. A stream that takes the place of another also asks
 * whether the store is still the one that it was.
 *
 * While paused it reads until there is something to deliver, keeps that one message, and leaves the rest to the flow
 * control of the stream.
 */
export class EtcdWatch implements StoreWatch {
  readonly #o: EtcdWatchOptions;
  readonly #watched: WatchOptions;
  readonly #handler: WatchHandler;
  readonly #batches: WatchBatches;
  readonly #progress: ProgressRequests;
  #stream: WatchStream | undefined;
  /** Runs out when the stream is not confirmed, or when it is time to try again. */
  #timer: NodeJS.Timeout | undefined;
  #watchId = 0;
  #created = false;
  /** The next events are of the past: etcd may have read them after a compaction. */
  #ofPast = false;
  #verifying = false;
  #last: Witness | undefined;
  #up = true;
  #paused = false;
  #held: WatchResponse | undefined;
  #draining = false;
  #over = false;
  #failures = 0;
  #startedAt = 0;

  constructor(o: EtcdWatchOptions, watched: WatchOptions, handler: WatchHandler) {
    this.#o = o;
    this.#watched = watched;
    this.#handler = handler;
    this.#batches = new WatchBatches(revision(Math.max(1, watched.from)));
    this.#progress = new ProgressRequests({
      trusted: o.reliableProgress,
      ask: () => this.#stream?.send(encodeWatchProgress()),
    });
    this.#connect();
  }

  requestProgress(): void {
    if (!this.#over) this.#progress.want();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#ofPast = this.#created; // etcd reads it anew for a receiver that was slow
    this.#drain();
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#leaveStream();
    this.#o.over(this);
  }

  #connect(): void {
    this.#startedAt = performance.now();
    this.#o.channel.connect().then(
      (session) => this.#begin(session),
      (err: unknown) => this.#lost({ code: GRPC.unavailable, message: messageOf(err) }),
    );
  }

  #begin(session: Session): void {
    if (this.#over) return;
    const create = encodeWatchCreate({
      range: prefixRange(this.#o.space, this.#watched.prefix),
      from: this.#batches.next,
      withPrevious: this.#watched.withPrevious === true,
    });
    try {
      this.#stream = new WatchStream(session, create, {
        readable: () => this.#drain(),
        lost: (status) => this.#lost(status),
      });
    } catch (err) {
      this.#lost({ code: GRPC.unavailable, message: messageOf(err) });
      return;
    }
    this.#timer = setTimeout(() => {
      this.#o.channel.retire(session, 'a watch was not confirmed in time');
      this.#lost({ code: GRPC.unavailable, message: 'the watch was not confirmed in time' });
    }, this.#o.confirmTimeoutMs);
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      while (this.#stream !== undefined && this.#takeOne(this.#stream));
    } catch (err) {
      this.end(err instanceof StoreError ? err : new StoreError('corrupt', messageOf(err), { cause: err }));
    } finally {
      this.#draining = false;
    }
  }

  /** Whether there may be another. */
  #takeOne(stream: WatchStream): boolean {
    const response = this.#held ?? this.#next(stream);
    this.#held = undefined;
    if (response === undefined) {
      stream.resume();
      return false;
    }
    if (this.#verifying || (this.#paused && (this.#created || !response.created))) return this.#hold(stream, response);
    if (this.#ofPast && !response.created && !response.canceled) {
      this.#ofPast = false;
      this.#verify(stream, () => undefined);
      return this.#hold(stream, response);
    }
    this.#accept(response);
    return true;
  }

  #hold(stream: WatchStream, response: WatchResponse): false {
    this.#held = response;
    stream.pause();
    return false;
  }

  /** Delivers nothing until the store has said that nothing is missed. */
  #verify(stream: WatchStream, sound: () => void): void {
    this.#verifying = true;
    const passed = (): void => {
      if (this.#stream !== stream) return;
      this.#verifying = false;
      sound();
      this.#drain();
    };
    this.#o.verify({ next: this.#batches.next, last: this.#last }).then(passed, (err: unknown) => {
      if (this.#stream !== stream) return;
      if (isStoreError(err, 'compacted') && this.#ofPast)
        passed(); // etcd itself will say from where history is left
      else if (isStoreError(err, 'compacted') || isStoreError(err, 'replaced')) this.end(err as StoreError);
      else this.#lost({ code: GRPC.unavailable, message: messageOf(err) });
    });
  }

  #next(stream: WatchStream): WatchResponse | undefined {
    const message = stream.take();
    return message === undefined ? undefined : decodeWatchResponse(message, this.#o.space);
  }

  #accept(response: WatchResponse): void {
    if (response.canceled) this.#canceled(response);
    else if (response.created) this.#confirmed(response);
    else if (response.events.length > 0) this.#deliver(response);
    else if (!this.#batches.incomplete) this.#progressed(response);
  }

  #confirmed(response: WatchResponse): void {
    clearTimeout(this.#timer);
    this.#created = true;
    this.#watchId = response.watchId;
    this.#o.observe((performance.now() - this.#startedAt) / 1000);
    const { next } = this.#batches;
    this.#ofPast = response.head >= next;
    const stream = this.#stream;
    if (stream !== undefined && (!this.#up || response.head < next - 1)) this.#verify(stream, () => this.#resumed());
    else this.#resumed();
  }

  #resumed(): void {
    if (!this.#up) {
      this.#up = true;
      this.#o.log.info('Watch resumed', { prefix: this.#watched.prefix, revision: this.#batches.next });
      this.#tell(() => this.#handler.connected?.(true));
    }
    this.#progress.up();
  }

  #deliver(response: WatchResponse): void {
    const batch = this.#batches.add(response);
    if (batch.length === 0) return;
    this.#failures = 0;
    const { key, modRevision, type } = batch.at(-1) as StoreEvent; // it is not empty
    this.#last = { key, modRevision, deleted: type === 'delete' };
    this.#o.saw(modRevision);
    this.#tell(() => this.#handler.events(batch));
    const promised = this.#progress.delivered(this.#batches.delivered);
    if (promised !== undefined) this.#tell(() => this.#handler.progress?.(promised));
  }

  /** Own id: sent by itself, in turn with the events. All watches: an answer to a request. */
  #progressed(response: WatchResponse): void {
    const asked = response.watchId === ALL_WATCHES;
    if (!asked && response.watchId !== this.#watchId) return;
    if (!asked) this.#progress.satisfied();
    const at = asked ? this.#progress.answered(response.head) : response.head;
    if (at === undefined) return;
    this.#failures = 0;
    // Where answers are not reliable, a new stream must not begin where one of them says.
    if (!asked || this.#o.reliableProgress) this.#batches.passed(at);
    const told: Revision = revision(Math.max(at, this.#batches.delivered));
    this.#tell(() => this.#handler.progress?.(told));
  }

  #canceled(response: WatchResponse): void {
    if (response.compactRevision > NO_REVISION) {
      const message = `Cannot watch from revision ${this.#batches.next}: history begins at ${response.compactRevision}`;
      this.end(new StoreError('compacted', message, { compactRevision: response.compactRevision }));
      return;
    }
    const denied = response.cancelReason.includes('permission denied');
    this.#lost({ code: denied ? GRPC.permissionDenied : GRPC.unavailable, message: response.cancelReason });
  }

  #lost(status: GrpcStatus): void {
    if (this.#over) return;
    const session = this.#stream?.session;
    this.#leaveStream();
    if (this.#o.channel.closed) return;
    const rule = ruleOf(status);
    if (rule.code === 'denied') {
      this.end(errorOf('Watch', status));
      return;
    }
    if (rule.failover === true && session !== undefined) this.#o.channel.retire(session, status.message);
    if (performance.now() - this.#startedAt > STEADY_MS) this.#failures = 0;
    this.#timer = setTimeout(() => this.#connect(), backoffMs(this.#failures++, RECONNECT));
    if (!this.#up) return;
    this.#up = false;
    this.#o.log.warn('Watch lost', { prefix: this.#watched.prefix, reason: status.message });
    this.#tell(() => this.#handler.connected?.(false));
  }

  #leaveStream(): void {
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#stream = undefined;
    this.#created = false;
    this.#verifying = false;
    this.#held = undefined;
    this.#batches.restart();
    this.#progress.down();
  }

  #tell(call: () => void): void {
    if (this.#over) return;
    try {
      call();
    } catch (err) {
      this.end(new StoreError('corrupt', `A watch handler failed: ${messageOf(err)}`, { cause: err }));
    }
  }

  /** Ends the watch and says why. */
  end(error: StoreError): void {
    if (this.#over) return;
    this.close();
    try {
      this.#handler.ended(error);
    } catch (err) {
      this.#o.log.error('A watch handler failed at the end of its watch', { err });
    }
  }
}
