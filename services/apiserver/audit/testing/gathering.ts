import type { AuditBackend, Sink } from '../backends/backend.js';

/** An event as readers see it. */
export interface ShownEvent {
  readonly level: string;
  readonly auditID: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: Readonly<Record<string, unknown>>;
  readonly impersonatedUser?: Readonly<Record<string, unknown>>;
  readonly sourceIPs: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: Readonly<Record<string, unknown>>;
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Keeps what it is told. */
export class Gathering implements AuditBackend {
  readonly texts: string[] = [];
  /** The outcome for those who wait; undefined: none do. */
  answer: Promise<boolean> | undefined;

  get events(): readonly ShownEvent[] {
    return this.texts.map((text) => JSON.parse(text) as ShownEvent);
  }

  emit(event: string): Promise<boolean> | undefined {
    this.texts.push(event);
    return this.answer;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Takes writes when the test lets it. */
export class GatedSink implements Sink {
  readonly name = 'log';
  /** The events of each write that has begun. */
  readonly writes: (readonly string[])[] = [];
  closed = false;
  readonly #gates: { readonly open: () => void; readonly fail: (err: Error) => void }[] = [];
  #whenBegun: () => void = () => undefined;

  write(events: readonly string[], signal: AbortSignal): Promise<void> {
    this.writes.push(events);
    this.#whenBegun();
    return new Promise((resolve, reject) => {
      this.#gates.push({ open: resolve, fail: reject });
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
    });
  }

  /** Resolves when `count` writes have begun. */
  async begun(count: number): Promise<void> {
    while (this.writes.length < count) await new Promise<void>((resolve) => (this.#whenBegun = resolve));
  }

  /** Ends the oldest write that is under way. */
  pass(): void {
    this.#gates.shift()?.open();
  }

  fail(): void {
    this.#gates.shift()?.fail(new Error('The disk is full'));
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
