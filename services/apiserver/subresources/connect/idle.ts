/** Calls back when nothing has moved for a while. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number, onIdle: () => void) {
    this.#timer = setTimeout(onIdle, ms);
  }

  /** Something moved. An arrow, to be handed to events as it is. */
  readonly touch = (): void => {
    this.#timer.refresh();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }
}
