import { labelValue, qualifiedName } from '../../../../machinery/meta/metadata.js';
import type * as meta from '../../../../machinery/types/generated/meta.v1.js';
import type { LabelSelector, LabelSelectorRequirement } from '../../../../machinery/types/generated/meta.v1.js';
import type { TypeRules } from '../types.js';
import { type At, shownMap, checkRule } from './at.js';

export type { LabelSelector };
export type StringMap = Readonly<Record<string, string>>;

/** Labels, or a selector of labels that must be equal. Problems are reported at the map, without the key. */
export function checkLabels(at: At, member: string, labels: StringMap | undefined): void {
  if (labels === undefined) return;
  for (const [key, value] of Object.entries(labels)) {
    checkRule(at, member, key, qualifiedName);
    checkRule(at, member, value, labelValue);
  }
}

const ANNOTATIONS_MAX_BYTES = 256 * 1024;

export function checkAnnotations(at: At, member: string, annotations: StringMap | undefined): void {
  if (annotations === undefined) return;
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of qualifiedName(key.toLowerCase())) at.invalid(member, key, problem);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > ANNOTATIONS_MAX_BYTES) at.tooLong(member, ANNOTATIONS_MAX_BYTES);
}

export const checkLabelKey = (at: At, member: string, key = ''): void => checkRule(at, member, key, qualifiedName);

const HAVE_VALUES = ['In', 'NotIn'];
const HAVE_NONE = ['Exists', 'DoesNotExist'];

function checkRequirement(at: At, { operator = '', values = [] }: LabelSelectorRequirement): void {
  if (HAVE_VALUES.includes(operator)) {
    if (values.length === 0) at.required('values', "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (HAVE_NONE.includes(operator)) {
    if (values.length > 0) {
      at.forbidden('values', "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    at.invalid('operator', operator, 'not a valid selector operator');
  }
}

export const metaRules: TypeRules<meta.Types> = { LabelSelectorRequirement: checkRequirement };

export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  matchExpressions.length === 0 && Object.keys(matchLabels).length === 0;

function meets(labels: StringMap, { key = '', operator, values = [] }: LabelSelectorRequirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  const isListed = value !== undefined && values.includes(value);
  return operator === 'In' ? isListed : !isListed;
}

/** Whether a selector that is right as such selects these labels. */
export const selects = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: StringMap): boolean =>
  Object.entries(matchLabels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value) &&
  matchExpressions.every((requirement) => meets(labels, requirement));

/**
 * The template's labels have to match the selector; an empty selector is reported elsewhere.
 *
 * @param at The place of the template.
 */
export function checkSelectsTemplate(at: At, selector: LabelSelector, labels: StringMap | undefined): void {
  if (isEmptySelector(selector) || selects(selector, labels ?? {})) return;
  at.invalidShown('metadata.labels', shownMap(labels), '`selector` does not match template `labels`');
}
