import { isAscii, isUtf8 } from 'node:buffer';
import type { Json } from '../meta/object.js';
import { StatusError, badRequest } from '../meta/status.js';

export interface BodyLimits {
  /** Longest body, in bytes. Keys and strings have no bound of their own: they are part of it. */
  readonly maxBytes: number;
  /**
   * Deepest nesting of objects and arrays. The parser itself is safe at any depth; everything that walks the value
   * afterwards recurses, and some thousand levels end the stack.
   */
  readonly maxDepth: number;
  /** Longest YAML body: a hostile one takes up to 5 microseconds a byte to parse, on the one thread that there is. */
  readonly maxYamlBytes: number;
}

export const BODY_LIMITS: BodyLimits = { maxBytes: 3 * 1024 * 1024, maxDepth: 1000, maxYamlBytes: 256 * 1024 };

/**
 * Parses what a client sent. A member named `__proto__` comes out as an own member like any other.
 *
 * @throws {StatusError} RequestEntityTooLarge over `maxBytes`; BadRequest for anything that is not JSON in UTF-8, or
 * that nests too deep.
 */
export function parseJson(bytes: Buffer, limits: BodyLimits = BODY_LIMITS): Json {
  const text = decodeText(bytes, limits.maxBytes);
  refuseDeepNesting(bytes, limits.maxDepth);
  try {
    return JSON.parse(text) as Json;
  } catch (err) {
    throw badRequest(`json parse error: ${reworded(err)}`, err);
  }
}

/** @throws {StatusError} RequestEntityTooLarge, or BadRequest when the bytes are not UTF-8. */
export function decodeText(bytes: Buffer, maxBytes: number): string {
  if (bytes.length > maxBytes) {
    throw new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
  }
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) throw badRequest('json parse error: invalid UTF-8 in request body');
  return bytes.toString('utf8');
}

export const tooDeep = (maxDepth: number): StatusError =>
  badRequest(`json parse error: exceeded max depth ${maxDepth}`);

/**
 * Counts opening brackets first, inside strings too, for that is one cheap comparison a byte; only a body with more of
 * them than levels allowed is looked at properly. A body shorter than two bytes a level is not looked at at all.
 */
function refuseDeepNesting(bytes: Buffer, maxDepth: number): void {
  if (bytes.length < 2 * maxDepth || !hasManyBrackets(bytes, maxDepth)) return;
  if (nestsDeeper(bytes, maxDepth)) throw tooDeep(maxDepth);
}

function hasManyBrackets(bytes: Buffer, most: number): boolean {
  let opened = 0;
  const end = bytes.length;
  // By index: an iterator over bytes takes several times as long, and large bodies are the rule here.
  for (let i = 0; i < end; i++) {
    // "[" is 0x5b and "{" 0x7b: they differ in this one bit.
    if (((bytes[i] ?? 0) & 0xdf) === 0x5b && ++opened > most) return true;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Brackets outside strings. Broken JSON may be counted wrong: the parser refuses it anyway. */
function nestsDeeper(bytes: Buffer, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else {
      const bracket = byte & 0xdf;
      if (bracket === 0x5b && ++depth > maxDepth) return true;
      if (bracket === 0x5d) depth--;
    }
  }
  return false;
}

/** The engine's own words, except for the one case that clients look for. They quote at most a few characters. */
function reworded(err: unknown): string {
  const message = err instanceof Error ? err.message : String(err);
  return message.startsWith('Unexpected end of JSON input') ? 'unexpected end of JSON input' : message;
}
