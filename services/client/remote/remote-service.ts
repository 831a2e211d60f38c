/** A service outside that answers questions: it is sent JSON and answers with JSON (spec 2, 4.3). */
export interface RemoteService {
  /**
   * @param body Sent as JSON. @param signal Ends the question; the service's own time limit holds besides.
   * @throws {RemoteError} When no answer came, or one that is no JSON. A status of 400 and more is an answer.
   * @throws `signal.reason` if it fires first.
   */
  post(body: object, signal: AbortSignal): Promise<RemoteAnswer>;
  /** Ends its connections. */
  close(): void;
}

export interface RemoteAnswer {
  readonly status: number;
  /** undefined for a status of 400 and more without JSON. */
  readonly body: unknown;
  /** How long the service wants to be left alone, where it says so. */
  readonly retryAfterMs?: number;
}

/**
 * Why there is no usable answer: no connection, or a broken one; a service that is not the one it should be; none in
 * time; one that cannot be used; no credential to show; or a service that is not asked for a while.
 */
export type RemoteFailure = 'connection' | 'untrusted' | 'timeout' | 'answer' | 'credentials' | 'open';

export interface RemoteErrorOptions extends ErrorOptions {
  readonly failure?: RemoteFailure;
  readonly isUnsent?: boolean;
}

/** No usable answer. Its message names the service's URL and what went wrong, and no credential. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly failure: RemoteFailure;
  /** Whether the request is known not to have reached the service: it may be sent again, whatever it asks for. */
  readonly isUnsent: boolean;

  constructor(message: string, o: RemoteErrorOptions = {}) {
    super(message, o.cause === undefined ? undefined : { cause: o.cause });
    this.failure = o.failure ?? 'connection';
    this.isUnsent = o.isUnsent ?? false;
  }
}
