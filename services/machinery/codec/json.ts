import { isAscii, isUtf8 } from 'node:buffer';
import type { Json } from '../meta/object.js';
import { isJsonObject } from '../meta/own.js';
import { StatusError, badRequest } from '../meta/status.js';
import { noteLiterals } from '../schema/literals.js';

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

/** JSON, where the last of several members of one name counts. */
export const decodeJson = (
  bytes: Buffer,
  limits?: BodyLimits,
  duplicates?: string[],
  literals?: Map<string, string>,
): Json => {
  const parsed = parseJson(bytes, limits);
  if (literals !== undefined) noteLiterals(bytes, literals);
  duplicates?.push(...duplicateMembers(bytes, parsed));
  return parsed;
};

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

const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Most paths that are worth giving. */
export const MOST_DUPLICATES = 100;
const SHOWN = 256;
const NONE: readonly string[] = [];

/**
 * Paths of members that an object names more than once, e.g. `spec.containers[0].name`; each path once, in the order of
 * the text. Parsers keep the last of them and say nothing.
 *
 * Without any, this costs one pass over the bytes and one over the value: every member that is there has one colon, so
 * there are as many of the one as of the other.
 *
 * @param bytes JSON that has been parsed: anything else gives nonsense, and an end.
 * @param parsed What it was parsed to.
 * @param max Most paths to give.
 */
export function duplicateMembers(bytes: Buffer, parsed: Json, max = MOST_DUPLICATES): readonly string[] {
  return countColons(bytes) === countMembers(parsed) ? NONE : findDuplicates(bytes, max);
}

/** Colons outside strings. By index, for these are the bytes of every body that is written. */
function countColons(bytes: Buffer): number {
  let count = 0;
  const end = bytes.length;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i];
    if (byte === COLON) count++;
    else if (byte === QUOTE) {
      for (i++; i < end && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    }
  }
  return count;
}

/** Members of all objects in a value; the depth of bodies is bounded where they are parsed. */
function countMembers(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) if (typeof item === 'object') count += countMembers(item);
  } else if (isJsonObject(value)) {
    // A parsed object has own members only, and a prototype without enumerable ones.
    for (const key in value) {
      count++;
      const member = value[key];
      if (typeof member === 'object') count += countMembers(member);
    }
  }
  return count;
}

/** An object or a list around the place that is looked at. */
interface Frame {
  /** Names that an object had so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  /** Where in it the place is. */
  name: string;
  index: number;
}

function findDuplicates(bytes: Buffer, max: number): readonly string[] {
  const found = new Set<string>();
  const frames: Frame[] = [];
  for (let i = 0; i < bytes.length && found.size < max; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      const end = endOfString(bytes, i);
      if (isFollowedByColon(bytes, end)) enterMember(frames, textAt(bytes, i, end), found);
      i = end;
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
      frames.push({ names: byte === OPENING_BRACE ? new Set() : undefined, name: '', index: 0 });
    } else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      frames.pop();
    } else if (byte === COMMA) {
      const frame = frames.at(-1);
      if (frame !== undefined) frame.index++;
    }
  }
  return [...found];
}

function enterMember(frames: readonly Frame[], name: string, found: Set<string>): void {
  const frame = frames.at(-1);
  if (frame?.names === undefined) return;
  frame.name = name;
  if (frame.names.has(name))
    found.add(shownPath(frames.map(({ names, name, index }) => (names === undefined ? index : name))));
  else frame.names.add(name);
}

/** The index of the closing quote. */
function endOfString(bytes: Buffer, opening: number): number {
  let i = opening + 1;
  for (; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
  return i;
}

function isFollowedByColon(bytes: Buffer, closing: number): boolean {
  let i = closing + 1;
  while (i < bytes.length && (bytes[i] ?? 0) <= SPACE) i++;
  return bytes[i] === COLON;
}

/** The text of a string: names may be escaped, and are the same name for all that. */
function textAt(bytes: Buffer, opening: number, closing: number): string {
  const inside = bytes.subarray(opening + 1, closing);
  if (!inside.includes(BACKSLASH)) return inside.toString('utf8');
  return JSON.parse(bytes.toString('utf8', opening, closing + 1)) as string;
}

/** Names of members and places in lists, from the outside in, e.g. `spec.containers[0].name`; cut off where it gets long. */
export function shownPath(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    path += typeof step === 'number' ? `[${step}]` : `${path === '' ? '' : '.'}${step.slice(0, SHOWN)}`;
    if (path.length > SHOWN) return `${path.slice(0, SHOWN)}...`;
  }
  return path;
}

/**
 * Most members of one object, and items of one list. Several passes go over each of them when an object is written, and
 * nothing else runs meanwhile; no list and no map that is meant to be used comes near.
 */
export const MAX_MEMBERS = 10_000;
/** A member takes this much of a text, with its comma. */
const MIN_BYTES = 2;

/**
 * Refuses a value in which an object or a list is too wide. A short text cannot hold one, and is not looked at.
 *
 * @param bytes Length of its text.
 * @throws {StatusError} RequestEntityTooLarge
 */
export function refuseWide(value: unknown, bytes: number): void {
  if (bytes >= MIN_BYTES * MAX_MEMBERS) look(value);
}

/** Recurses: how deep a body may nest is bounded where it is parsed. */
function look(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (members.length > MAX_MEMBERS) {
    const what = Array.isArray(value) ? 'a list has' : 'an object has';
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: ${what} more than ${MAX_MEMBERS} members`,
    );
  }
  for (const member of members) look(member);
}
