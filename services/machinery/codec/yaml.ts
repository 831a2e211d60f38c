import type * as yamlLibrary from 'yaml';
import type { Document, Node, Pair, Scalar } from 'yaml';
import type { Json } from '../meta/object.js';
import type { StatusError } from '../meta/status.js';
import { badRequest } from '../meta/status.js';
import {
  type BodyLimits,
  MOST_DUPLICATES,
  duplicateMembers,
  shownPath,
  BODY_LIMITS,
  decodeText,
  parseJson,
  tooDeep,
} from './json.js';
import { setOwn } from '../meta/own.js';
import { YamlThread } from './yaml-thread.js';

/** Aliases in a body, and the values that come out once they are followed: small texts can stand for huge documents. */
const MOST_ALIASES = 100;
const MOST_VALUES = 500_000;

type YamlLibrary = typeof yamlLibrary;

const OPENING_BRACE = 0x7b;

/**
 * Parses one YAML document in the core schema. Tags other than the core ones, merge keys and values that JSON does not
 * have are refused, and so are duplicate keys, unless the caller takes their paths. Most bodies that call themselves
 * YAML are JSON, and are taken as such. The parser is loaded at first use, for many processes never meet YAML.
 *
 * @param duplicates Gets the paths of duplicate keys, as of `duplicateMembers`; the last of them counts.
 * @throws {StatusError} As `parseJson`.
 */
export function parseYaml(
  bytes: Buffer,
  limits: BodyLimits = BODY_LIMITS,
  duplicates?: string[],
): Json | Promise<Json> {
  if (bytes[0] === OPENING_BRACE) {
    try {
      const value = parseJson(bytes, limits);
      duplicates?.push(...duplicateMembers(bytes, value));
      return value;
    } catch (err) {
      if (bytes.length > limits.maxYamlBytes) throw err;
    }
  }
  return parseRealYaml(bytes, limits, duplicates);
}

const parseRealYaml = async (bytes: Buffer, limits: BodyLimits, duplicates: string[] | undefined): Promise<Json> => {
  const text = decodeText(bytes, Math.min(limits.maxBytes, limits.maxYamlBytes));
  if (bytes.length > IN_PLACE_BYTES) return thread.parse(text, limits.maxDepth, limits.maxBytes, duplicates);
  return parseYamlText(await import('yaml'), text, limits.maxDepth, duplicates);
};

/** A text up to this length is parsed where it is, in some 20 ms at most; longer ones in a thread of their own. */
const IN_PLACE_BYTES = 8 * 1024;
/** One for the process: the parser takes a processor. */
const thread = new YamlThread();

/**
 * The same for text of bounded length, and for those who have the parser already, as what is read before a process
 * any text takes.
 *
 * @throws {StatusError} BadRequest. Where the text is no YAML, its cause is what the parser says of the place.
 */
export function parseYamlText(yaml: YamlLibrary, text: string, maxDepth: number, duplicates?: string[]): Json {
  const document = parseDocument(yaml, text, maxDepth);
  const walk = { yaml, document, maxDepth, anchors: new Map(), duplicates, path: [], aliases: 0, values: 0 };
  return convert(walk, document.contents, 0);
}

const refused = (why: string, cause?: unknown): StatusError => badRequest(`yaml parse error: ${why}`, cause);

function parseDocument(yaml: YamlLibrary, text: string, maxDepth: number): Document.Parsed {
  const document = yaml.parseDocument(text, {
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // The library compares each key with all before it; ours are put into a set.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error', // 'silent' would also drop every document but the first
  });
  const problem = document.errors[0] ?? document.warnings[0];
  // The parser recurses and says itself when the stack ends, which is long after our own bound.
  if (problem?.code === 'RESOURCE_EXHAUSTION') throw tooDeep(maxDepth);
  if (problem !== undefined) throw refused(problem.message.slice(0, 200), problem);
  return document;
}

interface Walk {
  readonly yaml: YamlLibrary;
  readonly document: Document.Parsed;
  readonly maxDepth: number;
  readonly anchors: Map<string, Node>;
  /** Undefined: duplicate keys are refused. */
  readonly duplicates: string[] | undefined;
  readonly path: (string | number)[];
  aliases: number;
  values: number;
}

function convert(walk: Walk, node: unknown, depth: number): Json {
  if (depth > walk.maxDepth) throw tooDeep(walk.maxDepth);
  if (++walk.values > MOST_VALUES) throw refused(`more than ${MOST_VALUES} values`);
  if (node === null || node === undefined) return null;
  const { yaml } = walk;
  if (yaml.isAlias(node)) return convert(walk, follow(walk, node.source), depth + 1);
  if (yaml.isNode(node) && 'anchor' in node && typeof node.anchor === 'string') walk.anchors.set(node.anchor, node);
  if (yaml.isScalar(node)) return scalar(node);
  if (yaml.isMap(node)) return mapping(walk, node.items, depth);
  if (yaml.isSeq(node)) return node.items.map((item, i) => convertAt(walk, i, item, depth + 1));
  throw refused('unknown kind of node');
}

function convertAt(walk: Walk, step: string | number, node: unknown, depth: number): Json {
  walk.path.push(step);
  const value = convert(walk, node, depth);
  walk.path.pop();
  return value;
}

/** An anchor is known from its node on, so an alias inside its own anchor is a cycle: it ends at the depth bound. */
function follow(walk: Walk, name: string): Node {
  if (++walk.aliases > MOST_ALIASES) throw refused(`more than ${MOST_ALIASES} aliases`);
  const target = walk.anchors.get(name);
  if (target === undefined) throw refused(`unknown anchor '${name.slice(0, 64)}' referenced`);
  return target;
}

function scalar(node: Scalar): Json {
  const { value } = node;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw refused(`JSON has no value for ${(node.source ?? typeof value).slice(0, 64)}`);
}

function mapping(walk: Walk, items: readonly Pair[], depth: number): Json {
  const out = {};
  const seen = new Set<string>();
  for (const pair of items) {
    const key = keyOf(walk, pair.key, depth + 1);
    if (seen.has(key)) reportDuplicate(walk, key);
    seen.add(key);
    setOwn(out, key, convertAt(walk, key, pair.value, depth + 1));
  }
  return out;
}

function reportDuplicate({ duplicates, path }: Walk, key: string): void {
  if (duplicates === undefined) throw refused(`key "${key.slice(0, 64)}" already set in map`);
  if (duplicates.length >= MOST_DUPLICATES) return;
  const shown = shownPath([...path, key]);
  if (!duplicates.includes(shown)) duplicates.push(shown);
}

/** Numbers, booleans and null become their text, as JSON has no other keys. */
function keyOf(walk: Walk, key: unknown, depth: number): string {
  const value = convert(walk, key, depth);
  if (typeof value === 'object' && value !== null) throw refused('a key is a map or a list');
  return String(value);
}
