import { parseFieldSelector } from '../../machinery/selectors/field-selector.js';
import { parseLabelSelector } from '../../machinery/selectors/label-selector.js';
import type { Operator } from '../../machinery/selectors/requirement.js';

/** One condition of a selector, in the form in which reviews write it. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** Absent where the operator takes none. */
  readonly values?: readonly string[];
}

/**
 * What narrows a question about a collection: all of it has to hold of an object. Who may do something with all objects of a
 * collection may do it with some. So a condition that cannot be told may be left out: the question is then a wider one, and
 * who is allowed less than that is refused.
 */
export interface Selectors {
  readonly fields: readonly SelectorRequirement[];
  readonly labels: readonly SelectorRequirement[];
}

/** Read when an authorizer looks at them: most do not. */
class TextSelectors implements Selectors {
  readonly #field: string;
  readonly #label: string;
  #fields: readonly SelectorRequirement[] | undefined;
  #labels: readonly SelectorRequirement[] | undefined;

  constructor(field: string, label: string) {
    this.#field = field;
    this.#label = label;
  }

  get fields(): readonly SelectorRequirement[] {
    return (this.#fields ??= readable(fieldRequirements, this.#field));
  }

  get labels(): readonly SelectorRequirement[] {
    return (this.#labels ??= readable(labelRequirements, this.#label));
  }
}

/** Selectors as a query writes them, '' for none. What cannot be read is left out, and is refused where lists are. */
export const textSelectors = (field: string, label: string): Selectors | undefined =>
  field === '' && label === '' ? undefined : new TextSelectors(field, label);

function readable(
  read: (text: string) => readonly SelectorRequirement[],
  text: string,
): readonly SelectorRequirement[] {
  try {
    return read(text);
  } catch {
    return [];
  }
}

/** @throws {StatusError} BadRequest */
export const fieldRequirements = (text: string): readonly SelectorRequirement[] =>
  parseFieldSelector(text).map(({ key, operator, value }) => ({
    key,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));

/** The two that compare numbers have no form in reviews. */
const LABEL_OPERATORS: Readonly<Record<Operator, SelectorRequirement['operator'] | undefined>> = {
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined,
  lt: undefined,
};

/** @throws {StatusError} BadRequest */
export const labelRequirements = (text: string): readonly SelectorRequirement[] =>
  parseLabelSelector(text).requirements.flatMap(({ key, operator: own, values }) => {
    const operator = LABEL_OPERATORS[own];
    if (operator === undefined) return [];
    return [values.length === 0 ? { key, operator } : { key, operator, values }];
  });
