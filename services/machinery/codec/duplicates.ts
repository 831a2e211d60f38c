import type { Json } from '../meta/object.js';
import { isJsonObject } from '../meta/own.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
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
