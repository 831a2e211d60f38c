import { isJsonObject, setOwn } from '../meta/own.js';
import type { Codec } from './codec.js';
import { nothing } from './codec.js';
import type { Trail } from './trail.js';

/** No client has longer keys; they are shown in messages, compared and sorted. */
const MAX_KEY_LENGTH = 64 * 1024;

/** A list; a null element is the one that its type gives for null. */
export function listOf(element: () => Codec): Codec {
  return {
    decode(value, trail) {
      const { decode, zero, nullElement = zero, type } = element();
      if (!Array.isArray(value)) throw trail.mismatch(value, `[]${type}`);
      const { steps } = trail;
      const depth = ++trail.depth;
      const out = new Array<unknown>(value.length);
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i];
        steps[depth] = i;
        out[i] = item === null ? nullElement() : decode(item, trail);
      }
      trail.depth--;
      return out;
    },
    isZero: (value) => Array.isArray(value) && value.length === 0,
    zero: nothing,
    get type() {
      return `[]${element().type}`;
    },
  };
}

/**
 * A map with keys of the client's choice, which come out sorted, so that equal maps are written alike. (Keys that look
 * like array indices come first, in numeric order: a property of the language, and as good an order.) A null value is
 * the one that its type gives for null.
 */
export function mapOf(element: () => Codec): Codec {
  return {
    decode(value, trail) {
      const { decode, zero, nullElement = zero, type } = element();
      if (!isJsonObject(value)) throw trail.mismatch(value, `map[string]${type}`);
      const { steps } = trail;
      const depth = ++trail.depth;
      const out = {};
      for (const key of sortedKeys(value, trail)) {
        const item = value[key];
        steps[depth] = { mapKey: key };
        setOwn(out, key, item === null ? nullElement() : decode(item, trail));
      }
      trail.depth--;
      return out;
    },
    isZero(value) {
      for (const _ in value as object) return false;
      return true;
    },
    zero: nothing,
    get type() {
      return `map[string]${element().type}`;
    },
  };
}

/** Most maps come sorted: one pass tells. */
function sortedKeys(map: object, trail: Trail): string[] {
  const keys = Object.keys(map);
  let previous = '';
  let isSorted = true;
  for (const key of keys) {
    if (key.length > MAX_KEY_LENGTH) throw trail.malformed(`a key has more than ${MAX_KEY_LENGTH} characters`);
    if (key < previous) isSorted = false;
    previous = key;
  }
  return isSorted ? keys : keys.sort();
}
