import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  qualifiedName,
  type TextRule,
} from '../../meta/metadata.js';
import { isOfFormat } from '../../structural/formats.js';
import type { Library, Run } from '../functions.js';
import { Optional, type Opaque, type Value } from '../values.js';

const FORMAT = 'kubernetes.NamedFormat';

/** What a name begins with, to which something is added: it may end with a dash. */
const ofPrefix =
  (rule: TextRule): TextRule =>
  (text) =>
    rule(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const ofFormat =
  (format: string, problem: string): TextRule =>
  (text) =>
    isOfFormat(format, text) ? [] : [problem];

/** What is asked of texts, and as how long a regular expression each counts. */
const FORMATS: ReadonlyMap<string, { readonly rule: TextRule; readonly length: number }> = new Map([
  ['dns1123Label', { rule: dns1123Label, length: 30 }],
  ['dns1123Subdomain', { rule: dns1123Subdomain, length: 60 }],
  ['dns1035Label', { rule: dns1035Label, length: 30 }],
  ['qualifiedName', { rule: qualifiedName, length: 60 }],
  ['dns1123LabelPrefix', { rule: ofPrefix(dns1123Label), length: 30 }],
  ['dns1123SubdomainPrefix', { rule: ofPrefix(dns1123Subdomain), length: 60 }],
  ['dns1035LabelPrefix', { rule: ofPrefix(dns1035Label), length: 30 }],
  ['labelValue', { rule: labelValue, length: 40 }],
  ['uri', { rule: ofFormat('uri', 'invalid URI for request'), length: 1103 }],
  ['uuid', { rule: ofFormat('uuid', 'does not match the UUID format'), length: 80 }],
  ['byte', { rule: ofFormat('byte', 'invalid base64'), length: 84 }],
  ['date', { rule: ofFormat('date', 'invalid date'), length: 120 }],
  ['datetime', { rule: ofFormat('date-time', 'invalid datetime'), length: 120 }],
]);

const formatOf = (name: string): Opaque => ({ opaque: FORMAT, key: name });

const validate: Run = ([format, text], meter) => {
  const it = FORMATS.get((format as Opaque).key);
  const value = text as string;
  if (it === undefined) return new Optional(undefined);
  meter.spend((value.length / 10 + 1) * (it.length / 4 + 1));
  const problems = it.rule(value);
  return new Optional(problems.length === 0 ? undefined : problems);
};

/** Formats of texts by their names. */
export const NAMED_FORMATS: Library = {
  ...Object.fromEntries(
    [...FORMATS.keys()].map((name): [string, Run] => [`"format".${name}(): ${FORMAT}`, (): Value => formatOf(name)]),
  ),
  [`"format".named(string): optional<${FORMAT}>`]: ([name]) =>
    new Optional(FORMATS.has(name as string) ? formatOf(name as string) : undefined),
  [`${FORMAT}.validate(string): optional<list<string>>`]: validate,
};
