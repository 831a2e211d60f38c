import type { PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { Attributes, ResourceAttributes } from '../authorizer.js';

export const ALL = '*';

/** A stored object; undefined where it cannot be read, for a follower of a cache must not throw. */
export function readObject(object: CachedObject): unknown {
  try {
    return object.parse();
  } catch {
    return undefined;
  }
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
