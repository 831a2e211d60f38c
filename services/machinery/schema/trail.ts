import { literalKey, type Literals } from './literals.js';
import type { StatusError } from '../meta/status.js';
import { badRequest } from '../meta/status.js';

/** A key of a map on the way, as against a declared field. */
export interface MapKey {
  readonly mapKey: string;
}

/** Why an integer is refused that fits its type. */
export const NOT_EXACT = `integers beyond ${Number.MAX_SAFE_INTEGER} are not kept exactly`;

const SHOWN = 256;
const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);

/**
 * Where a decoder is, for messages. Kept by overwriting, for it is written for every field and read for hardly any: who
 * goes down a level raises `depth`, writes its steps at `steps[depth]` and lowers it again, except after a throw.
 */
export class Trail {
  readonly steps: (string | number | MapKey)[] = [];
  depth = -1;
  /** Name of the innermost type, e.g. `ObjectMeta`. */
  struct = '';
  /** Paths of members that no declaration knows, in order of appearance. */
  readonly unknown: string[] = [];
  readonly #mostUnknown: number;

  readonly #literals: Literals | undefined;

  constructor(mostUnknown: number, literals?: Literals) {
    this.#mostUnknown = mostUnknown;
    this.#literals = literals?.size === 0 ? undefined : literals;
  }

  /** How the number here was written, where that is with a fraction or an exponent. */
  get literal(): string | undefined {
    if (this.#literals === undefined) return undefined;
    const way = this.steps.slice(0, this.depth + 1);
    return this.#literals.get(literalKey(way.map((step) => (typeof step === 'object' ? step.mapKey : step))));
  }

  recordUnknown(name: string): void {
    if (this.unknown.length >= this.#mostUnknown) return;
    const parent = this.#path(this.depth - 1);
    this.unknown.push(cut(parent === '' ? name : `${parent}.${name}`));
  }

  /** A member of another JSON kind than declared. */
  mismatch(value: unknown, type: string): StatusError {
    const got = typeof value === 'number' ? `number${wrongNumber(this.literal ?? value, type)}` : kindOf(value);
    if (this.depth < 0) return badRequest(`json: cannot unmarshal ${got} into Go value of type ${type}`);
    return badRequest(`json: cannot unmarshal ${got} into Go struct field ${this.#structPath()} of type ${type}`);
  }

  /** An integer that has lost its last digits by the time it is here. */
  inexact(type: string): StatusError {
    const path = this.depth < 0 ? '' : ` into Go struct field ${this.#structPath()}`;
    return badRequest(`json: cannot unmarshal number${path} of type ${type}: ${NOT_EXACT}`);
  }

  /** A text that is not of its format. */
  malformed(why: string): StatusError {
    const path = this.#path(this.depth);
    return badRequest(path === '' ? why : `${cut(path)}: ${why}`);
  }

  /** The way as messages of mismatches have it: the innermost type, and fields without places in lists and maps. */
  #structPath(): string {
    const fields = this.steps.slice(0, this.depth + 1).filter((step) => typeof step === 'string');
    return cut([this.struct, ...fields].join('.'));
  }

  #path(depth: number): string {
    let path = '';
    for (const step of this.steps.slice(0, Math.max(depth + 1, 0))) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += `${path === '' ? '' : '.'}${typeof step === 'string' ? step : step.mapKey}`;
    }
    return path;
  }
}

/** A number where a number belongs is named: it is its size or its fraction that is wrong. */
const wrongNumber = (value: number | string, type: string): string =>
  type.startsWith('int') ? ` ${cut(String(value))}` : '';

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

export const quoted = (text: string): string => JSON.stringify(cut(text));

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
