import { now } from '../../machinery/meta/time.js';
import type {
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { approvalOf } from '../registry/validation/apiextensions/approval.js';
import { conditionsOf, isTrue, specOf, type Definition } from './definition.js';
import { acceptNames, type TakenNames } from './names.js';

export type Condition = CustomResourceDefinitionCondition & { readonly type: string };

/** What a server says of a definition. `undefined` as a condition: there is none of that type. */
export type Verdict = Pick<CustomResourceDefinitionStatus, 'acceptedNames'> & {
  readonly conditions: ReadonlyMap<string, Condition | undefined>;
};

/** What a definition's status should say of its names, its schemas and its group. */
export function judge(
  definition: Definition,
  taken: TakenNames,
  { vocabulary, schemaProblems }: { vocabulary: Vocabulary; schemaProblems: (definition: Definition) => string },
): Verdict {
  const { names = {} } = specOf(definition);
  const { names: acceptedNames, conflict } = acceptNames(names, definition.status?.acceptedNames ?? {}, taken);
  const accepted: Condition = {
    type: 'NamesAccepted',
    ...(conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict }),
  };
  const conditions: [string, Condition | undefined][] = [
    ['NamesAccepted', accepted],
    ['NonStructuralSchema', structure(schemaProblems(definition))],
  ];
  if (!isTrue(definition, 'Established')) conditions.push(['Established', establishment(conflict === undefined)]);
  const approved = approval(definition, vocabulary);
  if (approved !== undefined) conditions.push([approved.type, approved]);
  return { acceptedNames, conditions: new Map(conditions) };
}

/** Once established, a definition stays so, whatever becomes of further names. */
const establishment = (areAccepted: boolean): Condition => ({
  type: 'Established',
  ...(areAccepted
    ? { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
    : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }),
});

const structure = (problems: string): Condition | undefined =>
  problems === ''
    ? undefined
    : { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message: problems };

const APPROVALS = {
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
  unapproved: { status: 'False', reason: 'UnapprovedAnnotation' },
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
} as const;

/** Definitions in groups of the product's own domains have to say where they were approved. */
function approval(definition: Definition, vocabulary: Vocabulary): Condition | undefined {
  const found = approvalOf(definition, specOf(definition).group ?? '', vocabulary);
  if (found === undefined) return undefined;
  return { type: vocabulary.policyConformantCondition, ...APPROVALS[found.state], message: found.message };
}

/** The conditions after a verdict: each in its place, with the time of its last change. */
export function merged(
  definition: Definition,
  verdict: ReadonlyMap<string, Condition | undefined>,
): readonly CustomResourceDefinitionCondition[] {
  const rest = new Map(verdict);
  const kept = conditionsOf(definition).flatMap((old) => {
    const type = old.type ?? '';
    if (!rest.has(type)) return [old];
    const next = rest.get(type);
    rest.delete(type);
    return next === undefined ? [] : [changed(old, next)];
  });
  const added = [...rest.values()].filter((condition) => condition !== undefined);
  return [...kept, ...added.map((condition) => ({ ...condition, lastTransitionTime: now() }))];
}

function changed(old: CustomResourceDefinitionCondition, next: Condition): CustomResourceDefinitionCondition {
  const isSame = old.status === next.status && old.lastTransitionTime !== undefined;
  return { ...next, lastTransitionTime: isSame ? old.lastTransitionTime : now() };
}
