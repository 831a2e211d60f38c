import type { ApiObject } from '../meta/object.js';
import type { Type } from '../types/graph.js';
import { Planner, carryOut } from './plan.js';
import { loadRules } from './rules.js';

/** Puts into objects what a version of their type says for what they leave out. */
export class Defaulter {
  readonly #planner: Planner;

  constructor({ translate }: { readonly translate: (platformForm: string) => string }) {
    this.#planner = new Planner(loadRules(translate));
  }

  /**
   * Fills in, in place, what `object` leaves out; once that is done, doing it again changes nothing. Members stand in
   * declared order afterwards, so a decoded object is still written the canonical way. What the server says about an
   * object when it is created (its status, its names, its addresses) is not said here.
   *
   * @param type In the served version that the object is in.
   * @param object As `decodeObject` gave it.
   */
  apply(type: Type, object: ApiObject): void {
    const plan = this.#planner.plan(type);
    if (plan !== undefined) carryOut(plan, object);
  }
}
