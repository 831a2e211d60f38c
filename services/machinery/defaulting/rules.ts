import { readData, translatedTree } from '../types/data-files.js';
import type { ComputationName } from './computations.js';

/** Member names joined by dots, or a list of them where a name has dots itself (keys of maps). */
export type RulePath = string | readonly string[];

/** The default of one member of a type. */
export interface DefaultRule {
  /** Lists to go through first, e.g. `containers[*].ports[*]`: `path`, `from` and `fillFrom` are read in each item. */
  readonly at?: string;
  /** The member. What lies on the way to it is made when it is not there. */
  readonly path: RulePath;
  /** Exactly one of these four: a constant, */
  readonly value?: unknown;
  /** a copy of another member (of what `by` makes of it), if that has a value, */
  readonly from?: RulePath;
  readonly by?: ComputationName;
  /** those entries of another map that are missing in this one, */
  readonly fillFrom?: RulePath;
  /** or nothing: the member is taken out. */
  readonly clear?: true;
  /** Write even over a value. */
  readonly always?: true;
  /** The rule counts when all of these hold. Paths start at the type. A member is one of those values, */
  readonly when?: Readonly<Record<string, unknown>>;
  /** those members are set, */
  readonly whenSet?: readonly RulePath[];
  /** those are not, */
  readonly whenUnset?: readonly RulePath[];
  /** no member of that inline type is set. */
  readonly whenNone?: string;
}

export type RulesOf = (typeKey: string) => readonly DefaultRule[];

type Translate = (platformForm: string) => string;

/** The rules of each type, in the order they are to be applied; translated when they are asked for. */
export function loadRules(translate: Translate): RulesOf {
  const file = readData<Readonly<Record<string, readonly DefaultRule[]>>>('defaults.json');
  const byType = new Map(Object.entries(file).map(([key, rules]) => [translate(key), rules]));
  return (typeKey) => (byType.get(typeKey) ?? []).map((rule) => translatedTree(rule, translate));
}
