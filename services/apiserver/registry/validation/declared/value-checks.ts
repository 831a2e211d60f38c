import {
  type TextRule,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  pathSegment,
  qualifiedName,
} from '../../../../machinery/meta/metadata.js';
import type { FieldCheck, ValueCheck } from '../../../../machinery/types/declarations.js';
import {
  type At,
  shownList,
  betweenDetail,
  checkDriverName,
  checkPort,
  checkPortOrName,
  checkRule,
  NOT_NEGATIVE,
} from '../checks/at.js';
import {
  type Count,
  checkCount,
  checkNotMoreThanAll,
  checkPlainQuantity,
  checkPositiveQuantity,
} from '../checks/quantities.js';
import type { StringMap } from '../checks/labels.js';
import { checkAnnotations, checkLabels } from '../checks/labels.js';
import {
  absolutePath,
  anyOrSubdomain,
  conditionReason,
  dataKey,
  descendingPath,
  envVarName,
  hostName,
  httpHeaderName,
  ipAddress,
  localPath,
  percentage,
  portName,
  publicAddress,
  unreservedPath,
  wwn,
} from '../checks/text.js';

/** The rules for texts that declarations name. */
const TEXT_RULES: ReadonlyMap<string, TextRule> = new Map([
  ['absolute-path', absolutePath],
  ['any-or-subdomain', anyOrSubdomain],
  ['condition-reason', conditionReason],
  ['data-key', dataKey],
  ['descending-path', descendingPath],
  ['dns1035-label', dns1035Label],
  ['dns1123-label', dns1123Label],
  ['dns1123-subdomain', dns1123Subdomain],
  ['env-var-name', envVarName],
  ['host', hostName],
  ['http-header-name', httpHeaderName],
  ['ip', ipAddress],
  ['label-value', labelValue],
  ['local-path', localPath],
  ['path-segment', pathSegment],
  ['percentage', percentage],
  ['port-name', portName],
  ['public-ip', publicAddress],
  ['qualified-name', qualifiedName],
  ['unreserved-path', unreservedPath],
  ['wwn', wwn],
]);

/** Asks one thing of a member; false when there is no use in asking more. */
export type Check = (at: At, member: string, value: unknown) => boolean;

/** Absent, or the zero of its type. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

/** A check that leads to nothing else. The type of the value is what decoding has seen to. */
const plain =
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller says what its values are
  <T>(check: (at: At, member: string, value: T) => void): Check =>
    (at, member, value) => {
      check(at, member, value as T);
      return true;
    };

const FORMS: Readonly<Record<NonNullable<ValueCheck['form']>, Check>> = {
  port: plain<number>(checkPort),
  portOrName: plain<number | string>(checkPortOrName),
  count: plain<Count>(checkCount),
  share: plain<Count>((at, member, count) => {
    checkCount(at, member, count);
    checkNotMoreThanAll(at, member, count);
  }),
  labels: plain<StringMap>(checkLabels),
  annotations: plain<StringMap>(checkAnnotations),
  driver: plain<string>(checkDriverName),
  notNegativeQuantity: plain<string>((at, member, quantity) => {
    if (quantity.startsWith('-')) at.invalid(member, quantity, NOT_NEGATIVE);
  }),
  plainQuantity: plain<string>(checkPlainQuantity),
  positiveQuantity: plain<string>(checkPositiveQuantity),
};

function range({ min, max, why }: ValueCheck): Check {
  const least = min ?? -Infinity;
  const most = max ?? Infinity;
  const detail = why ?? (min === undefined || max === undefined ? NOT_NEGATIVE : betweenDetail(min, max));
  return plain<number>((at, member, value) => {
    if (value < least || value > most) at.invalid(member, value, detail);
  });
}

const required =
  (detail: string): Check =>
  (at, member, value) => {
    if (!isEmpty(value)) return true;
    at.required(member, detail);
    return false;
  };

const skipEmpty: Check = (_at, _member, value) => value !== '' && value !== null;

function oneOf(allowed: readonly string[]): Check {
  const known = new Set(allowed);
  return plain<string>((at, member, value) => {
    if (!known.has(value)) at.notSupported(member, value, allowed);
  });
}

function ruleNamed(name: string): Check {
  const rule = TEXT_RULES.get(name);
  if (rule === undefined) throw new Error(`No rule for texts is called ${name}`);
  return plain<string>((at, member, value) => checkRule(at, member, value, rule));
}

/** @param isEmptyAsked Whether the empty text is a value like another. */
export function valueChecks(check: ValueCheck, isEmptyAsked: boolean): readonly Check[] {
  const { form, maxBytes } = check;
  const checks: Check[] = [];
  if (check.required !== undefined) checks.push(required(check.required === true ? '' : check.required));
  else if (!isEmptyAsked) checks.push(skipEmpty);
  if (check.min !== undefined || check.max !== undefined) checks.push(range(check));
  if (check.enum !== undefined) checks.push(oneOf(check.enum));
  if (check.rule !== undefined) checks.push(ruleNamed(check.rule));
  if (form !== undefined) checks.push(FORMS[form]);
  if (maxBytes !== undefined) {
    checks.push(
      plain<string>((at, member, value) => {
        if (Buffer.byteLength(value) > maxBytes) at.tooLong(member, maxBytes);
      }),
    );
  }
  return checks;
}

/** The checks of a list as such; more than it may hold is not looked at. */
export function listChecks({ required: isRequired, maxItems, alone }: FieldCheck): readonly Check[] {
  const checks: Check[] = [];
  if (isRequired !== undefined) checks.push(required(isRequired === true ? '' : isRequired));
  if (maxItems !== undefined) {
    checks.push((at, member, value) => {
      const { length } = value as readonly unknown[];
      if (length > maxItems) at.tooMany(member, length, maxItems);
      return length <= maxItems;
    });
  }
  if (alone !== undefined) {
    checks.push(
      plain<readonly string[]>((at, member, list) => {
        if (list.length < 2 || !list.includes('*')) return;
        at.invalidShown(member, shownList(list), `if '*' is present, must not specify other ${alone}`);
      }),
    );
  }
  return checks;
}
