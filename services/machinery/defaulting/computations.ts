import { canonicalQuantity } from '../schema/quantity.js';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Image names behind their registry. Others have no tag, and are refused by the node that runs them. */
const REPOSITORY = /^[a-z0-9._/-]+$/;
const REGISTRY = /^(?:localhost|[^/]*[.:][^/]*)\//;

/** The tag of an image's name, `latest` where it names neither tag nor digest; '' for what is no image's name. */
function tagOf(image: string): string {
  const [name = '', digest] = image.split('@', 2);
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  const repository = (colon < 0 ? name : name.slice(0, colon)).replace(REGISTRY, '');
  if (!REPOSITORY.test(repository)) return '';
  if (colon >= 0) return name.slice(colon + 1);
  return digest === undefined ? 'latest' : '';
}

/** Values that are worked out from another member; undefined leaves the member as it is. */
export const COMPUTATIONS = {
  /** An image that may change under the same name is fetched every time. */
  imagePullPolicy: (image: unknown) => (tagOf(textOf(image)) === 'latest' ? 'Always' : undefined),
  lowerCase: (text: unknown) => textOf(text).toLowerCase() || undefined,
  listKind: (kind: unknown) => (textOf(kind) === '' ? undefined : `${textOf(kind)}List`),
  storedVersions: (versions: unknown) => {
    const list = (Array.isArray(versions) ? versions : []) as readonly { name?: string; storage?: boolean }[]; // decoded
    const stored = list.find(({ storage }) => storage === true)?.name;
    return stored === undefined ? undefined : [stored];
  },
} satisfies Readonly<Record<string, (value: unknown) => unknown>>;
export type ComputationName = keyof typeof COMPUTATIONS;

/** Canonical texts of amounts that are no multiple of a thousandth. */
const BELOW_MILLI = /^(-?)(\d+)(?:([nu])|e-([69]))$/;
const PER_MILLI: ReadonlyMap<string, bigint> = new Map(
  Object.entries<bigint>({ n: 1_000_000n, 9: 1_000_000n, u: 1_000n, 6: 1_000n }),
);

/** A canonical quantity, rounded away from zero to the next thousandth. */
export function roundedToMilli(quantity: string): string {
  const match = BELOW_MILLI.exec(quantity);
  if (match === null) return quantity;
  const [, sign = '', digits = '', suffix, exponent] = match;
  const divisor = PER_MILLI.get(suffix ?? exponent ?? '') ?? 1n;
  const milli = (BigInt(digits) + divisor - 1n) / divisor;
  return canonicalQuantity(`${sign}${milli}${exponent === undefined ? 'm' : 'e-3'}`) ?? quantity;
}
