import type {
  MatchResources,
  NamedRuleWithOperations,
} from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import { formsOf, matches, type Asked, type MatchesDeps } from '../webhooks/matching.js';
import { selectorOf, type Selecting } from '../webhooks/selecting.js';

/** Which requests a policy or a binding is about. */
export interface Constraints extends Selecting {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excluded: readonly NamedRuleWithOperations[];
  readonly isExact: boolean;
}

export const constraintsOf = (it: MatchResources): Constraints => ({
  rules: it.resourceRules ?? [],
  excluded: it.excludeResourceRules ?? [],
  isExact: it.matchPolicy === 'Exact',
  namespaceSelector: selectorOf(it.namespaceSelector),
  objectSelector: selectorOf(it.objectSelector),
});

/** A form of a resource that a rule covers, for objects of certain names; undefined: of any. */
interface Covered {
  readonly as: ResourceDeclaration;
  readonly names: ReadonlySet<string> | undefined;
}

/** What constraints say of a resource, sub-resource and operation. */
export interface Covering extends Selecting {
  readonly covered: readonly Covered[];
  readonly excluded: readonly Covered[];
}

/** @returns undefined for constraints that cover nothing of it, whatever the name */
export function coveringOf(
  d: Pick<MatchesDeps, 'resources'>,
  constraints: Constraints,
  asked: Asked,
): Covering | undefined {
  const { rules, excluded, namespaceSelector, objectSelector } = constraints;
  const covered =
    rules.length === 0 ? [{ as: asked.resource, names: undefined }] : within(d, rules, constraints, asked);
  const out = within(d, excluded, constraints, asked);
  if (covered.length === 0 || out.some(({ names }) => names === undefined)) return undefined;
  return { covered, excluded: out, namespaceSelector, objectSelector };
}

/** The form of the request first, whichever rule covers it. */
function within(
  d: Pick<MatchesDeps, 'resources'>,
  rules: readonly NamedRuleWithOperations[],
  constraints: Constraints,
  asked: Asked,
): readonly Covered[] {
  return formsOf(d, constraints, asked).flatMap((as) =>
    rules
      .filter((rule) => matches(rule, { ...asked, resource: as }))
      .map(({ resourceNames = [] }) => ({
        as,
        names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
      })),
  );
}

const has = ({ names }: Covered, name: string): boolean => names?.has(name) ?? true;

/** The form in which an object of this name is shown; undefined for one that is not covered. */
export function formFor({ covered, excluded }: Covering, name: string): ResourceDeclaration | undefined {
  if (excluded.some((it) => has(it, name))) return undefined;
  return covered.find((it) => has(it, name))?.as;
}
