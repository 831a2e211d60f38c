import { unlessAborted } from '../deadline/deadline.js';
import { CredentialError } from './credential.js';

interface Run<T> {
  readonly work: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export interface SharedRunOptions {
  /** Work that is not waited for any more: it is ended, or goes on to its own bound. */
  readonly abandoned: 'ended' | 'finished';
}

/** Work that all who want it at the same time share. */
export class SharedRun<T> {
  readonly #start: (signal: AbortSignal) => Promise<T>;
  readonly #o: SharedRunOptions;
  #run: Run<T> | undefined;

  /** @param start Begins the work, which has a bound of its own. */
  constructor(start: (signal: AbortSignal) => Promise<T>, o: SharedRunOptions) {
    this.#start = start;
    this.#o = o;
  }

  /** The result of the work that is under way, or else of a new one. @throws `signal.reason` if it fires first. */
  async join(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const run = (this.#run ??= this.#begin());
    run.waiting++;
    try {
      return await unlessAborted(run.work, signal);
    } finally {
      run.waiting--;
      if (run.waiting === 0 && this.#o.abandoned === 'ended')
        this.#end(run, new CredentialError('Nobody waits any more'));
    }
  }

  /** Ends the work under way, if there is any. */
  close(): void {
    if (this.#run !== undefined) this.#end(this.#run, new CredentialError('The connection is closed'));
  }

  #begin(): Run<T> {
    const controller = new AbortController();
    const work = this.#start(controller.signal).finally(() => this.#forget(run));
    work.catch(() => undefined); // without a caller its error is not wanted
    const run: Run<T> = { work, controller, waiting: 0 };
    return run;
  }

  /** Later callers begin anew. */
  #end(run: Run<T>, why: Error): void {
    this.#forget(run);
    run.controller.abort(why);
  }

  #forget(run: Run<T>): void {
    if (this.#run === run) this.#run = undefined;
  }
}
