import { createRequire } from 'node:module';
import { isIPv6 } from 'node:net';

/* Structures in DER (X.690), read and written by node-forge. */

/** One element: a number for its kind, and its bytes (one per character) or the elements in it. */
export interface Element {
  readonly tagClass: number;
  readonly type: number;
  readonly constructed: boolean;
  readonly value: string | readonly Element[];
}

/** The parts of the library's ASN.1 interface that are used. Byte strings have one byte per character. */
interface Asn1 {
  create(tagClass: number, type: number, constructed: boolean, value: string | readonly Element[]): Element;
  fromDer(bytes: string, options: typeof READING): Element;
  toDer(element: Element): { getBytes(): string };
  oidToDer(oid: string): { getBytes(): string };
  derToOid(bytes: string): string;
  dateToUtcTime(date: Date): string;
  dateToGeneralizedTime(date: Date): string;
}

/** The bytes are not what they should be. */
export class DerProblem extends Error {
  override readonly name = 'DerProblem';
}

/** First bytes of elements. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;
/** The bit of the first byte that says that there are elements within. */
export const CONSTRUCTED = 0x20;
/** The first byte of an element that is number `n` of those that a structure may have. */
export const context = (n: number, isConstructed = true): number => (isConstructed ? 0xa0 : 0x80) | n;

/** A request for a thousand names has about half of this. */
const MAX_BYTES = 64 * 1024;
const READING = { strict: true, parseAllBytes: true, decodeBitStrings: false, maxDepth: 32 };
const MAX_LENGTH_BYTES = 4;
const TOO_FEW = 'Too few bytes to parse DER.';
/** The library's words, and ours; the others are about lengths. */
const PROBLEMS: ReadonlyMap<string, string> = new Map([
  [TOO_FEW, 'asn1: syntax error: sequence truncated'],
  ['Too few bytes to read ASN.1 value.', 'asn1: syntax error: data truncated'],
  ['Unparsed DER bytes remain after ASN.1 parsing.', 'asn1: syntax error: trailing data'],
  ['ASN.1 parsing error: Max depth exceeded.', 'asn1: structure error: nested too deep'],
]);

const load = createRequire(import.meta.url);
let loaded: Asn1 | undefined;
/** Loaded when first needed, and without the rest of the library: most servers never need it. */
const asn1 = (): Asn1 => (loaded ??= load('node-forge/lib/asn1.js') as Asn1);

/**
 * Reads one element that fills `bytes`, 64 KB and 32 levels at most.
 *
 * @throws {DerProblem} Also for BER that is not DER: what is encoded again gives the same bytes.
 */
export function parseDer(bytes: Buffer): Element {
  if (bytes.length > MAX_BYTES) throw new DerProblem('asn1: structure error: data too large');
  const text = bytes.toString('latin1');
  const element = read(text);
  if (asn1().toDer(element).getBytes() !== text) throw new DerProblem('asn1: structure error: not in DER');
  return element;
}

function read(text: string): Element {
  try {
    return asn1().fromDer(text, READING);
  } catch (err) {
    const { message, requested = 0 } = err as { readonly message: string; readonly requested?: number };
    const isLongLength = message === TOO_FEW && requested > MAX_LENGTH_BYTES;
    throw new DerProblem(
      (isLongLength ? undefined : PROBLEMS.get(message)) ?? 'asn1: structure error: length too large',
    );
  }
}

export const encodeDer = (element: Element): Buffer => Buffer.from(asn1().toDer(element).getBytes(), 'latin1');

export const tagOf = ({ tagClass, constructed, type }: Element): number =>
  tagClass | (constructed ? CONSTRUCTED : 0) | type;

/** @throws {DerProblem} When `element` is missing, or another one. */
export function expectTag(element: Element | undefined, tag: number): Element {
  if (element === undefined) throw new DerProblem('asn1: syntax error: sequence truncated');
  if (tagOf(element) !== tag) throw new DerProblem("asn1: structure error: tags don't match");
  return element;
}

/** @throws {DerProblem} When `element` is missing, or another one. @param tag Of a kind that holds elements. */
export const membersOf = (element: Element | undefined, tag: number = TAG.sequence): readonly Element[] =>
  expectTag(element, tag).value as readonly Element[];

/** @throws {DerProblem} When `element` is missing, or another one. @param tag Of a kind that holds bytes. */
export const bytesOf = (element: Element | undefined, tag: number): Buffer =>
  Buffer.from(expectTag(element, tag).value as string, 'latin1');

/** One of at most 32 bits that is not negative. @throws {DerProblem} */
export function integerOf(element: Element | undefined): number {
  const bytes = bytesOf(element, TAG.integer);
  if (bytes.length === 0) throw new DerProblem('asn1: structure error: empty integer');
  if (bytes.length > 4) throw new DerProblem('asn1: structure error: integer too large');
  return bytes.readUIntBE(0, bytes.length);
}

/** In dots; empty for one that does not fit (arcs of 2^32 and more) or is not encoded as it should be. */
export function oidOf(element: Element | undefined): string {
  const { value } = expectTag(element, TAG.oid) as { readonly value: string };
  try {
    const oid = asn1().derToOid(value);
    return asn1().oidToDer(oid).getBytes() === value ? oid : '';
  } catch {
    return '';
  }
}

const make = (tag: number, value: string | readonly Element[]): Element =>
  asn1().create(tag & 0xc0, tag & 0x1f, (tag & CONSTRUCTED) !== 0, value);

export const constructed = (tag: number, members: readonly Element[]): Element => make(tag, members);
export const sequence = (...members: readonly Element[]): Element => make(TAG.sequence, members);
export const primitive = (tag: number, bytes: Uint8Array): Element => make(tag, Buffer.from(bytes).toString('latin1'));
export const objectId = (oid: string): Element => make(TAG.oid, asn1().oidToDer(oid).getBytes());
/** @param unused How many bits of the last byte do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Element =>
  primitive(TAG.bitString, Buffer.concat([Buffer.of(unused), bytes]));

/** In whole seconds. RFC 5280, 4.1.2.5: years before 2050 have two digits. */
export const time = (date: Date): Element =>
  date.getUTCFullYear() < 2050
    ? make(TAG.utcTime, asn1().dateToUtcTime(date))
    : make(TAG.generalizedTime, asn1().dateToGeneralizedTime(date));

/**
 * An address in the order of the network. The library reads no IPv6 that ends like IPv4, so it is brought to the usual
 * form; zones go.
 */
export function addressBytes(ip: string): Buffer {
  const { bytesFromIP } = load('node-forge/lib/util.js') as { bytesFromIP: (ip: string) => string };
  return Buffer.from(
    bytesFromIP(isIPv6(ip) ? new URL(`http://[${ip.replace(/%.*/, '')}]`).hostname.slice(1, -1) : ip),
    'latin1',
  );
}
