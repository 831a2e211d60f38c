/** A service outside that answers questions: it is sent JSON and answers with JSON (spec 2, 4.3). */
export interface RemoteService {
  /**
   * @param body Sent as JSON. @param signal Ends the question; the service's own time limit holds besides.
   * @throws {RemoteError} When no answer came, or one that is no JSON. A status of 400 and more is an answer.
   */
  post(body: object, signal: AbortSignal): Promise<RemoteAnswer>;
  /** Ends its connections. */
  close(): void;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** No usable answer. Its message names the service's URL and what went wrong, and no credential. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
}
