import type { FieldError } from '../../../../machinery/meta/status.js';
import { field } from '../../../../machinery/meta/status.js';
import type { Problems } from '../types.js';

/** Nobody reads more, and a body of a few MiB could have hundreds of thousands. */
const MOST_PROBLEMS = 1000;
/** Values are shown this far, in characters. */
const MOST_SHOWN = 4096;

const cut = (shown: string): string => (shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}...` : shown);

/**
 * A place in an object, and where to put what is wrong there. Validation runs on every write and finds nothing in nearly
 * all of them: a place is one small object, and its path becomes text when there is a problem to report.
 *
 * The methods that report take the member that is wrong (a path below this place, '' for the place itself) and are named
 * after the reasons of field errors.
 */
export class At {
  readonly problems: Problems;
  readonly #outer: At | undefined;
  readonly #step: string | number;
  readonly #isKey: boolean;

  private constructor(problems: Problems, outer: At | undefined, step: string | number, isKey: boolean) {
    this.problems = problems;
    this.#outer = outer;
    this.#step = step;
    this.#isKey = isKey;
  }

  /** @param path Where the walk begins, e.g. `spec`; '' for the object itself. */
  static root(problems: Problems, path = ''): At {
    return new At(problems, undefined, path, false);
  }

  child(member: string): At {
    return new At(this.problems, this, member, false);
  }

  index(i: number): At {
    return new At(this.problems, this, i, false);
  }

  /** A key of a map. */
  key(key: string): At {
    return new At(this.problems, this, key, true);
  }

  /** e.g. `spec.containers[0].resources.limits[cpu]` */
  get path(): string {
    const outer = this.#outer?.path ?? '';
    if (typeof this.#step === 'number' || this.#isKey) return `${outer}[${this.#step}]`;
    return joined(outer, this.#step);
  }

  /** Whether nothing is wrong with the member so far, and nothing below it. */
  isRight(member: string): boolean {
    if (this.problems.length === 0) return true;
    const path = joined(this.path, member);
    return !this.problems.some(({ field: place }) => place.startsWith(path) && !/^\w/.test(place.slice(path.length)));
  }

  /** The items of a list that something is wrong with so far. */
  wrongItems(member: string): ReadonlySet<number> {
    const start = `${joined(this.path, member)}[`;
    return new Set(
      this.problems.flatMap(({ field: place }) =>
        place.startsWith(start) ? [Number.parseInt(place.slice(start.length), 10)] : [],
      ),
    );
  }

  #report(problem: FieldError): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  required(member: string, detail = ''): void {
    this.#report(field.required(joined(this.path, member), detail));
  }

  /** @param value What was found; undefined is shown as what clients know for it, a null in quotes. */
  invalid(member: string, value: unknown, detail: string): void {
    this.#report(field.invalid(joined(this.path, member), short(value) ?? 'null', detail));
  }

  /** The same for a value that has been put in words: see `shownMap` and `shownList`. */
  invalidShown(member: string, shown: string, detail: string): void {
    this.#report({
      reason: 'FieldValueInvalid',
      field: joined(this.path, member),
      message: `Invalid value: ${cut(shown)}: ${detail}`,
    });
  }

  forbidden(member: string, detail: string): void {
    this.#report(field.forbidden(joined(this.path, member), detail));
  }

  notSupported(member: string, value: unknown, supported: readonly string[]): void {
    this.#report(field.notSupported(joined(this.path, member), short(value) ?? '', supported));
  }

  /** The same for a list: see `shownList`. */
  notSupportedShown(member: string, shown: string, supported: readonly string[]): void {
    const { message, ...problem } = field.notSupported(joined(this.path, member), '', supported);
    this.#report({ ...problem, message: message.replace('""', () => cut(shown)) });
  }

  duplicate(member: string, value: unknown): void {
    this.#report(field.duplicate(joined(this.path, member), short(value)));
  }

  notFound(member: string, value: unknown): void {
    this.#report(field.notFound(joined(this.path, member), short(value)));
  }

  tooLong(member: string, max: number): void {
    this.#report(field.tooLong(joined(this.path, member), max));
  }

  tooMany(member: string, count: number, max: number): void {
    this.#report(field.tooMany(joined(this.path, member), count, max));
  }
}

/** Of other values the parts are short, or there is one of them in an object. */
const short = (value: unknown): unknown => (typeof value === 'string' ? cut(value) : value);

const joined = (path: string, member: string): string =>
  path === '' ? member : member === '' ? path : `${path}.${member}`;

/** Maps and lists of strings look like this in messages, whatever language wrote them first. */
export const shownMap = (map: Readonly<Record<string, string>> = {}): string =>
  `map[string]string{${Object.keys(map)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(map[key])}`)
    .join(', ')}}`;

export const shownList = (list: readonly string[] = []): string =>
  `[]string{${list.map((item) => JSON.stringify(item)).join(', ')}}`;
