import type { RequestInfo, ResourceRequest, UserInfo } from '../../request/request.js';
import type { Level, StageName } from '../backends/backend.js';
import type { GroupResources, Policy, PolicyRule } from './parse.js';

/** How a request is audited. */
export interface Decision {
  readonly level: Level;
  readonly omits: ReadonlySet<StageName>;
  readonly omitManagedFields: boolean;
}

const NOTHING: Decision = { level: 'None', omits: new Set(), omitManagedFields: false };

/** The user of a request whose credentials were wrong. Rules about users and groups do not match it. */
export const NOBODY: UserInfo = { name: '', uid: '', groups: [], extra: {} };

/** Questions that are remembered of one user. A client chooses what it asks for, so there is a bound. */
const MAX_REMEMBERED = 512;

interface CompiledRule {
  readonly rule: PolicyRule;
  readonly decision: Decision;
  readonly users: ReadonlySet<string>;
  readonly userGroups: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
}

/** The part of a rule that is checked once user, verb and resource are known. undefined: matches all. */
interface Candidate {
  readonly decision: Decision;
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly names: ReadonlySet<string> | undefined;
}

/** The rules that may match one user, and those found for resources before. */
interface UserRules {
  readonly rules: readonly CompiledRule[];
  readonly resources: Map<string, readonly Candidate[]>;
}

export type Decide = (user: UserInfo, info: RequestInfo) => Decision;

/**
 * Compiles a policy. A user's rules are found once, and so are those of each verb and resource that he asks for; a request
 * costs two look-ups and what is said of names and namespaces, however many rules there are.
 */
export function decideBy({ rules }: Policy): Decide {
  const compiled = rules.map(compile);
  const users = new WeakMap<UserInfo, UserRules>();
  return (user, info) => {
    let known = users.get(user);
    if (known === undefined) users.set(user, (known = rulesOf(user, compiled)));
    return info.kind === 'path' ? decidePath(known.rules, info.verb, info.path) : decideResource(known, info);
  };
}

const compile = (rule: PolicyRule): CompiledRule => ({
  rule,
  decision: { level: rule.level, omits: new Set(rule.omitStages), omitManagedFields: rule.omitManagedFields },
  users: new Set(rule.users),
  userGroups: new Set(rule.userGroups),
  verbs: new Set(rule.verbs),
});

const allows = (set: ReadonlySet<string>, value: string): boolean => set.size === 0 || set.has(value);

const rulesOf = ({ name, groups }: UserInfo, compiled: readonly CompiledRule[]): UserRules => ({
  rules: compiled.filter(
    ({ users, userGroups }) =>
      allows(users, name) && (userGroups.size === 0 || groups.some((group) => userGroups.has(group))),
  ),
  resources: new Map(),
});

function decidePath(rules: readonly CompiledRule[], verb: string, path: string): Decision {
  for (const { rule, verbs, decision } of rules) {
    if (rule.resources.length + rule.namespaces.length > 0 || !allows(verbs, verb)) continue;
    if (rule.nonResourceURLs.length === 0 || rule.nonResourceURLs.some((spec) => pathMatches(spec, path))) {
      return decision;
    }
  }
  return NOTHING;
}

const pathMatches = (spec: string, path: string): boolean =>
  spec.endsWith('*') ? path.startsWith(spec.slice(0, -1)) : path === spec;

function decideResource({ rules, resources }: UserRules, info: ResourceRequest): Decision {
  // No segment of a path holds a zero byte, so that no request can pass for another one here.
  const key = `${info.verb}\0${info.group}\0${info.resource}\0${info.subresource}`;
  let candidates = resources.get(key);
  if (candidates === undefined) {
    if (resources.size >= MAX_REMEMBERED) resources.clear();
    resources.set(key, (candidates = candidatesOf(rules, info)));
  }
  for (const { decision, namespaces, names } of candidates) {
    if (namespaces?.has(info.namespace) === false) continue;
    if (names?.has(info.name) === false) continue;
    return decision;
  }
  return NOTHING;
}

/** The rules that a request can meet, up to the first one that it surely does. */
function candidatesOf(rules: readonly CompiledRule[], info: ResourceRequest): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const { rule, verbs, decision } of rules) {
    if (rule.nonResourceURLs.length > 0 || !allows(verbs, info.verb)) continue;
    const entries = rule.resources.filter((entry) => isAbout(entry, info));
    if (rule.resources.length > 0 && entries.length === 0) continue;
    const namespaces = rule.namespaces.length === 0 ? undefined : new Set(rule.namespaces);
    const names = namesOf(entries);
    found.push({ decision, namespaces, names });
    if (namespaces === undefined && names === undefined) break;
  }
  return found;
}

/** undefined: all, since nothing is said of resources, or one entry names none. */
function namesOf(entries: readonly GroupResources[]): ReadonlySet<string> | undefined {
  if (entries.length === 0 || entries.some(({ resourceNames }) => resourceNames.length === 0)) return undefined;
  return new Set(entries.flatMap(({ resourceNames }) => resourceNames));
}

function isAbout({ group, resources }: GroupResources, info: ResourceRequest): boolean {
  if (group !== info.group) return false;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return (
    resources.length === 0 ||
    resources.some(
      (spec) =>
        spec === '*' ||
        spec === whole ||
        (subresource !== '' && spec === `*/${subresource}`) ||
        spec === `${resource}/*`, // the resource itself as well
    )
  );
}
