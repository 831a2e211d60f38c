import { escapedName } from '../cel/schema-types.js';
import { fixed, type Range } from '../cel/cost/ranges.js';
import type { SizeOfPlace } from '../cel/cost/estimate.js';
import { formatOf } from './check-type.js';
import type { Structural } from './structural.js';

/** Bytes of the largest request that costs are estimated for. */
export const LARGEST_REQUEST = 3 * 1024 * 1024;

/** What is known of how long values of a schema may be. */
interface Sizes {
  /** Most items, members or characters. */
  readonly most: number;
  /** Bytes of the shortest value as JSON. */
  readonly shortest: number;
  readonly fields?: ReadonlyMap<string, Sizes>;
  readonly item?: Sizes;
  readonly isMap?: boolean;
}

const known = new WeakMap<Structural, Sizes | null>();
const knownRoots = new WeakMap<Structural, Sizes | null>();

/** Undefined where expressions cannot look into the values. */
function sizesOf(schema: Structural, hasIdentity = schema.embedded): Sizes | undefined {
  const cache = hasIdentity ? knownRoots : known;
  let sizes = cache.get(schema);
  if (sizes === undefined) {
    sizes = makeSizes(schema, hasIdentity) ?? null;
    cache.set(schema, sizes);
  }
  return sizes ?? undefined;
}

const TEXT: Sizes = { most: LARGEST_REQUEST - 2, shortest: 2 };
/** Of names of members nothing is known, and other servers count them as empty. */
const KEY: Sizes = { most: 0, shortest: 2 };

function makeSizes(schema: Structural, hasIdentity: boolean): Sizes | undefined {
  if (schema.intOrString) return { most: mostCharacters(schema) ?? TEXT.most, shortest: 1 };
  switch (schema.type) {
    case 'array': {
      const item = schema.items === undefined ? undefined : sizesOf(schema.items);
      if (item === undefined) return undefined;
      return { most: schema.checks?.maxItems ?? within(item.shortest + 1), shortest: 2, item };
    }
    case 'object': {
      if (typeof schema.additional !== 'object') return objectSizes(schema, hasIdentity);
      const item = sizesOf(schema.additional);
      if (item === undefined) return undefined;
      return { most: schema.checks?.maxProperties ?? within(item.shortest + 6), shortest: 2, item, isMap: true };
    }
    case 'string':
      return textSizes(schema);
    case 'boolean':
      return { most: 0, shortest: 4 };
    case undefined:
      return undefined;
    default:
      return { most: 0, shortest: 1 };
  }
}

/** How many values of so many bytes a request has room for, beside the brackets around them. */
const within = (bytes: number): number => Math.floor((LARGEST_REQUEST - 2) / bytes);

/** A character may be four bytes. */
const mostCharacters = ({ checks }: Structural): number | undefined =>
  checks?.maxLength === undefined ? undefined : Math.max(0, checks.maxLength) * 4;

const FORMATS: ReadonlyMap<string, Sizes> = new Map([
  ['duration', { most: 32, shortest: 3 }],
  ['date', { most: 12, shortest: 12 }],
  ['date-time', { most: 32, shortest: 21 }],
]);

function textSizes(schema: Structural): Sizes {
  const format = formatOf(schema);
  const time = FORMATS.get(format);
  if (time !== undefined) return time;
  if (format === 'byte') return { most: schema.checks?.maxLength ?? TEXT.most, shortest: 2 };
  const values = (schema.checks?.enum ?? []).map((it) => (typeof it === 'string' ? Buffer.byteLength(it) : 0));
  const byEnum = values.length === 0 ? undefined : Math.max(...values);
  return { most: mostCharacters(schema) ?? byEnum ?? TEXT.most, shortest: 2 };
}

const METADATA: Sizes = {
  most: 0,
  shortest: 2,
  fields: new Map([
    ['name', TEXT],
    ['generateName', TEXT],
  ]),
};

function objectSizes(schema: Structural, hasIdentity: boolean): Sizes {
  const fields = new Map<string, Sizes>();
  const required = new Set(schema.checks?.required);
  let shortest = 2;
  for (const [name, property] of schema.properties) {
    const sizes = sizesOf(property);
    if (sizes === undefined) continue;
    const escaped = escapedName(name);
    if (escaped !== undefined) fields.set(escaped, sizes);
    if (required.has(name) && property.default === undefined) shortest += Buffer.byteLength(name) + sizes.shortest + 4;
  }
  if (hasIdentity) fields.set('apiVersion', TEXT).set('kind', TEXT).set('metadata', METADATA);
  return { most: 0, shortest, fields };
}

const INSIDE: ReadonlyMap<string, (sizes: Sizes) => Sizes | undefined> = new Map([
  ['@items', ({ item }: Sizes) => item],
  ['@values', ({ item }: Sizes) => item],
  ['@keys', ({ isMap }: Sizes) => (isMap === true ? KEY : undefined)],
]);

/** How long the values may be that a rule of a schema sees; whatever variable they come from, they are of the schema. */
export function placesOf(schema: Structural, isRoot: boolean): SizeOfPlace {
  const root = sizesOf(schema, isRoot || schema.embedded);
  return (path): Range | undefined => {
    let at = root;
    for (const name of path.slice(1)) at = at && (INSIDE.get(name)?.(at) ?? at.fields?.get(name));
    return at === undefined ? undefined : { min: 0, max: fixed(at.most).max };
  };
}

/** How often values of a schema may be in one request, of which nothing bounds the number. */
export function mostOften(schema: Structural, isRoot: boolean): number {
  const sizes = sizesOf(schema, isRoot || schema.embedded);
  return Math.floor(LARGEST_REQUEST / ((sizes?.shortest ?? 0) + 1));
}
