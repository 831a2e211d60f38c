import { isDeepStrictEqual } from 'node:util';
import type { Work } from '../../machinery/work/work.js';
import type { RemoteSpec } from '../registry/remote-api.js';

type Members = Readonly<Record<string, unknown>>;

/** Where references to definitions lead in OpenAPI 2. */
const DEFINITIONS = '#/definitions/';

/**
 * A document of version 2 with what other servers tell of theirs. Paths that are there already stay; a definition that is
 * there already, and says something else, comes under another name. One server is a part of the work.
 *
 * @param written Makes a document that is nobody else's.
 */
export function* withSpecs(written: Work<object>, specs: readonly RemoteSpec[]): Work<object> {
  const document = (yield* written) as { readonly paths: Members; readonly definitions: Members };
  if (specs.length === 0) return document;
  const paths = new Map(Object.entries(document.paths));
  const definitions = new Map(Object.entries(document.definitions));
  for (const spec of specs) {
    const names = namesOf(spec, definitions);
    for (const [name, schema] of Object.entries(spec.definitions)) {
      const own = names.get(name) ?? name;
      if (!definitions.has(own)) definitions.set(own, renamed(schema, names));
    }
    for (const [path, item] of Object.entries(spec.paths)) {
      if (!paths.has(path)) paths.set(path, renamed(item, names));
    }
    yield;
  }
  return { ...document, paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions) };
}

/** New names for definitions of which there are others. */
function namesOf({ definitions }: RemoteSpec, taken: ReadonlyMap<string, unknown>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(definitions)) {
    if (!taken.has(name) || isDeepStrictEqual(plain(taken.get(name)), schema)) continue;
    let n = 2;
    while (taken.has(`${name}_v${n}`) || Object.hasOwn(definitions, `${name}_v${n}`)) n++;
    names.set(name, `${name}_v${n}`);
  }
  return names;
}

/** Without members that JSON leaves out. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** The same value with references under the new names. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, (name === '$ref' && referenced(member, names)) || renamed(member, names)]), // prettier-ignore
  );
}

function referenced(value: unknown, names: ReadonlyMap<string, string>): string | undefined {
  if (typeof value !== 'string' || !value.startsWith(DEFINITIONS)) return undefined;
  const name = names.get(value.slice(DEFINITIONS.length));
  return name === undefined ? undefined : `${DEFINITIONS}${name}`;
}
