import { CompiledRole, type Question } from './compiled-role.js';
import { type PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { ALL } from './rules.js';

/** Whether a user has one right. Asked for each combination of the rules that are compared. */
export type Holds = (right: Question) => boolean;

/** Most combinations that are compared one by one: they multiply, so a small object can stand for millions. */
const MAX_COMBINATIONS = 50_000;
/** Each may be compared with every rule of a user without a pause: some 0.3 s. */
const MAX_COMPARISONS = 25_000_000;

/** More combinations than are compared. */
export class TooManyRights extends Error {
  override readonly name = 'TooManyRights';
}

const NO_RULE: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const EVERY_RESOURCE: Question = { kind: 'resource', verb: ALL, group: ALL, resource: ALL, anyParent: '', name: '' };

/** Rules that grant everything. */
export const EVERYTHING: readonly PolicyRule[] = [
  { ...NO_RULE, verbs: [ALL], apiGroups: [ALL], resources: [ALL] },
  { ...NO_RULE, verbs: [ALL], nonResourceURLs: [ALL] },
];

/** Rights of a user, by the rules that give them. */
export interface Held {
  readonly holds: Holds;
  /** How many combinations may be compared with them. */
  readonly maxCombinations: number;
}

export const heldBy = (rules: readonly PolicyRule[]): Held => {
  const role = new CompiledRole(rules);
  const visited = rules.reduce((sum, { nonResourceURLs }) => sum + 1 + nonResourceURLs.length, 1);
  const affordable = Math.floor(MAX_COMPARISONS / visited);
  return { holds: (right) => role.allows(right), maxCombinations: Math.min(MAX_COMBINATIONS, affordable) };
};

/**
 * Which of the `wanted` rights are not held, as rules: those for one resource, or one name of it, are one rule. Rules are
 * taken apart into single rights, and each has to be held as such (spec 2, 5.9).
 *
 * @throws {TooManyRights}
 */
export function missingRights({ holds, maxCombinations }: Held, wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const holdsEveryResource = holds(EVERY_RESOURCE);
  const left = holdsEveryResource ? wanted.map(({ verbs, nonResourceURLs }) => ({ ...NO_RULE, verbs, nonResourceURLs })) : wanted; // prettier-ignore
  const combinations = left.reduce((sum, rule) => sum + combinationsOf(rule), 0);
  if (combinations > maxCombinations) {
    throw new TooManyRights(
      `the rules stand for more than ${maxCombinations} single permissions, which are not compared`,
    );
  }
  const missing = new Map<string, { rule: PolicyRule; verbs: Set<string> }>();
  for (const rule of left) {
    for (const right of rightsOf(rule)) if (!holds(right)) collect(missing, right);
  }
  return [...missing.values()].map(({ rule, verbs }) => ({ ...rule, verbs: [...verbs] }));
}

const combinationsOf = (r: PolicyRule): number =>
  r.verbs.length *
  (r.apiGroups.length * r.resources.length * Math.max(1, r.resourceNames.length) + r.nonResourceURLs.length);

function* rightsOf(rule: PolicyRule): Generator<Question> {
  const names = rule.resourceNames.length === 0 ? [''] : rule.resourceNames;
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      const anyParent = anyParentOf(resource);
      for (const verb of rule.verbs) {
        for (const name of names) yield { kind: 'resource', verb, group, resource, anyParent, name };
      }
    }
  }
  for (const path of rule.nonResourceURLs) for (const verb of rule.verbs) yield { kind: 'path', verb, path };
}

function anyParentOf(resource: string): string {
  const slash = resource.indexOf('/');
  return slash < 0 ? '' : `*${resource.slice(slash)}`;
}

function collect(missing: Map<string, { rule: PolicyRule; verbs: Set<string> }>, right: Question): void {
  const rule = ruleFor(right);
  const id = JSON.stringify(rule);
  let known = missing.get(id);
  if (known === undefined) missing.set(id, (known = { rule, verbs: new Set() }));
  known.verbs.add(right.verb);
}

/** Without its verb. */
const ruleFor = (right: Question): PolicyRule =>
  right.kind === 'path'
    ? { ...NO_RULE, nonResourceURLs: [right.path] }
    : {
        ...NO_RULE,
        apiGroups: [right.group],
        resources: [right.resource],
        resourceNames: right.name === '' ? [] : [right.name],
      };

/** A rule as messages show it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function shownRule(rule: PolicyRule): string {
  const members: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = members
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${shownList(values)}`);
  return `{${shown.join(', ')}}`;
}

/** `["a" "b"]` */
export const shownList = (values: readonly string[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
