import { DEFAULT_GATES, type FeatureGates } from '../features/feature-gates.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import { readData } from './data-files.js';
import type {
  Catalog,
  ResourceDeclaration,
  ResourceVerb,
  SelectableField,
  SubresourceDeclaration,
  TableDeclaration,
} from './declarations.js';
import { typeGraph } from './graph.js';
import { LazyTypes } from './lazy-types.js';
import { isReached, isServed } from './release.js';
import { selectableFields } from './selectable-fields.js';
import { tables } from './tables.js';

/** One entry of data/resources.json, in the platform's words. Absent lists are empty. */
interface ResourceEntry {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly ResourceVerb[];
  readonly subresources?: readonly SubresourceDeclaration[];
  readonly virtual?: true;
  /** A version of the same group, or `core/<version>`. */
  readonly storageVersion?: string;
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
  readonly servedByDefault: boolean;
}

/** The part of data/name-rules.json that the catalog needs. Keys are `<group or core>/<Kind>`. */
interface NameRules {
  readonly names: Readonly<Record<string, { readonly rule: string; readonly max?: number }>>;
  readonly update: {
    /** May end in `/*`. */
    readonly noUnconditionalUpdate: readonly string[];
    readonly createOnUpdate: readonly string[];
  };
}

interface Sources {
  readonly translate: (platformForm: string) => string;
  readonly gates: FeatureGates;
  readonly nameRules: NameRules;
  readonly fieldsOf: (group: string, version: string, resource: string) => readonly SelectableField[];
  readonly tableOf: (group: string, resource: string) => TableDeclaration | undefined;
}

const named = (group: string): string => (group === '' ? 'core' : group);

/** The key of a kind's type declaration, e.g. `core/v1.Pod`. */
export const typeKey = (group: string, version: string, kind: string): string => `${named(group)}/${version}.${kind}`;

function storageOf(entry: ResourceEntry): { group: string; version: string } {
  const [first, second] = (entry.storageVersion ?? entry.version).split('/');
  if (second === undefined) return { group: entry.group, version: first ?? entry.version };
  return { group: first === 'core' ? '' : (first ?? ''), version: second };
}

function subresourcesOf(entry: ResourceEntry, { translate, gates }: Sources): readonly SubresourceDeclaration[] {
  return (entry.subresources ?? [])
    .filter((sub) => isServed(sub) && (sub.gate === undefined || gates.enabled(sub.gate)))
    .map((sub) => (sub.group === undefined ? sub : { ...sub, group: translate(sub.group) }));
}

/**
 * A version that was removed and stores nothing: answering in it costs nothing, so `--runtime-config` may ask for it by
 * name where clients of it are left.
 */
const isOnlyAsked = ({ virtual, introduced, removed }: ResourceEntry): boolean =>
  virtual === true && isReached(introduced) && isReached(removed);

/** Rules of PUT and of names, by the kind that is stored: all versions of a resource share them. */
function rulesOf(
  entry: ResourceEntry,
  { nameRules }: Sources,
): Pick<ResourceDeclaration, 'nameRule' | 'nameMax' | 'unconditionalUpdate' | 'createOnUpdate'> {
  const group = named(storageOf(entry).group);
  const kind = `${group}/${entry.kind}`;
  const name = nameRules.names[kind];
  const { noUnconditionalUpdate, createOnUpdate } = nameRules.update;
  return {
    nameRule: name?.rule ?? 'path-segment',
    ...(name?.max === undefined ? {} : { nameMax: name.max }),
    unconditionalUpdate: !noUnconditionalUpdate.includes(kind) && !noUnconditionalUpdate.includes(`${group}/*`),
    createOnUpdate: createOnUpdate.includes(kind),
  };
}

function lifeOf(
  entry: ResourceEntry,
  { translate }: Sources,
): Pick<ResourceDeclaration, 'introduced' | 'deprecated' | 'removed' | 'replacement' | 'servedByDefault'> {
  const { introduced, deprecated, removed, replacement, servedByDefault } = entry;
  const isDeprecated = isReached(deprecated); // a deprecation to come is no news for this release's clients
  return {
    ...(introduced === undefined ? {} : { introduced }),
    ...(deprecated === undefined || !isDeprecated ? {} : { deprecated }),
    ...(removed === undefined ? {} : { removed }),
    ...(replacement === undefined || !isDeprecated ? {} : { replacement: translate(replacement) }),
    servedByDefault,
  };
}

function declare(entry: ResourceEntry, sources: Sources): ResourceDeclaration {
  const { translate, fieldsOf, tableOf } = sources;
  const group = translate(entry.group);
  const storage = storageOf(entry);
  const table = tableOf(storage.group, entry.resource);
  return {
    group,
    version: entry.version,
    resource: entry.resource,
    singular: entry.singular,
    kind: entry.kind,
    listKind: `${entry.kind}List`,
    namespaced: entry.namespaced,
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    verbs: entry.verbs,
    subresources: subresourcesOf(entry, sources),
    virtual: entry.virtual ?? false,
    type: typeKey(group, entry.version, entry.kind),
    storage: { group: translate(storage.group), version: storage.version },
    ...lifeOf(entry, sources),
    selectableFields: entry.verbs.includes('list') ? fieldsOf(entry.group, entry.version, entry.resource) : [],
    ...(table === undefined ? {} : { table }),
    ...rulesOf(entry, sources),
  };
}

/**
 * The built-in types and resources in the words of `vocabulary`, as of the product's release: versions removed by it or
 * introduced after it are left out, as are sub-resources whose gate is off; types and fields of later releases stay.
 * Types are read on first use.
 */
export function loadCatalog(vocabulary: Vocabulary, gates: FeatureGates = DEFAULT_GATES): Catalog {
  const sources: Sources = {
    gates,
    translate: vocabulary.translate,
    nameRules: readData<NameRules>('name-rules.json'),
    fieldsOf: selectableFields(),
    tableOf: tables(vocabulary.translate),
  };
  return {
    types: typeGraph(new LazyTypes(vocabulary.name === 'platform' ? undefined : vocabulary.translate)),
    resources: readData<readonly ResourceEntry[]>('resources.json')
      .filter((entry) => isServed(entry) || isOnlyAsked(entry))
      .map((entry) => declare(entry, sources)),
  };
}
