import { forbidden, qualified, type ResourceName } from '../../../../machinery/meta/status.js';
import { isPositive, type Amounts } from '../../../../machinery/quota/amounts.js';
import { inScope } from '../../../../machinery/quota/scopes.js';
import type { Pod, ScopedResourceSelectorRequirement } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { PluginDocument } from '../../configuration.js';
import { list, object, oneOf, readVersioned, required, text } from '../../configuration-members.js';

/** Resources that may be used only where a quota limits them. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Parts of names that quotas count, e.g. `.storageclass.` */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopedResourceSelectorRequirement[];
}

const SCOPE = object({
  scopeName: required(text),
  operator: required(oneOf('In', 'NotIn', 'Exists', 'DoesNotExist')),
  values: list(text),
});
const LIMITED = object({
  apiGroup: text,
  resource: required(text),
  matchContains: list(text),
  matchScopes: list(SCOPE),
});

/** @throws {Error} In one line with file and line */
export function limitedResources(
  document: PluginDocument | undefined,
  { groups }: Vocabulary,
): readonly LimitedResource[] {
  if (document === undefined) return [];
  const type = { kind: 'ResourceQuotaConfiguration', apiVersions: [`${groups.apiserverConfig}/v1`] };
  return readVersioned(document, type, { limitedResources: list(LIMITED) }).limitedResources;
}

/** A new object, and what the quotas that count it have to say of it. */
export interface Covered {
  readonly resource: ResourceName;
  readonly name: string;
  readonly object: object;
  /** Of all names that quotas could count. */
  readonly usage: Amounts;
  /** Names that the quotas count which the object is in the scopes of. */
  readonly names: ReadonlySet<string>;
  /** The scopes of these quotas. */
  readonly scopes: readonly ScopedResourceSelectorRequirement[];
}

/** @throws {StatusError} Forbidden when an object uses what is limited, and no quota limits it */
export function refuseUncovered(limited: readonly LimitedResource[], covered: Covered): void {
  const { resource, name, usage, names } = covered;
  const about = limited.filter((l) => qualified({ ...l, group: l.apiGroup }) === qualified(resource));
  const parts = about.flatMap(({ matchContains }) => matchContains);
  const used = [...usage].filter(([, quantity]) => isPositive(quantity)).map(([of]) => of);
  const open = used.filter((of) => parts.some((part) => of.includes(part)) && !names.has(of)).sort();
  if (open.length > 0) throw forbidden(resource, name, `insufficient quota to consume: ${open.join(',')}`);
  const wanted = about
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => inScope(covered.object as Pod, scope));
  const missing = wanted.filter((scope) => !covered.scopes.some((other) => isSame(scope, other)));
  if (missing.length === 0) return;
  const shown = missing.map(({ scopeName, operator, values }) => `{${scopeName ?? ''} ${operator ?? ''} [${(values ?? []).join(' ')}]}`); // prettier-ignore
  throw forbidden(resource, name, `insufficient quota to match these scopes: [${shown.join(' ')}]`);
}

type Scope = ScopedResourceSelectorRequirement;

const isSame = (a: Scope, b: Scope): boolean =>
  a.scopeName === b.scopeName &&
  a.operator === b.operator &&
  JSON.stringify([...(a.values ?? [])].sort()) === JSON.stringify([...(b.values ?? [])].sort());
