import type { ApiObject } from '../../../machinery/meta/object.js';
import type { AdmissionRequest } from '../plugin.js';

/** Who may change objects: a webhook, or a policy. */
export interface Mutating {
  readonly id: string;
  /** Whether it wants to see an object again that others have changed since. */
  readonly isReinvoked: boolean;
}

/** What is remembered of a request between the two rounds. */
export class Rounds {
  /** Those who want to see later changes, and have seen the object. */
  readonly #seen = new Set<string>();
  readonly #due = new Set<string>();
  #left: string | undefined;

  /** Others have changed the object: all that have seen it, and want to, see it again. */
  changed(): void {
    for (const id of this.#seen) this.#due.add(id);
  }

  saw({ id, isReinvoked }: Mutating): void {
    if (isReinvoked) this.#seen.add(id);
  }

  isDue({ id }: Mutating): boolean {
    return this.#due.has(id);
  }

  /** The end of a round. */
  leave(object: ApiObject | undefined): void {
    this.#left = this.#seen.size === 0 ? undefined : JSON.stringify(object);
  }

  /** The beginning of the next one: plugins may have changed the object meanwhile. */
  comeBack(object: ApiObject | undefined): void {
    if (this.#left !== undefined && this.#left !== JSON.stringify(object)) this.changed();
  }
}

/** The rounds of requests that are under way. */
export class RoundsOfRequests {
  readonly #known = new WeakMap<AdmissionRequest, Rounds>();

  of(request: AdmissionRequest): Rounds {
    let rounds = this.#known.get(request);
    if (rounds === undefined) this.#known.set(request, (rounds = new Rounds()));
    return rounds;
  }
}
