import type { Trail } from './trail.js';

/** How one declared type is read. Made once a type; all members are plain functions so that calls stay cheap. */
export interface Codec {
  /** Reads a value that is not null. @throws {StatusError} BadRequest. */
  readonly decode: (value: unknown, trail: Trail) => unknown;
  /** Whether a decoded value is what an absent one means. */
  readonly isZero: (value: unknown) => boolean;
  /** The value that is written where nothing was said and the member must be there; fresh at every call. */
  readonly zero: () => unknown;
  /** The value of a null in a list or a map where that is another than `zero`: there an element has to be something. */
  readonly nullElement?: () => unknown;
  /** The type as messages name it. */
  readonly type: string;
}

export const never = (): boolean => false;
export const nothing = (): null => null;
