import { labelValue, qualifiedName } from '../../../machinery/meta/metadata.js';
import { field, type FieldError } from '../../../machinery/meta/status.js';
import {
  fieldRequirements,
  labelRequirements,
  type SelectorRequirement,
  type Selectors,
} from '../../authorization/selectors.js';

/** A selector as a review of access gives it: as text or as a list. */
export interface GivenSelector {
  readonly rawSelector?: string;
  readonly requirements?: readonly GivenRequirement[] | null;
}

interface GivenRequirement {
  readonly key?: string;
  /** One that this server does not know is no error: clients may be newer. */
  readonly operator?: string;
  readonly values?: readonly string[] | null;
}

export interface GivenSelectors {
  readonly fieldSelector?: GivenSelector | null;
  readonly labelSelector?: GivenSelector | null;
}

const PATH = 'spec.resourceAttributes';

export const checkSelectors = ({ fieldSelector, labelSelector }: GivenSelectors): FieldError[] => [
  ...checkSelector(`${PATH}.fieldSelector`, fieldSelector, checkFieldRequirement),
  ...checkSelector(`${PATH}.labelSelector`, labelSelector, checkLabelRequirement),
];

type CheckRequirement = (path: string, given: GivenRequirement) => readonly FieldError[];

function checkSelector(path: string, given: GivenSelector | null | undefined, check: CheckRequirement): FieldError[] {
  if (given == null) return [];
  const errors: FieldError[] = [];
  const raw = given.rawSelector ?? '';
  const requirements = given.requirements ?? [];
  if (raw !== '' && requirements.length > 0) {
    errors.push(field.invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'));
  }
  if (raw === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(field.required(`${path}.requirements`, why));
  }
  return [...errors, ...requirements.flatMap((it, i) => check(`${path}.requirements[${i}]`, it))];
}

const checkFieldRequirement: CheckRequirement = (path, given) => [
  ...((given.key ?? '') === '' ? [field.required(`${path}.key`, 'must be specified')] : []),
  ...checkValues(path, given),
];

const checkLabelRequirement: CheckRequirement = (path, given) => {
  const { key = '', values } = given;
  return [
    ...checkValues(path, given),
    ...qualifiedName(key).map((problem) => field.invalid(`${path}.key`, key, problem)),
    ...(values ?? []).flatMap((value, i) =>
      labelValue(value).map((problem) => field.invalid(`${path}.values[${i}]`, value, problem)),
    ),
  ];
};

function checkValues(path: string, { operator, values }: GivenRequirement): FieldError[] {
  const count = values?.length ?? 0;
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    return [field.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0) {
    return [field.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

export interface ReadSelectors {
  readonly selectors: Selectors | undefined;
  /** What was left out of the question, for people. */
  readonly ignored: readonly string[];
}

/** @param given Without errors. */
export function readSelectors({ fieldSelector, labelSelector }: GivenSelectors): ReadSelectors {
  if (fieldSelector == null && labelSelector == null) return { selectors: undefined, ignored: [] };
  const fields = readSelector(fieldSelector, fieldRequirements, oneField);
  const labels = readSelector(labelSelector, labelRequirements, oneLabel);
  return {
    selectors: { fields: fields.requirements, labels: labels.requirements },
    ignored: [...ignoredOf('fieldSelector', fields), ...ignoredOf('labelSelector', labels)],
  };
}

interface ReadSelector {
  readonly requirements: readonly SelectorRequirement[];
  readonly complete: boolean;
}

function readSelector(
  given: GivenSelector | null | undefined,
  read: (text: string) => readonly SelectorRequirement[],
  one: (given: GivenRequirement) => SelectorRequirement | undefined,
): ReadSelector {
  const raw = given?.rawSelector ?? '';
  if (raw === '') {
    const asked = given?.requirements ?? [];
    const requirements = asked.map(one).filter((it) => it !== undefined);
    return { requirements, complete: requirements.length === asked.length };
  }
  try {
    return { requirements: read(raw), complete: true };
  } catch {
    return { requirements: [], complete: false };
  }
}

/** Selectors of fields compare with one value. */
function oneField({ key = '', operator, values }: GivenRequirement): SelectorRequirement | undefined {
  if (values?.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return { key, operator, values };
}

function oneLabel({ key = '', operator, values }: GivenRequirement): SelectorRequirement | undefined {
  if (operator === 'Exists' || operator === 'DoesNotExist') return { key, operator };
  return operator === 'In' || operator === 'NotIn' ? { key, operator, values: values ?? [] } : undefined;
}

function ignoredOf(member: string, { requirements, complete }: ReadSelector): readonly string[] {
  if (complete) return [];
  const how = requirements.length === 0 ? 'ignored' : 'partially ignored';
  return [`${PATH}.${member} ${how} due to parse error`];
}
