import type { WireReader, WireType } from './wire.js';
import type { WireWriter } from './wire-writer.js';

/** How the values of one type travel. Made once a type; all members are plain functions so that calls stay cheap. */
export interface Value {
  readonly wireType: WireType;
  /**
   * Reads the value that the reader stands at into its JSON form.
   *
   * @param previous What an earlier occurrence of the same field gave; messages are merged into it.
   */
  readonly read: (reader: WireReader, previous?: unknown) => unknown;
  /** Writes a value, after which its tag is due. Anything but the JSON form of the type is our own mistake. */
  readonly write: (writer: WireWriter, value: unknown) => void;
  /** Whether the JSON form is what an absent one means, where the field is no pointer. */
  readonly isZero: (value: unknown) => boolean;
  /** The JSON form of a value that was not given. */
  readonly zero: () => unknown;
  /** Not written when not given, though no pointer. Others are written with their zero. */
  readonly leftOut: boolean;
}

export const never = (): boolean => false;
export const nothing = (): null => null;

export const unfit = (value: unknown, type: string): TypeError =>
  new TypeError(`Cannot write ${value === null ? 'null' : typeof value} as ${type}`);
