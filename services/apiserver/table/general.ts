import { labelSelectorOf } from '../../machinery/selectors/label-selector.js';
import { ageOf, listOf, recordOf, shortened, textOf, timeOf, type ColumnInput, type Show } from './cell.js';
import { humanDuration } from './human-duration.js';

const scalarText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** The first path that leads to something. */
export function firstGiven({ paths, first }: ColumnInput): unknown {
  for (let i = 0; i < paths.length; i++) {
    const value = first(i);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

const sizeOf = (value: unknown): number => (Array.isArray(value) ? value.length : Object.keys(recordOf(value)).length);

/** `a=1,b=2` */
const labelText = (labels: unknown): string =>
  Object.entries(recordOf(labels))
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .sort()
    .join(',');

function selectorText(selector: unknown): string {
  if (selector === undefined) return '';
  try {
    return labelSelectorOf(recordOf(selector)).toString();
  } catch {
    return '<error>'; // validation keeps such selectors out
  }
}

/** Functions for columns of any kind. */
export const GENERAL = {
  /** Numbers and booleans as text. */
  text: (input) => scalarText(firstGiven(input)),
  trimmed: (input) => textOf(firstGiven(input)).trim(),
  capital: ({ first }) => {
    const value = first();
    return typeof value === 'boolean' ? (value ? 'True' : 'False') : undefined;
  },
  /** How many there are in all lists and maps together. */
  count: ({ paths, first }) => paths.reduce((sum, _, i) => sum + sizeOf(first(i)), 0),
  age: (input) => {
    const ms = timeOf(firstGiven(input));
    return ms === undefined ? undefined : ageOf(ms);
  },
  seconds: ({ first }) => {
    const seconds = first();
    return typeof seconds === 'number' ? humanDuration(seconds * 1000) : undefined;
  },
  /** From the first time to the second, or to now. */
  duration: ({ first }) => {
    const [start, end] = [timeOf(first(0)), timeOf(first(1))];
    if (start === undefined) return '';
    return end === undefined ? ageOf(start) : humanDuration(end - start);
  },
  /** All values, those of lists one by one, with commas between. */
  join: ({ all }) =>
    all()
      .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
      .map(scalarText)
      .join(','),
  firstThree: ({ all }) => shortened(all().map(scalarText), 3),
  /** `a/b`, as far as any of it is there. */
  slashed: ({ paths, first }) => {
    const parts = paths.map((_, i) => textOf(first(i)));
    return parts.every((part) => part === '') ? undefined : parts.join('/');
  },
  /** `1/3` */
  fraction: ({ first }) => `${scalarText(first(0) ?? 0)}/${scalarText(first(1) ?? 0)}`,
  labels: ({ first }) => labelText(first()),
  selector: ({ first }) => selectorText(first()),
  /** The second path, unless the object is being deleted. */
  phase: ({ first }) => (first(0) === undefined ? textOf(first(1)) : 'Terminating'),
  /** `namespace/name`, where the namespace may be that of each object; else the labels. */
  paramRef: ({ first }) => {
    const { name, namespace, selector } = recordOf(first());
    if (textOf(name) === '') return selectorText(selector);
    return `${textOf(namespace) === '' ? '*' : textOf(namespace)}/${textOf(name)}`;
  },
  /** Names of the subjects of one kind. */
  subjects: ({ first, args }) =>
    listOf(first())
      .map(recordOf)
      .filter(({ kind }) => kind === args[0])
      .map(({ kind, namespace, name }) =>
        kind === 'ServiceAccount' ? `${textOf(namespace)}/${textOf(name)}` : textOf(name),
      )
      .join(', '),
  /** `deployment.apps/web`: the owner that controls the object. */
  controller: ({ first }) => {
    const owner = listOf(first())
      .map(recordOf)
      .find((it) => it['controller'] === true);
    if (owner === undefined) return undefined;
    const apiVersion = textOf(owner['apiVersion']);
    const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
    return `${`${textOf(owner['kind'])}${group}`.toLowerCase()}/${textOf(owner['name'])}`;
  },
} as const satisfies Readonly<Record<string, Show>>;
