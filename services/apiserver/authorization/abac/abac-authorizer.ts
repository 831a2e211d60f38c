import type { UserInfo } from '../../request/request.js';
import { NO_OPINION, type Attributes, type Authorizer, type Decision, type RuleList } from '../authorizer.js';
import type { Policy } from './policies.js';

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const ALLOWED: Decision = { decision: 'allow', reason: '' };
const NO_MATCH: Decision = { ...NO_OPINION, reason: 'No policy matched.' };

/** Policies of a file, which is read once at the start (spec 2, 2.8 and 5.9). A request is allowed when one matches. */
export function abacAuthorizer(policies: readonly Policy[]): Authorizer {
  const about = policiesBySubject(policies);
  return {
    name: 'ABAC',
    authorize: (user, attributes) => {
      for (const policy of about(user)) if (allows(policy, attributes)) return ALLOWED;
      return NO_MATCH;
    },
    rulesFor: (user, namespace) => rulesOf([...about(user)], namespace),
  };
}

/** Finds the policies that name a user or one of his groups, however many name others. */
function policiesBySubject(policies: readonly Policy[]): (user: UserInfo) => Generator<Policy> {
  const byUser = new Map<string, Policy[]>();
  const byGroup = new Map<string, Policy[]>();
  for (const policy of policies) {
    if (policy.user !== '') put(byUser, policy.user, policy);
    else if (policy.group !== '') put(byGroup, policy.group, policy);
  }
  return function* (user) {
    for (const name of [user.name, '*']) {
      for (const policy of byUser.get(name) ?? []) if (isInGroup(policy, user)) yield policy;
    }
    for (const group of new Set([...user.groups, '*'])) yield* byGroup.get(group) ?? [];
  };
}

const isInGroup = ({ group }: Policy, { groups }: UserInfo): boolean =>
  group === '' || group === '*' || groups.includes(group);

function put(table: Map<string, Policy[]>, key: string, policy: Policy): void {
  const present = table.get(key);
  if (present === undefined) table.set(key, [policy]);
  else present.push(policy);
}

function allows(policy: Policy, attributes: Attributes): boolean {
  if (policy.readonly && !READING.has(attributes.verb)) return false;
  if (attributes.kind === 'path') return matchesPath(policy.nonResourcePath, attributes.path);
  const { namespace, resource, group } = attributes;
  return matches(policy.namespace, namespace) && matches(policy.resource, resource) && matches(policy.apiGroup, group);
}

const matches = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

function rulesOf(policies: readonly Policy[], namespace: string): RuleList {
  const here = policies.filter((policy) => matches(policy.namespace, namespace));
  const verbsOf = ({ readonly }: Policy): readonly string[] => (readonly ? [...READING] : ['*']);
  return {
    resourceRules: here
      .filter(({ resource }) => resource !== '')
      .map((p) => ({ verbs: verbsOf(p), apiGroups: [p.apiGroup], resources: [p.resource], resourceNames: [] })),
    pathRules: policies
      .filter(({ nonResourcePath }) => nonResourcePath !== '')
      .map((p) => ({ verbs: verbsOf(p), nonResourceURLs: [p.nonResourcePath] })),
    incomplete: false,
  };
}
