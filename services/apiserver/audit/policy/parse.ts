import { isJsonObject } from '../../../machinery/meta/own.js';
import { dns1123Subdomain } from '../../../machinery/meta/metadata.js';
import { LEVELS, STAGES, type Level, type StageName } from '../backends/backend.js';

/** Resources that a rule is about. */
export interface GroupResources {
  /** '' for the core group. */
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*\/status`, `*`; empty: all of the group. */
  readonly resources: readonly string[];
  /** Empty: all. */
  readonly resourceNames: readonly string[];
}

/** A rule of an audit policy: which requests its level is for. An empty member matches all. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** '' for the scope of the cluster. */
  readonly namespaces: readonly string[];
  /** Paths; one may end in `*`. */
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly StageName[];
  readonly omitManagedFields: boolean;
}

/** The first rule that a request meets decides; no rule: nothing is told. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
}

/** An error of the policy, with the path of the member. */
class Malformed extends Error {}

type Reader<T> = (value: unknown, path: string) => T;

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value)).slice(0, 80);
const fail = (path: string, why: string): never => {
  throw new Malformed(`${path}: ${why}`);
};

/**
 * @param value A parsed file. Rules have what holds for all of them already.
 * @throws {Error} In one line that names the member.
 */
export function parsePolicy(value: unknown, apiVersion: string): Policy {
  const top = members(value, 'the file', POLICY_MEMBERS);
  if (top['apiVersion'] !== apiVersion) fail('apiVersion', `is ${shown(top['apiVersion'])}, not ${shown(apiVersion)}`);
  if (top['kind'] !== 'Policy') fail('kind', `is ${shown(top['kind'])}, not "Policy"`);
  if (top['metadata'] !== undefined && top['metadata'] !== null) members(top['metadata'], 'metadata');
  const omitStages = stages(top['omitStages'], 'omitStages');
  const omitManagedFields = flag(top['omitManagedFields'], 'omitManagedFields') ?? false;
  const rules = list(top['rules'], 'rules', (rule, path) => parseRule(rule, path, { omitStages, omitManagedFields }));
  if (rules.length === 0) fail('rules', 'is empty: nothing would ever be told');
  return { rules };
}

const POLICY_MEMBERS = ['apiVersion', 'kind', 'metadata', 'omitStages', 'omitManagedFields', 'rules'];
const RULE_MEMBERS = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];
const RESOURCES_MEMBERS = ['group', 'resources', 'resourceNames'];

function parseRule(value: unknown, at: string, all: Pick<PolicyRule, 'omitStages' | 'omitManagedFields'>): PolicyRule {
  const rule = members(value, at, RULE_MEMBERS);
  const strings = (member: string): readonly string[] => list(rule[member], `${at}.${member}`, text);
  const resources = list(rule['resources'], `${at}.resources`, parseResources);
  const namespaces = strings('namespaces');
  const nonResourceURLs = list(rule['nonResourceURLs'], `${at}.nonResourceURLs`, path);
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0) {
    fail(`${at}.nonResourceURLs`, 'a rule is about paths or about resources and namespaces, not both');
  }
  return {
    level: oneOf(rule['level'], `${at}.level`, LEVELS),
    users: strings('users'),
    userGroups: strings('userGroups'),
    verbs: strings('verbs'),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: [...new Set([...all.omitStages, ...stages(rule['omitStages'], `${at}.omitStages`)])],
    omitManagedFields: flag(rule['omitManagedFields'], `${at}.omitManagedFields`) ?? all.omitManagedFields,
  };
}

function parseResources(value: unknown, at: string): GroupResources {
  const entry = members(value, at, RESOURCES_MEMBERS);
  const group = entry['group'] === undefined || entry['group'] === null ? '' : text(entry['group'], `${at}.group`);
  if (group !== '' && dns1123Subdomain(group).length > 0) fail(`${at}.group`, `${shown(group)} is no name of a group`);
  const resources = list(entry['resources'], `${at}.resources`, text);
  const resourceNames = list(entry['resourceNames'], `${at}.resourceNames`, text);
  if (resourceNames.length > 0 && resources.length === 0) {
    fail(`${at}.resourceNames`, 'names mean nothing without resources');
  }
  return { group, resources, resourceNames };
}

function members(value: unknown, path: string, known?: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) return fail(path, 'is no object');
  const unknown = known === undefined ? undefined : Object.keys(value).find((member) => !known.includes(member));
  if (unknown !== undefined) fail(path, `has an unknown member ${shown(unknown)}`);
  return value;
}

function list<T>(value: unknown, path: string, read: Reader<T>): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return fail(path, `${shown(value)} is no list`);
  return value.map((item, i) => read(item, `${path}[${i}]`));
}

const text: Reader<string> = (value, path) =>
  typeof value === 'string' ? value : fail(path, `${shown(value)} is no string`);

function flag(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : fail(path, `${shown(value)} is neither true nor false`);
}

function oneOf<T extends string>(value: unknown, path: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  return found ?? fail(path, `${shown(value)} is none of ${choices.join(', ')}`);
}

const stages = (value: unknown, path: string): readonly StageName[] =>
  list(value, path, (item, at) => oneOf(item, at, STAGES));

const path: Reader<string> = (value, at) => {
  const spec = text(value, at);
  if (spec === '*') return spec;
  if (!spec.startsWith('/')) fail(at, `${shown(spec)} does not begin with a slash`);
  if (spec.slice(0, -1).includes('*')) fail(at, `${shown(spec)} has a * that is not its end`);
  return spec;
};
