import type { ApiObject } from '../meta/object.js';
import type { TypeDeclaration } from '../types/declarations.js';
import { Planner, carryOut } from './plan.js';
import { loadRules } from './rules.js';

/** Puts into objects what a version of their type says for what they leave out. */
export class Defaulter {
  readonly #planner: Planner;

  constructor(
    types: ReadonlyMap<string, TypeDeclaration>,
    { translate }: { readonly translate: (platformForm: string) => string },
  ) {
    this.#planner = new Planner(types, loadRules(translate));
  }

  /**
   * Fills in, in place, what `object` leaves out; once that is done, doing it again changes nothing. Members stand in
   * declared order afterwards, so a decoded object is still written the canonical way. What the server says about an
   * object when it is created (its status, its names, its addresses) is not said here.
   *
   * @param typeKey e.g. `apps/v1.Deployment`: the served version that the object is in. An unknown type has no defaults.
   * @param object As `decodeObject` gave it.
   */
  apply(typeKey: string, object: ApiObject): void {
    const plan = this.#planner.plan(typeKey);
    if (plan !== undefined) carryOut(plan, object);
  }
}
