import { getOwn, isJsonObject } from '../../machinery/meta/own.js';

/** Finds values in an object. */
export interface Path {
  /** The first value that is there and not null; undefined when there is none. */
  first(root: unknown): unknown;
  /** All of them; a list that the path ends at is one value. */
  all(root: unknown): readonly unknown[];
}

/** One step from a value to others. */
type Step = (value: unknown) => readonly unknown[];

const NOTHING: readonly unknown[] = [];
const given = (value: unknown): readonly unknown[] => (value === undefined || value === null ? NOTHING : [value]);

const member =
  (name: string): Step =>
  (value) =>
    isJsonObject(value) ? given(getOwn(value, name)) : NOTHING;

const element =
  (index: number): Step =>
  (value) =>
    Array.isArray(value) ? given(value.at(index)) : NOTHING;

const everything: Step = (value) => {
  if (Array.isArray(value)) return value as unknown[];
  return isJsonObject(value) ? Object.values(value) : NOTHING;
};

const matching =
  (at: Path, wanted: string): Step =>
  (value) =>
    Array.isArray(value) ? value.filter((item) => at.first(item) === wanted) : NOTHING;

/** `name`, `.name`, `["name"]`, `[0]`, `[*]`, `[?(@.name=="value")]` */
const STEP =
  /\.?([A-Za-z_][\w-]*)|\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+)|(\*)|\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\))\]/y;

/**
 * A path such as `spec.containers[*].name`.
 *
 * @throws {Error} when it is none; paths are written by us or checked before.
 */
export function compilePath(text: string): Path {
  const steps = stepsOf(text);
  const [only] = steps;
  const all: Path['all'] =
    only !== undefined && steps.length === 1
      ? only
      : (root) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [root]);
  return { all, first: (root) => firstOf(steps, 0, root) };
}

function stepsOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  const pattern = new RegExp(STEP);
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) throw new Error(`Not a path at character ${at}: ${text}`);
    steps.push(stepOf(match));
  }
  return steps;
}

function stepOf([, name, quoted, single, index, star, filter, wanted = '']: RegExpExecArray): Step {
  if (index !== undefined) return element(Number(index));
  if (star !== undefined) return everything;
  if (filter !== undefined) return matching(compilePath(filter), wanted);
  return member(name ?? (quoted ?? single ?? '').replace(/\\(.)/g, '$1'));
}

/** Without lists in between: most paths have one value, and every cell of every row takes this way. */
function firstOf(steps: readonly Step[], at: number, value: unknown): unknown {
  const step = steps[at];
  if (step === undefined) return value;
  for (const next of step(value)) {
    const found = firstOf(steps, at + 1, next);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}
