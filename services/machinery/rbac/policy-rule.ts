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

/** A member of something that may be anything. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
