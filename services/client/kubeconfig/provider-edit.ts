import { isDeepStrictEqual } from 'node:util';
import type { Node, Pair, YAMLMap } from 'yaml';
import { getOwn, isJsonObject, setOwn } from '../../machinery/meta/own.js';
import { ClientConfigError } from './member.js';
import { parseConfigText, yamlParser } from './parse.js';

export interface ProviderEdit {
  /** Named in errors. */
  readonly file: string;
  readonly user: string;
  /** Settings of the user's auth provider. */
  readonly changes: ReadonlyMap<string, string>;
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * The text of a client configuration file with other settings of a user's auth provider. What is not changed keeps its
 * letters, comments and order, in YAML as in JSON; what would come out is read again before it is given back.
 *
 * @throws {ClientConfigError} When the file does not have the user, or writes its settings in a way that cannot be changed
 * in place, such as an alias.
 */
export function withProviderConfig(bytes: Buffer, { file, user, changes }: ProviderEdit): string {
  const refuse = (): never => {
    throw new ClientConfigError(`${file}: the settings of an auth provider cannot be changed in place`);
  };
  const text = bytes.toString('utf8');
  const wanted = parseConfigText(bytes, file);
  const index = changeValue(wanted, user, changes) ?? refuse();
  const map = settingsNode(text, index) ?? refuse();
  const splices = [...changes].map(([name, value]) => spliceFor(map, text, name, value) ?? refuse());
  const changed = spliced(text, splices);
  return isDeepStrictEqual(parseConfigText(Buffer.from(changed), file), wanted) ? changed : refuse();
}

/** Changes the parsed value. @returns The index of the user, undefined when the file has no such settings. */
function changeValue(root: unknown, user: string, changes: ReadonlyMap<string, string>): number | undefined {
  const users = isJsonObject(root) ? getOwn(root, 'users') : undefined;
  if (!Array.isArray(users)) return undefined;
  const index = users.findIndex((entry) => isJsonObject(entry) && getOwn(entry, 'name') === user);
  const settings = ['user', 'auth-provider', 'config'].reduce<unknown>(
    (at, name) => (isJsonObject(at) ? getOwn(at, name) : undefined),
    users[index],
  );
  if (!isJsonObject(settings)) return undefined;
  for (const [name, value] of changes) setOwn(settings, name, value);
  return index;
}

function settingsNode(text: string, index: number): YAMLMap | undefined {
  const yaml = yamlParser();
  const document = yaml.parseDocument(text, { schema: 'core', merge: false, uniqueKeys: false });
  const node = document.getIn(['users', index, 'user', 'auth-provider', 'config'], true);
  return yaml.isMap(node) ? node : undefined;
}

/** JSON's strings are YAML's as well. */
function spliceFor(map: YAMLMap, text: string, name: string, value: string): Splice | undefined {
  const yaml = yamlParser();
  const pairs = map.items as Pair<Node, Node | null>[];
  const pair = pairs.find(({ key }) => yaml.isScalar(key) && key.value === name);
  const written = JSON.stringify(value);
  if (pair === undefined) return insertion(map, text, `${JSON.stringify(name)}: ${written}`);
  const range = pair.value?.range;
  if (!range) return undefined;
  const [from, to] = range;
  return { from, to, text: text.slice(from, to).endsWith('\n') ? `${written}\n` : written };
}

/** Before the first setting: after a comma within braces, else on a line of its own at the same column. */
function insertion(map: YAMLMap, text: string, setting: string): Splice | undefined {
  const first = (map.items as Pair<Node>[])[0]?.key.range?.[0];
  if (first === undefined) return undefined;
  const column = first - (text.lastIndexOf('\n', first - 1) + 1);
  return { from: first, to: first, text: map.flow ? `${setting}, ` : `${setting}\n${' '.repeat(column)}` };
}

/** From the end on, so that what is before keeps its place. */
function spliced(text: string, splices: readonly Splice[]): string {
  const fromTheEnd = [...splices].sort((a, b) => b.from - a.from);
  return fromTheEnd.reduce((rest, { from, to, text: by }) => rest.slice(0, from) + by + rest.slice(to), text);
}
