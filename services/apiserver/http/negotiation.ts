import { StatusError } from '../../machinery/meta/status.js';

/** A form that answers can take. */
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

/** A request for another view of the object (`as=Table`): a server that lacks it goes on to the next range. */
const wantsAnotherView = (range: MediaRange): boolean => range.parameters.has('as');

/**
 * How to answer a request about objects.
 *
 * @throws {StatusError} NotAcceptable
 */
export function negotiate(accept: string | undefined): AnswerType {
  for (const range of mediaRanges(accept)) {
    const type = wantsAnotherView(range) ? undefined : firstMatch(range, ANSWER_TYPES);
    if (type !== undefined) return type;
  }
  throw notAcceptable(ANSWER_TYPES);
}

export const notAcceptable = (offered: readonly string[]): StatusError =>
  new StatusError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
