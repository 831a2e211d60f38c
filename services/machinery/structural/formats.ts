import { isIP, isIPv4, isIPv6 } from 'node:net';
import { dns1123Label, dns1123Subdomain } from '../meta/metadata.js';

type Accepts = (text: string) => boolean;

const matches =
  (expression: RegExp): Accepts =>
  (text) =>
    expression.test(text);

/*
 * The expressions below take time that is linear in the text: none of them repeats what repeats.
 */
const UUID = (third: string, fourth: string): Accepts =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'iu'));
const HEX4 = '[0-9a-f]{4}';

/**
 * The formats of texts that are looked at, without their dashes (`date-time` is `datetime`); other formats say nothing.
 * Source: the formats that custom resource definitions may name, as of 1.24, and the two of names that came with 1.34.
 */
const TEXT_FORMATS: ReadonlyMap<string, Accepts> = new Map<string, Accepts>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/iu)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => isIPv4(text.replaceAll(/(^|\.)0+(?=\d)/gu, '$1'))],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', UUID(HEX4, HEX4)],
  ['uuid3', UUID('3[0-9a-f]{3}', HEX4)],
  ['uuid4', UUID('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['uuid5', UUID('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/u)],
  ['hexcolor', matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/u)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => /^[A-Za-z0-9+/]+={0,2}$/u.test(text) && text.length % 4 === 0],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => dns1123Label(text).length === 0],
  ['k8slongname', (text) => dns1123Subdomain(text).length === 0],
]);

/** Formats of numbers, and the bounds they set. */
const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/** Whether a format means something for values of the type; '' for any type. */
export function isKnownFormat(format: string, type: string): boolean {
  const ofNumbers = NUMBER_FORMATS.get(type);
  if (ofNumbers !== undefined) return ofNumbers.includes(format);
  return (type === '' || type === 'string') && TEXT_FORMATS.has(format.replaceAll('-', ''));
}

/** Whether a text is of that format; a format that is not known takes all. */
export const isOfFormat = (format: string, text: string): boolean =>
  TEXT_FORMATS.get(format.replaceAll('-', ''))?.(text) ?? true;

/** An absolute URI, or an absolute path. */
function isRequestUri(text: string): boolean {
  if (text === '' || /[\u0000-\u0020\u007f]/u.test(text)) return false;
  if (text.startsWith('/') || text === '*') return !/%(?![0-9a-fA-F]{2})/u.test(text);
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/u.test(text) && (URL.canParse(text) || !text.includes('//'));
}

/** One address, with or without a name before it. RFC 5322, without comments and folded lines. */
function isEmail(text: string): boolean {
  const inBrackets = /^[^<>]*<([^<>]*)>$/u.exec(text.trim());
  const address = inBrackets?.[1] ?? text.trim();
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (at < 1 || domain === '') return false;
  const isQuoted = local.length > 2 && local.startsWith('"') && local.endsWith('"');
  return (isQuoted || isDotAtom(local)) && (isDotAtom(domain) || /^\[[^[\]\\]+\]$/u.test(domain));
}

const isDotAtom = (text: string): boolean =>
  text.split('.').every((part) => /^[a-zA-Z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\u{10ffff}]+$/u.test(part));

/** Labels of letters, digits, symbols and inner dashes; the last of several has letters alone, two at least. RFC 1034, 1123. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  const isLabel = (label: string): boolean =>
    /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]*[a-zA-Z0-9\p{S}\p{L}])?$/u.test(label);
  const last = labels.pop() ?? '';
  if (labels.length === 0) return isLabel(last) && !last.includes('--');
  return labels.every(isLabel) && /^[a-zA-Z\p{L}]{2,63}$/u.test(last);
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash).replaceAll(/(^|\.)0+(?=\d)/gu, '$1');
  const length = text.slice(slash + 1);
  const family = isIP(address);
  return (
    family !== 0 && !address.includes('%') && /^\d{1,3}$/u.test(length) && Number(length) <= (family === 4 ? 32 : 128)
  );
}

/** 6, 8 or 20 bytes in hexadecimal, between colons, dashes, or dots of four digits. */
function isMac(text: string): boolean {
  for (const [separator, digits] of [
    [':', 2],
    ['-', 2],
    ['.', 4],
  ] as const) {
    const parts = text.split(separator);
    if (parts.length < 2) continue;
    const bytes = (parts.length * digits) / 2;
    return [6, 8, 20].includes(bytes) && parts.every((part) => part.length === digits && /^[0-9a-fA-F]+$/u.test(part));
  }
  return false;
}

const withoutSpaces = (text: string): string => text.replaceAll(/[\s-]+/gu, '');

function isIsbn10(text: string): boolean {
  const digits = withoutSpaces(text);
  if (!/^\d{9}[\dX]$/u.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutSpaces(text);
  if (!/^\d{13}$/u.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, i) => total + (i % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return sum % 10 === 0;
}

const CARDS =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/u;

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D+/gu, '');
  if (!CARDS.test(digits)) return false;
  const doubled = (digit: number): number => (digit < 5 ? 2 * digit : 2 * digit - 9);
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, it, i) => total + (i % 2 === 0 ? Number(it) : doubled(Number(it))), 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(([^()]*)\)$/u.exec(text)?.[1]?.split(',') ?? [];
  return parts.length === 3 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/u.test(part.trim()) && Number(part) <= 255);
}

/** `full-date` of RFC 3339. */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/u.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** `date-time` of RFC 3339; letters in either case. */
function isDateTime(text: string): boolean {
  const parts = /^([^Tt]+)[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/u.exec(text);
  if (parts === null || !isDate(parts[1] ?? '')) return false;
  const [hours, minutes, seconds, offsetHours, offsetMinutes] = parts
    .slice(2)
    .map((it: string | undefined) => Number(it ?? 0));
  return (
    (hours ?? 0) < 24 &&
    (minutes ?? 0) < 60 &&
    (seconds ?? 0) <= 60 &&
    (offsetHours ?? 0) < 24 &&
    (offsetMinutes ?? 0) < 60
  );
}

const PLAIN_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/u;
/** Whole, or as the beginning of the unit where the last of a line is that. */
const UNITS = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
] as const;

/** `1h30m`, or numbers with units in words anywhere in the text, e.g. `22 seconds`. */
function isDuration(text: string): boolean {
  if (PLAIN_DURATION.test(text)) return true;
  const found = [...text.matchAll(/\d+\s*([A-Za-zµ]+)/gu)];
  return found.some(([, unit = '']) => isUnit(unit.toLowerCase()));
}

const isUnit = (unit: string): boolean =>
  UNITS.some((names) => names.includes(unit as never) || unit.startsWith(names.at(-1) ?? unit));
