import type { StatusError } from '../meta/status.js';
import { badRequest } from '../meta/status.js';

/** A key of a map on the way, as against a declared field. */
export interface MapKey {
  readonly mapKey: string;
}

const SHOWN = 256;
const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);

/**
 * Where a decoder is, for messages. Kept by overwriting, for it is written for every field and read for hardly any: who
 * goes down a level raises `depth`, writes its steps at `steps[depth]` and lowers it again; nobody does after a throw.
 */
export class Trail {
  readonly steps: (string | number | MapKey)[] = [];
  depth = -1;
  /** Name of the innermost type, e.g. `ObjectMeta`. */
  struct = '';
  /** Paths of members that no declaration knows, in order of appearance. */
  readonly unknown: string[] = [];
  readonly #mostUnknown: number;

  constructor(mostUnknown: number) {
    this.#mostUnknown = mostUnknown;
  }

  recordUnknown(name: string): void {
    if (this.unknown.length >= this.#mostUnknown) return;
    const parent = this.#path(this.depth - 1);
    this.unknown.push(cut(parent === '' ? name : `${parent}.${name}`));
  }

  /** A member of another JSON kind than declared. */
  mismatch(value: unknown, type: string): StatusError {
    const got = typeof value === 'number' ? `number${wrongNumber(value, type)}` : kindOf(value);
    if (this.depth < 0) return badRequest(`json: cannot unmarshal ${got} into Go value of type ${type}`);
    const fields = this.steps.slice(0, this.depth + 1).filter((step) => typeof step === 'string');
    const path = cut([this.struct, ...fields].join('.'));
    return badRequest(`json: cannot unmarshal ${got} into Go struct field ${path} of type ${type}`);
  }

  /** A text that is not of its format. */
  malformed(why: string): StatusError {
    const path = this.#path(this.depth);
    return badRequest(path === '' ? why : `${cut(path)}: ${why}`);
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
const wrongNumber = (value: number, type: string): string => (type.startsWith('int') ? ` ${value}` : '');

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

export const quoted = (text: string): string => JSON.stringify(cut(text));
