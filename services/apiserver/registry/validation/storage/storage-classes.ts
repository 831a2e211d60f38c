import { isDeepStrictEqual } from 'node:util';
import { qualifiedName } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkLabelKey } from '../checks/labels.js';
import type { List } from '../checks/members.js';
import { checkEnum, checkImmutable, checkRule, each } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';

interface LabelValues {
  readonly key?: string;
  readonly values?: List<string>;
}

interface StorageClass {
  readonly provisioner?: string;
  readonly parameters?: StringMap;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly { readonly matchLabelExpressions?: readonly LabelValues[] }[];
}

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

function checkParameters(at: At, parameters: StringMap): void {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) {
    at.tooLong('parameters', MAX_PARAMETERS);
    return;
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') at.invalid('parameters', key, 'field can not be empty.');
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_PARAMETERS_BYTES) at.tooLong('parameters', MAX_PARAMETERS_BYTES);
}

/** What a term means, whatever the order it is written in. */
const meaningOf = (term: readonly LabelValues[]): string =>
  JSON.stringify(term.map(({ key, values }) => [key, [...new Set(values)].sort()]).sort(byKey));

const byKey = ([a = '']: readonly unknown[], [b = '']: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

function checkTerm(at: At, term: readonly LabelValues[]): void {
  const keys = new Set<string>();
  each(at, 'matchLabelExpressions', term, ({ key = '', values }, expressionAt) => {
    if ((values ?? []).length === 0) expressionAt.required('values');
    const seen = new Set<string>();
    each(expressionAt, 'values', values, (value, valueAt) => {
      if (seen.has(value)) valueAt.duplicate('', value);
      seen.add(value);
    });
    checkLabelKey(expressionAt, 'key', key);
    if (keys.has(key)) expressionAt.duplicate('key', key);
    keys.add(key);
  });
}

function checkStorageClass(object: ApiObject, problems: Problems): void {
  const at = At.root(problems);
  const {
    provisioner = '',
    parameters = {},
    reclaimPolicy,
    volumeBindingMode,
    allowedTopologies,
  } = object as StorageClass;
  if (provisioner === '') at.required('provisioner');
  else checkRule(at, 'provisioner', provisioner.toLowerCase(), qualifiedName);
  checkParameters(at, parameters);
  checkEnum(at, 'reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']);
  checkEnum(at, 'volumeBindingMode', volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']);
  const meanings = new Set<string>();
  each(at, 'allowedTopologies', allowedTopologies, ({ matchLabelExpressions: term = [] }, termAt) => {
    checkTerm(termAt, term);
    const meaning = meaningOf(term);
    if (meanings.has(meaning)) termAt.duplicate('matchLabelExpressions', '');
    meanings.add(meaning);
  });
}

/** Volumes are made with these, and could not be told apart from those made otherwise. */
const FIXED = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

export const storageClasses: KindValidation = {
  object: checkStorageClass,
  update: (next, old, problems) => {
    const at = At.root(problems);
    for (const member of FIXED) {
      if (!isDeepStrictEqual(next[member], old[member])) at.forbidden(member, `updates to ${member} are forbidden.`);
    }
    checkImmutable(at, 'volumeBindingMode', next['volumeBindingMode'], old['volumeBindingMode']);
  },
};
