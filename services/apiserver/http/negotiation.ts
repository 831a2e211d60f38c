import { StatusError } from '../../machinery/meta/status.js';
import { CLIENT_WORDS } from '../../machinery/vocabulary/vocabulary.js';

/** A form that every answer can take. */
export type AnswerType = 'application/json' | 'application/yaml';
const ANSWER_TYPES: readonly AnswerType[] = ['application/json', 'application/yaml'];

/** One entry of an Accept header. */
export interface MediaRange {
  /** e.g. `application/json`, `application/*`, `*\/*`; lower case. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const MAX_RANGES = 32;
/** Clients send the same few headers all the time. */
const KEPT_HEADERS = 256;
/** Longer ones are read each time: few clients send them, and what is kept must not be theirs to choose. */
const KEPT_LENGTH = 1_024;
const kept = new Map<string, readonly MediaRange[]>();

/** The ranges of an Accept header, the most wanted first. */
export function mediaRanges(header: string | undefined): readonly MediaRange[] {
  const text = header === undefined || header.trim() === '' ? '*/*' : header;
  const known = kept.get(text);
  if (known !== undefined) return known;
  const parsed = text
    .split(',', MAX_RANGES)
    .map(parseRange)
    .filter((r) => r.quality > 0)
    .sort((a, b) => b.quality - a.quality);
  if (text.length > KEPT_LENGTH) return parsed;
  if (kept.size >= KEPT_HEADERS) kept.clear();
  kept.set(text, parsed);
  return parsed;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((p): [string, string] => {
      const eq = p.indexOf('=');
      return eq < 0 ? [p.toLowerCase(), ''] : [p.slice(0, eq).toLowerCase().trim(), p.slice(eq + 1).trim()];
    }),
  );
  const q = Number(parameters.get('q') ?? '1');
  parameters.delete('q');
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(q) ? Math.min(1, Math.max(0, q)) : 0 };
}

/** The concrete type that `range` takes first; undefined when none. */
export function firstMatch<T extends string>(range: MediaRange, offered: readonly T[]): T | undefined {
  if (range.type === '*/*') return offered[0];
  if (range.type.endsWith('/*')) {
    const start = range.type.slice(0, -1);
    return offered.find((type) => type.startsWith(start));
  }
  return offered.find((type) => type === range.type);
}

/** Which part of an object is shown, and how. */
export type ViewName = 'object' | 'metadata' | 'table';

/** How to answer a request about objects. */
export interface Form {
  readonly view: ViewName;
  /** The meta group of a table or partial object, in the client's own word; '' for the object itself. */
  readonly apiVersion: string;
  readonly encoding: 'json' | 'yaml' | 'protobuf';
  /** The media type to answer with; of Protobuf the one that the client named. */
  readonly type: string;
}

/** The media types that an answer can have. */
export interface Offer {
  readonly of: 'object' | 'list' | 'watch';
  /** Not every type has a form in Protobuf; its metadata always has. */
  readonly protobuf: boolean;
  /** There is nothing to show but the object itself: it is no thing that has a name and a place. */
  readonly whole?: boolean;
}

const ENCODINGS: ReadonlyMap<string, Form['encoding']> = new Map<string, Form['encoding']>([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ...CLIENT_WORDS.protobufMediaTypes.map((type): [string, 'protobuf'] => [type, 'protobuf']),
]);
const MEDIA_TYPES: readonly string[] = [...ENCODINGS.keys()];
const PARTIAL_KINDS: Readonly<Record<Offer['of'], string>> = {
  object: 'PartialObjectMetadata',
  list: 'PartialObjectMetadataList',
  watch: 'PartialObjectMetadata',
};
/** Versions of the meta group that have tables and partial objects. */
const VIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];
const META_GROUPS: readonly string[] = CLIENT_WORDS.metaGroups;

/**
 * The first form in the client's order that can be had.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiateForm(accept: string | undefined, offer: Offer): Form {
  const question = `${offer.of} ${String(offer.protobuf)} ${String(offer.whole)} ${accept ?? ''}`;
  const known = keptForms.get(question);
  if (known !== undefined) return known;
  for (const range of mediaRanges(accept)) {
    const form = formFor(range, offer);
    if (form === undefined) continue;
    if (keptForms.size >= KEPT_HEADERS) keptForms.clear();
    if (question.length <= KEPT_LENGTH) keptForms.set(question, form);
    return form;
  }
  throw notAcceptable(supported(offer));
}
const keptForms = new Map<string, Form>();

function formFor(range: MediaRange, offer: Offer): Form | undefined {
  const { parameters } = range;
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && stream !== 'watch') return undefined;
  const view = viewOf(parameters, offer);
  if (view === undefined || (offer.whole === true && view !== 'object')) return undefined;
  const apiVersion = view === 'object' ? '' : `${parameters.get('g') ?? ''}/${parameters.get('v') ?? ''}`;
  const type = firstMatch(range, MEDIA_TYPES.filter((t) => canEncode(ENCODINGS.get(t), view, offer))); // prettier-ignore
  const encoding = type === undefined ? undefined : ENCODINGS.get(type);
  return type === undefined || encoding === undefined ? undefined : { view, apiVersion, encoding, type };
}

/** undefined for an unknown view. */
function viewOf(parameters: MediaRange['parameters'], offer: Offer): ViewName | undefined {
  const [as, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name));
  if (as === undefined && group === undefined && version === undefined) return 'object';
  if (!META_GROUPS.includes(group ?? '') || !VIEW_VERSIONS.includes(version ?? '')) return undefined;
  if (as === 'Table') return 'table';
  return as === PARTIAL_KINDS[offer.of] ? 'metadata' : undefined;
}

/** Tables have no form in Protobuf, and YAML has no way to tell where an event of a watch ends. */
function canEncode(encoding: Form['encoding'] | undefined, view: ViewName, offer: Offer): boolean {
  if (encoding === 'yaml') return offer.of !== 'watch';
  if (encoding === 'protobuf') return view === 'metadata' || (view === 'object' && offer.protobuf);
  return true;
}

function supported(offer: Offer): readonly string[] {
  const types = MEDIA_TYPES.filter((type) => canEncode(ENCODINGS.get(type), 'object', offer));
  return offer.of === 'watch' ? types.map((type) => `${type};stream=watch`) : types;
}

/**
 * JSON or YAML, for documents that have no other form and no other view: what the client puts first, or else JSON when it
 * accepts Protobuf.
 *
 * @throws {StatusError} NotAcceptable, also for who accepts nothing but tables or metadata
 */
export const negotiate = (accept: string | undefined): AnswerType => plainType(mediaRanges(accept));

/** The same for answers that are no objects, such as the version: it does not matter which view is asked for. */
export const negotiatePlain = (accept: string | undefined): AnswerType =>
  plainType(mediaRanges(accept).map((range) => ({ ...range, parameters: NO_PARAMETERS })));
const NO_PARAMETERS: MediaRange['parameters'] = new Map();

const PLAIN: Offer = { of: 'object', protobuf: false, whole: true };
const PLAIN_OR_PROTOBUF: Offer = { ...PLAIN, protobuf: true };

function plainType(ranges: readonly MediaRange[]): AnswerType {
  for (const range of ranges) {
    const type = formFor(range, PLAIN)?.type;
    const answer = ANSWER_TYPES.find((known) => known === type);
    if (answer !== undefined) return answer;
  }
  if (ranges.some((range) => formFor(range, PLAIN_OR_PROTOBUF) !== undefined)) return 'application/json';
  throw notAcceptable(MEDIA_TYPES);
}

export const notAcceptable = (offered: readonly string[]): StatusError =>
  new StatusError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
