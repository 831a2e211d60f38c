import { apiVersionOf, type ApiObject } from '../meta/object.js';
import { typeKey } from '../types/catalog.js';
import type { Catalog } from '../types/declarations.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import { autoscalerSpokes } from './autoscaler.js';
import { disruptionBudgetSpokes } from './disruption-budget.js';
import { endpointSliceSpokes } from './endpoint-slice.js';
import { eventSpokes } from './event.js';
import type { Convert, Spoke } from './spoke.js';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Converter {
  /**
   * The object in another served version of its kind. Pure; the same object if the version is the same. Parts that the
   * versions share are shared by the two objects. `managedFields` keep the versions they name.
   *
   * @throws {Error} The two are no versions of one stored kind: a mistake of the caller's, not of a client's.
   */
  readonly convert: (object: ApiObject, from: GroupVersionKind, to: GroupVersionKind) => ApiObject;
  /** The same as a function for many objects. */
  readonly between: (from: GroupVersionKind, to: GroupVersionKind) => Convert;
}

/** Kinds whose versions differ in more than apiVersion. A new family is one file, one test and one line here. */
const FAMILIES: readonly ((vocabulary: Vocabulary) => readonly Spoke[])[] = [
  autoscalerSpokes,
  disruptionBudgetSpokes,
  endpointSliceSpokes,
  eventSpokes,
];

/** One served version of a stored kind: its way to the hub and from it. */
interface Served {
  /** Key of the type that is stored: what versions of one kind have in common. */
  readonly hub: string;
  readonly toHub: Convert;
  readonly fromHub: Convert;
}

const same: Convert = (object) => object;

/** Builds the table of all stored kinds' versions; those that no family names have the shape of their hub. */
function servedVersions(catalog: Catalog, vocabulary: Vocabulary): ReadonlyMap<string, Served> {
  const spokes = new Map(
    FAMILIES.flatMap((family) => family(vocabulary)).map((s) => [typeKey(s.group, s.version, s.kind), s]),
  );
  return new Map(
    catalog.resources
      .filter((r) => !r.virtual)
      .map((r) => {
        const { toHub, fromHub } = spokes.get(r.type) ?? { toHub: same, fromHub: same };
        return [r.type, { hub: typeKey(r.storage.group, r.storage.version, r.kind), toHub, fromHub }];
      }),
  );
}

/** Converts between the served versions of each kind, by way of the version that is stored. */
export function converter(catalog: Catalog, vocabulary: Vocabulary): Converter {
  const served = servedVersions(catalog, vocabulary);

  const between = (from: GroupVersionKind, to: GroupVersionKind): Convert => {
    if (from.group === to.group && from.version === to.version) return same;
    const [a, b] = [from, to].map((gvk) => served.get(typeKey(gvk.group, gvk.version, gvk.kind)));
    if (a === undefined || b === undefined || a.hub !== b.hub) {
      const [source, target] = [from, to].map((gvk) => `${apiVersionOf(gvk)} ${gvk.kind}`);
      throw new Error(`Cannot convert ${source ?? ''} to ${target ?? ''}: they are not stored as one kind`);
    }
    const apiVersion = apiVersionOf(to);
    return (object) => ({ ...b.fromHub(a.toHub(object)), apiVersion });
  };

  return { between, convert: (object, from, to) => between(from, to)(object) };
}
