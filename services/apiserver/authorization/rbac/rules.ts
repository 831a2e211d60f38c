import type { CachedObject } from '../../cache/cached-object.js';
import type { Attributes, ResourceAttributes } from '../authorizer.js';

/** One rule of a role, as it is stored. What is left out is empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** Plural names; `pods/log` is a sub-resource, an asterisk before the slash means that of any resource. */
  readonly resources: readonly string[];
  /** Empty: all. */
  readonly resourceNames: readonly string[];
  /** Paths; one may end in `*`. */
  readonly nonResourceURLs: readonly string[];
}

export const ALL = '*';

const LISTS = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

/**
 * The rules of a stored role. A rule with a member of another shape is left out as a whole: without its restrictions it
 * would grant more than was meant.
 */
export function rulesOf(role: unknown): readonly PolicyRule[] {
  const rules = memberOf(role, 'rules');
  return Array.isArray(rules) ? rules.flatMap((rule: unknown) => policyRule(rule) ?? []) : [];
}

function policyRule(rule: unknown): PolicyRule | undefined {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return undefined;
  const lists = LISTS.map((name) => strings(memberOf(rule, name)));
  const [verbs, apiGroups, resources, resourceNames, nonResourceURLs] = lists;
  if (!verbs || !apiGroups || !resources || !resourceNames || !nonResourceURLs) return undefined;
  return { verbs, apiGroups, resources, resourceNames, nonResourceURLs };
}

/** A list of strings; undefined for anything else. What is absent is an empty list. */
export function strings(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

/** A stored object; undefined where it cannot be read, for a follower of a cache must not throw. */
export function readObject(object: CachedObject): unknown {
  try {
    return object.parse();
  } catch {
    return undefined;
  }
}

/** A member of something that may be anything. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** `pods`, `pods/log` */
export const combined = ({ resource, subresource }: ResourceAttributes): string =>
  subresource === '' ? resource : `${resource}/${subresource}`;

/**
 * Whether a rule allows what is asked. The meaning of rules: an index may be quicker, and must not decide otherwise.
 *
 * A rule with names says nothing about collections, which have none; an empty name matches no object.
 */
export function covers(rule: PolicyRule, asked: Attributes): boolean {
  if (!has(rule.verbs, asked.verb)) return false;
  if (asked.kind === 'path') return rule.nonResourceURLs.some((url) => coversPath(url, asked.path));
  return (
    has(rule.apiGroups, asked.group) &&
    rule.resources.some((resource) => coversResource(resource, asked)) &&
    (rule.resourceNames.length === 0 || (asked.name !== '' && rule.resourceNames.includes(asked.name)))
  );
}

const has = (allowed: readonly string[], asked: string): boolean => allowed.includes(ALL) || allowed.includes(asked);

const coversResource = (allowed: string, asked: ResourceAttributes): boolean =>
  allowed === ALL || allowed === combined(asked) || (asked.subresource !== '' && allowed === `*/${asked.subresource}`);

/** `/healthz`, `/healthz/*`, `*`; asterisks elsewhere are themselves. */
export function coversPath(allowed: string, asked: string): boolean {
  return allowed === asked || (allowed.endsWith(ALL) && asked.startsWith(withoutStars(allowed)));
}

/** Without the asterisks at its end. */
export function withoutStars(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === ALL) end--;
  return url.slice(0, end);
}
