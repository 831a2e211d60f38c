import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { ConfigMap, Secret, Types } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkRule } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { dataKey } from '../checks/text.js';
import type { KindValidation, Problems, TypeRule, TypeRules } from '../types.js';

/* Config maps and secrets: keys, sizes, what the type of a secret asks for, and what is sealed. */

const MAX_BYTES = 1024 * 1024;
const SEALED = 'field is immutable when `immutable` is set';

/** The bytes of a text in base64. */
const decodedBytes = (base64: string): number =>
  (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);

/** The size of a member in bytes; keys do not count. */
const sizeOf = (map: StringMap, bytesOf: (value: string) => number): number =>
  Object.values(map).reduce((sum, value) => sum + bytesOf(value), 0);

function checkKeys(at: At, member: string, map: StringMap): void {
  const mapAt = at.child(member);
  for (const key of Object.keys(map)) checkRule(mapAt.key(key), '', key, dataKey);
}

function checkConfigMap(at: At, { data = {}, binaryData = {} }: ConfigMap): void {
  checkKeys(at, 'data', data);
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(binaryData, key)) {
      at.child('data').key(key).invalid('', key, 'duplicate of key present in binaryData');
    }
  }
  checkKeys(at, 'binaryData', binaryData);
  const bytes = sizeOf(data, (value) => Buffer.byteLength(value)) + sizeOf(binaryData, decodedBytes);
  if (bytes > MAX_BYTES) at.tooLong('', MAX_BYTES);
}

/** Immutable data stays as it is, and immutable. */
const checkSealed =
  (...members: readonly string[]) =>
  (next: ApiObject, old: ApiObject, problems: Problems): void => {
    if (old['immutable'] !== true) return;
    const at = At.root(problems);
    if (next['immutable'] !== true) at.forbidden('immutable', SEALED);
    for (const member of members) {
      if (!isDeepStrictEqual(next[member], old[member])) at.forbidden(member, SEALED);
    }
  };

export const dataRules = (vocabulary: Vocabulary): TypeRules<Types> => ({
  ConfigMap: checkConfigMap,
  Secret: secretRule(typeRules(vocabulary)),
});

export const configMaps: KindValidation<ConfigMap> = {
  update: checkSealed('data', 'binaryData'),
};

/** Which keys a type asks for. */
type KeysRule = (at: At, data: StringMap, secret: Secret) => void;

const needsKeys =
  (...keys: readonly string[]): KeysRule =>
  (at, data) => {
    for (const key of keys) if (!Object.hasOwn(data, key)) at.key(key).required('');
  };

const needsSomeKey =
  (...keys: readonly string[]): KeysRule =>
  (at, data, secret) => {
    if (!keys.some((key) => Object.hasOwn(data, key))) needsKeys(...keys)(at, data, secret);
  };

const needsValue =
  (key: string): KeysRule =>
  (at, data) => {
    if (!Object.hasOwn(data, key) || data[key] === '') at.key(key).required('');
  };

const needsJson =
  (key: string): KeysRule =>
  (at, data) => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (value === undefined) {
      at.key(key).required('');
      return;
    }
    const why = jsonProblem(Buffer.from(value, 'base64').toString());
    if (why !== undefined) at.key(key).invalid('', '<secret contents redacted>', why);
  };

function jsonProblem(text: string): string | undefined {
  if (text === '') return 'unexpected end of JSON input';
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? undefined : 'must be a JSON object';
  } catch {
    return 'must be valid JSON'; // the parser's own words would show what is in the secret
  }
}

function typeRules({ secretTypes, annotations }: Vocabulary): ReadonlyMap<string | undefined, KeysRule> {
  const account: KeysRule = (at, _data, { metadata }) => {
    const name = metadata?.annotations?.[annotations.serviceAccountName] ?? '';
    if (name === '') At.root(at.problems, 'metadata.annotations').key(annotations.serviceAccountName).required('');
  };
  return new Map<string | undefined, KeysRule>([
    [secretTypes.serviceAccountToken, account],
    [secretTypes.dockercfg, needsJson('.dockercfg')],
    [secretTypes.dockerconfigjson, needsJson('.dockerconfigjson')],
    [secretTypes.basicAuth, needsSomeKey('username', 'password')],
    [secretTypes.sshAuth, needsValue('ssh-privatekey')],
    [secretTypes.tls, needsKeys('tls.crt', 'tls.key')],
  ]);
}

const secretRule =
  (rules: ReadonlyMap<string | undefined, KeysRule>): TypeRule<Secret> =>
  (at, secret) => {
    const { data = {} } = secret;
    checkKeys(at, 'data', data);
    if (sizeOf(data, decodedBytes) > MAX_BYTES) at.tooLong('data', MAX_BYTES);
    rules.get(secret.type)?.(at.child('data'), data, secret);
  };

export const secrets: KindValidation<Secret> = { update: checkSealed('data') };
