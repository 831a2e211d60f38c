import type { NamespaceStatus } from '../machinery/types/generated/core.v1.js';

type Condition = NonNullable<NamespaceStatus['conditions']>[number];

/** Objects of one resource that are left in a namespace. */
export interface Remaining {
  /** `pods.`, `deployments.apps` */
  readonly resource: string;
  readonly count: number;
  /** How many objects each finalizer keeps. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** What an attempt to empty a namespace has shown. */
export interface Emptied {
  /** Group versions that could not be asked what they serve. */
  readonly undiscovered: readonly string[];
  /** Why resources could not be emptied, one line each. */
  readonly failures: readonly string[];
  readonly remaining: readonly Remaining[];
}

export const isEmpty = ({ undiscovered, failures, remaining }: Emptied): boolean =>
  undiscovered.length + failures.length + remaining.length === 0;

interface Statement {
  readonly type: string;
  /** What is wrong; undefined: nothing. */
  readonly problem: (emptied: Emptied) => string | undefined;
  readonly wrong: string;
  readonly right: { readonly reason: string; readonly message: string };
}

/** Longest list of failures that a condition tells. */
const MOST_FAILURES = 20;

const listed = (lines: readonly string[]): string =>
  lines.length <= MOST_FAILURES
    ? lines.join('; ')
    : `${lines.slice(0, MOST_FAILURES).join('; ')}; and ${lines.length - MOST_FAILURES} more`;

/** Types, reasons and messages are those that clients of this API know. */
const STATEMENTS: readonly Statement[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    problem: ({ undiscovered }) =>
      undiscovered.length === 0
        ? undefined
        : `Discovery failed for some groups, ${undiscovered.length} failing: ${listed([...undiscovered].sort())}`,
    wrong: 'DiscoveryFailed',
    right: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    problem: () => undefined, // a version that cannot be read counts as one that cannot be discovered
    wrong: 'GroupVersionParsingFailed',
    right: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
  },
  {
    type: 'NamespaceDeletionContentFailure',
    problem: ({ failures }) =>
      failures.length === 0
        ? undefined
        : `Failed to delete all resource types, ${failures.length} remaining: ${listed([...failures].sort())}`,
    wrong: 'ContentDeletionFailed',
    right: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
  },
  {
    type: 'NamespaceContentRemaining',
    problem: ({ remaining }) =>
      remaining.length === 0
        ? undefined
        : `Some resources are remaining: ${remaining
            .map(({ resource, count }) => `${resource} has ${count} resource instances`)
            .sort()
            .join(', ')}`,
    wrong: 'SomeResourcesRemain',
    right: { reason: 'ContentRemoved', message: 'All content successfully removed' },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    problem: ({ remaining }) => finalizersIn(remaining),
    wrong: 'SomeFinalizersRemain',
    right: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
  },
];

function finalizersIn(remaining: readonly Remaining[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { finalizers } of remaining) {
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  if (counts.size === 0) return undefined;
  const parts = [...counts].map(([name, count]) => `${name} in ${count} resource instances`).sort();
  return `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`;
}

/**
 * The conditions that say what is left in a namespace and why, beside those of others. One keeps its time while its status
 * stays. Nothing is said of what never was wrong, except on a namespace whose conditions are there already.
 *
 * @param now As times are written. @returns undefined when they are what they were.
 */
export function conditionsAfter(
  present: readonly Condition[],
  emptied: Emptied,
  now: string,
): readonly Condition[] | undefined {
  const next = [...present];
  let hasChanged = false;
  for (const { type, problem, wrong, right } of STATEMENTS) {
    const message = problem(emptied);
    const wanted =
      message === undefined ? { type, status: 'False', ...right } : { type, status: 'True', reason: wrong, message };
    const at = next.findIndex((it) => it.type === type);
    const old = next[at];
    if (old?.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message) continue;
    const lastTransitionTime = old?.status === wanted.status ? (old.lastTransitionTime ?? now) : now;
    next.splice(at < 0 ? next.length : at, 1, { ...wanted, lastTransitionTime });
    hasChanged = true;
  }
  return hasChanged ? next : undefined;
}
