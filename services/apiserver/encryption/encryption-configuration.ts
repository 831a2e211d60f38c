import type * as yamlLibrary from 'yaml';
import { readBoundedLater } from '../../client/kubeconfig/bounded-file.js';
import { parseDuration } from '../../machinery/flags/flags.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { AES_KEY_SIZES } from '../../storage/encryption/aes.js';
import { parseDocument, type PluginDocument } from '../admission/configuration.js';
import {
  anything,
  list,
  object,
  readVersioned,
  refuse,
  required,
  text,
  type Member,
  type MemberReader,
} from '../admission/configuration-members.js';
import { covers, resourceEntry, type ResourceEntry } from './resource-rules.js';

export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

export type LocalKind = 'aescbc' | 'aesgcm' | 'secretbox';

/** A provider with keys of its own, one that asks a key management service, or the one that encrypts nothing. */
export type ProviderConfiguration =
  | { readonly kind: LocalKind; readonly keys: readonly NamedKey[] }
  | { readonly kind: 'kms'; readonly name: string; readonly endpoint: string; readonly timeoutMs: number }
  | { readonly kind: 'identity' };

/** How the objects of some resources are stored: the first provider writes, each of them reads. */
export interface EncryptionRule {
  readonly resources: readonly ResourceEntry[];
  readonly providers: readonly ProviderConfiguration[];
}

const DEFAULT_TIMEOUT_MS = 3_000;
const MAX_TIMEOUT_MS = 60_000;

const optional =
  <T>(reader: MemberReader<T>): MemberReader<T | undefined> =>
  (member) =>
    member.value === undefined || member.value === null ? undefined : reader(member);

const atLeastOne =
  <T>(reader: MemberReader<T>): MemberReader<readonly T[]> =>
  (member) => {
    const items = list(reader)(member);
    return items.length > 0 ? items : refuse(member, 'at least one is required');
  };

/** Never tells what the member holds. */
const secretOf =
  (sizes: readonly number[]): MemberReader<Buffer> =>
  (member) => {
    const encoded = required(text)(member).replace(/[\r\n]/g, ''); // lines may be folded
    const secret = Buffer.from(encoded, 'base64');
    if (secret.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) {
      return refuse(member, 'must be base64');
    }
    if (sizes.includes(secret.length)) return secret;
    return refuse(member, `must be a key of ${sizes.join(' or ')} bytes, and has ${secret.length}`);
  };

const nameOf: MemberReader<string> = (member) => {
  const name = required(text)(member);
  return name.includes(':') ? refuse(member, 'must not have a colon') : name;
};

const keysOf =
  (sizes: readonly number[]): MemberReader<{ readonly keys: readonly NamedKey[] }> =>
  (member) => {
    const read = object({ keys: atLeastOne(object({ name: nameOf, secret: required(secretOf(sizes)) })) })(member);
    const names = new Set<string>();
    for (const [i, { name }] of read.keys.entries()) {
      if (names.has(name)) refuse(at(member, 'keys', i, 'name'), `${JSON.stringify(name)} is there twice`);
      names.add(name);
    }
    return read;
  };

const endpointOf: MemberReader<string> = (member) => {
  const endpoint = required(text)(member);
  return /^unix:\/\/\/./.test(endpoint) ? endpoint : refuse(member, 'must be unix:///PATH or unix:///@NAME');
};

const timeoutOf: MemberReader<number> = (member) => {
  const given = text(member);
  if (given === '') return DEFAULT_TIMEOUT_MS;
  const ms = durationOf(given);
  if (ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
  return refuse(member, 'must be a duration of more than 0 and at most 1m, e.g. 3s');
};

function durationOf(given: string): number {
  try {
    return parseDuration(given);
  } catch {
    return NaN;
  }
}

const kmsOf: MemberReader<ProviderConfiguration> = (member) => {
  const version = at(member, 'apiVersion');
  if (version.value !== 'v2') {
    return refuse(version, 'must be v2: version 1 of the key management service, the default, is not supported');
  }
  const { cachesize, name, endpoint, timeout } = object({
    apiVersion: text,
    name: nameOf,
    endpoint: endpointOf,
    timeout: timeoutOf,
    cachesize: anything,
  })(member);
  if (cachesize !== undefined) refuse(at(member, 'cachesize'), 'does not go with v2');
  return { kind: 'kms', name, endpoint, timeoutMs: timeout };
};

const local =
  (kind: LocalKind, sizes: readonly number[]): MemberReader<ProviderConfiguration> =>
  (member) => ({ kind, ...keysOf(sizes)(member) });

const PROVIDERS = {
  aescbc: optional(local('aescbc', AES_KEY_SIZES)),
  aesgcm: optional(local('aesgcm', AES_KEY_SIZES)),
  secretbox: optional(local('secretbox', [32])),
  kms: optional(kmsOf),
  identity: optional((member): ProviderConfiguration => ({ ...object({})(member), kind: 'identity' })),
};

const providerOf: MemberReader<ProviderConfiguration> = (member) => {
  const given = Object.values(object(PROVIDERS)(member)).filter((provider) => provider !== undefined);
  const [provider] = given;
  if (provider !== undefined && given.length === 1) return provider;
  return refuse(member, `must be one of ${Object.keys(PROVIDERS).join(', ')}; each in an element of its own`);
};

function at(member: Member, ...path: readonly (string | number)[]): Member {
  const value = path.reduce<unknown>((v, step) => (v as Record<string | number, unknown> | null)?.[step], member.value);
  return { document: member.document, path: [...member.path, ...path], value };
}

/**
 * Reads `--encryption-provider-config`.
 *
 * @throws {Error} In one line that names the file, the line and the member, and holds nothing of a key
 */
export async function readEncryptionConfiguration(
  file: string,
  { groups }: Pick<Vocabulary, 'groups'>,
): Promise<readonly EncryptionRule[]> {
  const content = (await readBoundedLater(file)).toString('utf8');
  const document = parse(await import('yaml'), content, file);
  const type = { kind: 'EncryptionConfiguration', apiVersions: [`${groups.apiserverConfig}/v1`] };
  const rule = object({ resources: atLeastOne(required(text)), providers: atLeastOne(providerOf) });
  const { resources: rules } = readVersioned(document, type, { resources: atLeastOne(rule) });
  refuseSameServices(document, rules);
  const entries: ResourceEntry[] = [];
  return rules.map(({ resources, providers }, i) => ({
    providers,
    resources: resources.map((name, k) => {
      const path = ['resources', i, 'resources', k];
      const entry = resourceEntry(name, groups.events);
      if (typeof entry === 'string') throw document.error(path, `${JSON.stringify(name)} ${entry}`);
      if (entries.some((earlier) => covers(earlier, entry))) {
        throw document.error(path, `${JSON.stringify(name)} is never used: an entry before it names the same`);
      }
      const within = entries.slice(entries.length - k).find((earlier) => covers(entry, earlier));
      if (within !== undefined)
        throw document.error(path, `${JSON.stringify(name)} names more than an entry beside it`);
      entries.push(entry);
      return entry;
    }),
  }));
}

/** What is wrong with the form of the file may be told in pieces of it. */
function parse(yaml: typeof yamlLibrary, content: string, file: string): PluginDocument {
  try {
    return parseDocument(yaml, content, file);
  } catch (err) {
    const [line = ''] = /line \d+/.exec((err as Error).message) ?? [];
    throw new Error([file, line, 'is no YAML or JSON that can be used'].filter((part) => part !== '').join(': '));
  }
}

interface RawRule {
  readonly providers: readonly ProviderConfiguration[];
}

/** Values name their service, and two of one name could not be told apart. */
function refuseSameServices(document: PluginDocument, rules: readonly RawRule[]): void {
  const names = new Set<string>();
  for (const [i, { providers }] of rules.entries()) {
    for (const [k, provider] of providers.entries()) {
      if (provider.kind !== 'kms') continue;
      const path = ['resources', i, 'providers', k, 'kms', 'name'];
      if (names.has(provider.name)) throw document.error(path, `${JSON.stringify(provider.name)} is there twice`);
      names.add(provider.name);
    }
  }
}
