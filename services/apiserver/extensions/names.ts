import type { CustomResourceDefinitionNames } from '../../machinery/types/generated/apiextensions.v1.js';

/** Names in a group that belong to other definitions. */
export interface TakenNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds, those of lists among them. */
  readonly kinds: ReadonlySet<string>;
}

export interface AcceptedNames {
  readonly names: CustomResourceDefinitionNames;
  /** Undefined: all that was asked for is accepted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

/** The members of names that are one name each, and why they can be refused. */
const SINGLE = [
  ['plural', 'resources', 'PluralConflict'],
  ['singular', 'resources', 'SingularConflict'],
  ['kind', 'kinds', 'KindConflict'],
  ['listKind', 'kinds', 'ListKindConflict'],
] as const;

/**
 * The names that a definition has from now on: each that was asked for, unless another definition of its group has it.
 * The last conflict is told.
 */
export function acceptNames(
  asked: CustomResourceDefinitionNames,
  accepted: CustomResourceDefinitionNames,
  taken: TakenNames,
): AcceptedNames {
  const names: { -readonly [K in keyof CustomResourceDefinitionNames]: CustomResourceDefinitionNames[K] } = {
    ...accepted,
    ...(asked.categories === undefined ? {} : { categories: asked.categories }),
  };
  if (asked.categories === undefined) delete names.categories;
  const conflicts: { readonly reason: string; readonly message: string }[] = [];
  for (const [member, sort, reason] of SINGLE) {
    const name = asked[member] ?? '';
    if (name !== (accepted[member] ?? '') && taken[sort].has(name)) conflicts.push({ reason, message: inUse(name) });
    else names[member] = name;
    if (member === 'singular') acceptShortNames(asked, accepted, taken, names, conflicts);
  }
  return { names, conflict: conflicts.at(-1) };
}

function acceptShortNames(
  { shortNames = [] }: CustomResourceDefinitionNames,
  accepted: CustomResourceDefinitionNames,
  { resources }: TakenNames,
  names: { shortNames?: readonly string[] | undefined },
  conflicts: { readonly reason: string; readonly message: string }[],
): void {
  const refused = shortNames.filter((name) => accepted.shortNames?.includes(name) !== true && resources.has(name));
  if (refused.length === 0) {
    if (shortNames.length > 0) names.shortNames = shortNames;
    else delete names.shortNames;
    return;
  }
  const message = refused.map(inUse);
  const text = message.length === 1 ? (message[0] ?? '') : `[${message.join(', ')}]`;
  conflicts.push({ reason: 'ShortNamesConflict', message: text });
}

/** @param others Of the same group: what they have, or, where nobody has looked at them yet, what they ask for. */
export function takenNames(others: Iterable<CustomResourceDefinitionNames>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames = [], kind, listKind } of others) {
    for (const name of [plural, singular, ...shortNames]) if (name !== undefined && name !== '') resources.add(name);
    for (const name of [kind, listKind]) if (name !== undefined && name !== '') kinds.add(name);
  }
  return { resources, kinds };
}
