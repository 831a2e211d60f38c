import { getOwn, isJsonObject } from '../meta/own.js';
import { CelMap, type Value } from './values.js';

/** A JSON value as one of expressions. Members of objects are read when they are asked for. */
export function jsonValue(json: unknown): Value {
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return json.map(jsonValue);
  if (isJsonObject(json)) return CelMap.over(new Members(json));
  if (typeof json !== 'number') return json as boolean | string; // nothing else is left
  return Number.isInteger(json) ? BigInt(json) : json;
}

class Members {
  readonly #json: Record<string, unknown>;
  readonly #read = new Map<string, Value>();
  #keys: readonly string[] | undefined;

  constructor(json: Record<string, unknown>) {
    this.#json = json;
  }

  get size(): number {
    return this.keys().length;
  }

  /** Members that are undefined are not there. */
  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#json).filter((key) => this.#json[key] !== undefined));
  }

  get(key: string): Value | undefined {
    const found = this.#read.get(key);
    if (found !== undefined) return found;
    const member = getOwn(this.#json, key);
    if (member === undefined) return undefined;
    const value = jsonValue(member);
    this.#read.set(key, value);
    return value;
  }
}
