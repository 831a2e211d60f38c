import { dirname, resolve } from 'node:path';
import { MAX_FILE_BYTES, readBounded } from './bounded-file.js';
import { Member } from './member.js';
import { parseConfigText } from './parse.js';

/** Something that is in the file itself, in Base64, or in another one. Empty texts: nowhere. */
export interface Source {
  readonly data: string;
  /** Absolute. */
  readonly file: string;
  /** For errors. */
  readonly dataMember: Member;
}

export interface ClusterEntry {
  /** Of the whole entry, for errors. */
  readonly member: Member;
  readonly server: string;
  readonly authority: Source;
  readonly serverName: string;
  readonly insecure: boolean;
  readonly proxyUrl: string;
  readonly disableCompression: boolean;
  /** By name; the values are anything. */
  readonly extensions: ReadonlyMap<string, unknown>;
}

export interface ExecEntry {
  readonly member: Member;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  /** As written. */
  readonly interactiveMode: string;
}

export interface AuthProviderEntry {
  readonly member: Member;
  readonly name: string;
  readonly config: ReadonlyMap<string, string>;
}

export interface UserEntry {
  readonly member: Member;
  readonly certificate: Source;
  readonly key: Source;
  readonly token: string;
  /** Absolute, or empty. */
  readonly tokenFile: string;
  readonly username: string;
  readonly password: string;
  readonly as: string;
  readonly asUid: string;
  readonly asGroups: readonly string[];
  readonly asExtra: ReadonlyMap<string, readonly string[]>;
  readonly exec: ExecEntry | undefined;
  readonly authProvider: AuthProviderEntry | undefined;
}

export interface ContextEntry {
  readonly member: Member;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

/** A client configuration file (spec 2, 4.3 and 5.8). Its types are checked, its references are not. */
export interface ClientConfig {
  readonly file: string;
  /** The directory of its relative paths; absolute. */
  readonly directory: string;
  readonly root: Member;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly currentContext: string;
}

/**
 * Reads a client configuration file, YAML or JSON. Unknown members are left alone, as other clients do.
 *
 * @throws {ClientConfigError} In one line that names the file and the member; it quotes no value of a credential.
 */
export function readClientConfig(file: string): ClientConfig {
  return clientConfig(parseConfigText(readBounded(file, MAX_FILE_BYTES), file), file);
}

/** The same for a parsed file. */
export function clientConfig(value: unknown, file: string): ClientConfig {
  const root = new Member(file, '', value);
  if (!root.isPresent) root.fail('is empty');
  expectWord(root.at('apiVersion'), 'v1');
  expectWord(root.at('kind'), 'Config');
  const directory = dirname(resolve(file));
  return {
    file,
    directory,
    root,
    clusters: named(root.at('clusters'), 'cluster', (m) => clusterEntry(m, directory)),
    users: named(root.at('users'), 'user', (m) => userEntry(m, directory)),
    contexts: named(root.at('contexts'), 'context', contextEntry),
    currentContext: root.at('current-context').string(),
  };
}

function expectWord(member: Member, word: string): void {
  if (!['', word].includes(member.string())) member.fail(`must be ${word}`);
}

/** Entries `{name, <inner>: {…}}`. A name that is there twice is refused: readers differ in whom they believe. */
function named<T>(list: Member, inner: string, entry: (member: Member) => T): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const item of list.items()) {
    const name = item.at('name').required();
    if (entries.has(name)) item.at('name').fail('is the name of another one too');
    entries.set(name, entry(item.at(inner)));
  }
  return entries;
}

function source(member: Member, name: string, directory: string): Source {
  const dataMember = member.at(`${name}-data`);
  return { data: dataMember.string(), file: path(member.at(name), directory), dataMember };
}

function path(member: Member, directory: string): string {
  const written = member.string();
  return written === '' ? '' : resolve(directory, written);
}

const clusterEntry = (m: Member, directory: string): ClusterEntry => ({
  member: m,
  server: m.at('server').string(),
  authority: source(m, 'certificate-authority', directory),
  serverName: m.at('tls-server-name').string(),
  insecure: m.at('insecure-skip-tls-verify').bool(),
  proxyUrl: m.at('proxy-url').string(),
  disableCompression: m.at('disable-compression').bool(),
  extensions: new Map(
    m
      .at('extensions')
      .items()
      .map((item) => [item.at('name').required(), item.at('extension').value]),
  ),
});

const contextEntry = (m: Member): ContextEntry => ({
  member: m,
  cluster: m.at('cluster').string(),
  user: m.at('user').string(),
  namespace: m.at('namespace').string(),
});

function userEntry(m: Member, directory: string): UserEntry {
  return {
    member: m,
    certificate: source(m, 'client-certificate', directory),
    key: source(m, 'client-key', directory),
    token: m.at('token').string(),
    tokenFile: path(m.at('tokenFile'), directory),
    username: m.at('username').string(),
    password: m.at('password').string(),
    as: m.at('as').string(),
    asUid: m.at('as-uid').string(),
    asGroups: m.at('as-groups').strings(),
    asExtra: new Map(
      m
        .at('as-user-extra')
        .members()
        .map(([key, values]) => [key, values.strings()]),
    ),
    exec: m.at('exec').isPresent ? execEntry(m.at('exec')) : undefined,
    authProvider: m.at('auth-provider').isPresent ? authProviderEntry(m.at('auth-provider')) : undefined,
  };
}

const execEntry = (m: Member): ExecEntry => ({
  member: m,
  command: m.at('command').required(),
  args: m.at('args').strings(),
  env: m
    .at('env')
    .items()
    .map((item) => ({ name: item.at('name').required(), value: item.at('value').string() })),
  apiVersion: m.at('apiVersion').required(),
  installHint: m.at('installHint').string(),
  provideClusterInfo: m.at('provideClusterInfo').bool(),
  interactiveMode: m.at('interactiveMode').string(),
});

const authProviderEntry = (m: Member): AuthProviderEntry => ({
  member: m,
  name: m.at('name').required(),
  config: new Map(
    m
      .at('config')
      .members()
      .map(([key, value]) => [key, value.string()]),
  ),
});
