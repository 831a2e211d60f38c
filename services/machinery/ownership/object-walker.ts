import { getOwn, isJsonObject } from '../meta/own.js';
import { badRequest } from '../meta/status.js';
import { difference, NO_FIELDS, type FieldsTree, printPath } from './fields-tree.js';
import type { StructShape } from './shape.js';
import { NotApplicable, type Difference, type Walker } from './walker.js';
import { walkerOf } from './walkers.js';

/** The fields that differ between two states of an object. */
export interface Changes {
  /** Added or of another value. */
  readonly changed: FieldsTree;
  readonly removed: FieldsTree;
}

export const isUnchanged = ({ changed, removed }: Changes): boolean => changed === NO_FIELDS && removed === NO_FIELDS;

/** The fields of another manager that a write has not changed. */
export const leftOf = (fields: FieldsTree, { changed, removed }: Changes): FieldsTree =>
  difference(difference(fields, changed), removed);

/** The walker of a kind. */
export class ObjectWalker {
  readonly #walker: Walker;
  readonly #makeEmpty: () => unknown;
  #empty: unknown;

  /**
   * @param empty What an object of the kind is before anything is set: what its type always shows is there already, and
   * so has no owner when a client creates it. Called once.
   */
  constructor(shape: StructShape, empty: () => unknown) {
    this.#walker = walkerOf(shape);
    this.#makeEmpty = empty;
  }

  /** @param before Undefined for an object that is new. */
  diff(before: unknown, after: unknown): Changes {
    const out: Difference = { changed: undefined, removed: undefined };
    this.#walker.diff(before ?? (this.#empty ??= this.#makeEmpty()), after, out);
    return { changed: out.changed ?? NO_FIELDS, removed: out.removed ?? NO_FIELDS };
  }

  /** The fields that a configuration has an opinion about. @throws {StatusError} BadRequest for items without a name */
  applied(config: unknown): FieldsTree {
    try {
      return this.#walker.fields(config, false, []) ?? NO_FIELDS;
    } catch (err) {
      if (!(err instanceof NotApplicable)) throw err;
      throw badRequest(
        `failed to create typed patch object (${described(config)}): ${printPath(err.steps)}: ${err.message}`,
      );
    }
  }

  merge(live: unknown, config: unknown): unknown {
    return live === undefined ? config : this.#walker.merge(live, config);
  }

  /** `object` without what is dropped and in no set of those that are kept; the object itself when that is nothing. */
  prune(object: unknown, dropped: FieldsTree, kept: readonly FieldsTree[]): unknown {
    return this.#walker.prune(object, { dropped, kept });
  }

  lift(fields: FieldsTree): FieldsTree {
    return this.#walker.lift(fields);
  }
}

/** `default/web; apps/v1, Kind=Deployment`, as messages name an object that is not there yet. */
function described(config: unknown): string {
  const text = (parent: unknown, name: string): string => {
    const value = isJsonObject(parent) ? getOwn(parent, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const metadata = isJsonObject(config) ? getOwn(config, 'metadata') : undefined;
  const apiVersion = text(config, 'apiVersion');
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${text(metadata, 'namespace')}/${text(metadata, 'name')}; ${groupVersion}, Kind=${text(config, 'kind')}`;
}
