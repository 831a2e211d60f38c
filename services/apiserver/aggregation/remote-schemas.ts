import { isJsonObject } from '../../machinery/meta/own.js';
import type { RemoteSpec } from '../registry/remote-api.js';
import type { VersionName } from './remote-discovery.js';

type Members = Readonly<Record<string, unknown>>;

/** Deeper documents are no schemas. */
const MAX_DEPTH = 100;
const HASH = /^[\w+/=.~-]{1,256}$/;
const DEFINITIONS = '#/definitions/';

/** The hash of the document of a version in an index of version 3; undefined: there is none that can be told. */
export function hashIn(index: unknown, path: string): string | undefined {
  const paths = isJsonObject(index) && isJsonObject(index['paths']) ? index['paths'] : {};
  const found = Object.hasOwn(paths, path) ? paths[path] : undefined;
  const url = isJsonObject(found) ? found['serverRelativeURL'] : undefined;
  if (typeof url !== 'string') return undefined;
  const mark = url.indexOf('?');
  const hash = mark < 0 ? '' : (new URLSearchParams(url.slice(mark)).get('hash') ?? '');
  return HASH.test(hash) ? hash : undefined;
}

/**
 * What a document of version 2 says of one version: its paths, and the definitions that they lead to. What it says of other
 * groups, which are not its own, is left out.
 *
 * @returns undefined: nothing. @throws {Error} For a document that is none.
 */
export function specOf(document: unknown, { group, version }: VersionName): RemoteSpec | undefined {
  if (!isJsonObject(document)) throw new Error('it is no document of OpenAPI');
  const prefix = `/apis/${group}/${version}/`;
  const all = isJsonObject(document['paths']) ? document['paths'] : {};
  const paths = new Map(
    Object.entries(all).filter(([path]) => path === prefix.slice(0, -1) || path.startsWith(prefix)),
  );
  const definitions = isJsonObject(document['definitions']) ? document['definitions'] : {};
  const found = reached([...paths.values(), ...kindsOf(definitions, { group, version })], definitions);
  if (paths.size === 0 && found.size === 0) return undefined;
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(found) };
}

/** References to the kinds of a version: tools look for them by their extension. */
function kindsOf(definitions: Members, of: VersionName): readonly object[] {
  return Object.entries(definitions).flatMap(([name, schema]) => {
    const kinds = Object.entries(isJsonObject(schema) ? schema : {})
      .filter(([member]) => member.endsWith('-group-version-kind'))
      .flatMap(([, value]) => (Array.isArray(value) ? (value as unknown[]) : []));
    const isOwn = kinds.some((it) => isJsonObject(it) && it['group'] === of.group && it['version'] === of.version);
    return isOwn ? [{ $ref: `${DEFINITIONS}${name}` }] : [];
  });
}

/** The definitions that values refer to, and those that these refer to. @throws {Error} */
function reached(values: readonly unknown[], definitions: Members): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const waiting = [...values];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const name of references(value, MAX_DEPTH)) {
      if (found.has(name) || !Object.hasOwn(definitions, name)) continue;
      found.set(name, definitions[name]);
      waiting.push(definitions[name]);
    }
  }
  return found;
}

function* references(value: unknown, depth: number): Generator<string> {
  if (depth < 0) throw new Error('it is nested too deep');
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref' && typeof member === 'string' && member.startsWith(DEFINITIONS)) {
      yield member.slice(DEFINITIONS.length);
    } else {
      yield* references(member, depth - 1);
    }
  }
}
