import type { ResourceDeclaration, SubresourceDeclaration } from '../../../machinery/types/declarations.js';
import type { RuleWithOperations } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { ResourceTable, ServedResource } from '../../registry/resources.js';
import type { AdmissionRequest, GroupVersionKind } from '../plugin.js';
import type { CompiledWebhook } from './compiled.js';

/** A webhook whose rules match a request, and the version of the resource that it sees it in. */
export interface Invocation {
  readonly webhook: CompiledWebhook;
  /** That of the request, unless the webhook knows another one only. */
  readonly as: ResourceDeclaration;
}

const ALL = '*';

export type Asked = Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>;

export interface MatchesDeps {
  readonly resources: Pick<ResourceTable, 'served'>;
  readonly vocabulary: Pick<Vocabulary, 'groups'>;
}

/**
 * Something made of rules for a resource, sub-resource and operation when they are first asked for; from then on a request
 * costs two lookups.
 */
export class ByAsked<T> {
  readonly #make: (asked: Asked) => T;
  /** The second key: operation and sub-resource. Clients choose none of it: what is not served is not asked. */
  readonly #known = new WeakMap<ResourceDeclaration, Map<string, T>>();

  constructor(make: (asked: Asked) => T) {
    this.#make = make;
  }

  of(asked: Asked): T {
    const { operation, resource, subresource } = asked;
    let ofResource = this.#known.get(resource);
    if (ofResource === undefined) this.#known.set(resource, (ofResource = new Map<string, T>()));
    const key = subresource === '' ? operation : `${operation} ${subresource}`;
    let found = ofResource.get(key);
    if (found === undefined) ofResource.set(key, (found = this.#make(asked)));
    return found;
  }
}

/** Webhooks by what is asked. */
export class Matches {
  readonly #webhooks: readonly CompiledWebhook[];
  readonly #d: MatchesDeps;
  readonly #known = new ByAsked((asked) => this.#find(asked));

  constructor(webhooks: readonly CompiledWebhook[], d: MatchesDeps) {
    this.#webhooks = webhooks;
    this.#d = d;
  }

  /** In the order of the webhooks. */
  of(asked: Asked): readonly Invocation[] {
    return this.#webhooks.length === 0 ? NONE : this.#known.of(asked);
  }

  #find(asked: Asked): readonly Invocation[] {
    if (isConfiguration(this.#d, asked.resource)) return NONE;
    return this.#webhooks.flatMap((webhook) => {
      const as = formsOf(this.#d, webhook, asked).find((version) =>
        webhook.rules.some((rule) => matches(rule, { ...asked, resource: version })),
      );
      return as === undefined ? [] : [{ webhook, as }];
    });
  }
}

/** What refuses its own removal could never be got rid of. */
export const isConfiguration = (
  { vocabulary }: Pick<MatchesDeps, 'vocabulary'>,
  { group, resource }: ResourceDeclaration,
): boolean => group === vocabulary.groups.admissionregistration && CONFIGURATIONS.has(resource);

/** The forms of a resource that rules are held against: the one that was asked for, then the others unless it has to be exact. */
export function formsOf(
  { resources }: Pick<MatchesDeps, 'resources'>,
  { isExact }: { readonly isExact: boolean },
  { resource, subresource }: Asked,
): readonly ResourceDeclaration[] {
  const served = isExact ? undefined : resources.served(resource);
  if (served === undefined) return [resource];
  const isShown = ({ declaration }: ServedResource): boolean =>
    declaration !== resource && canBeShown(resource, declaration, subresource);
  return [resource, ...[...served.versions()].filter(isShown).map(({ declaration }) => declaration)];
}

const NONE: readonly Invocation[] = [];
const CONFIGURATIONS = new Set(
  ['policies', 'policybindings'].flatMap((it) => [`mutatingadmission${it}`, `validatingadmission${it}`]),
)
  .add('mutatingwebhookconfigurations')
  .add('validatingwebhookconfigurations');

export const subresourceOf = (of: ResourceDeclaration, name: string): SubresourceDeclaration | undefined =>
  of.subresources.find((it) => it.name === name);

/** The kind of what a request about a resource or a sub-resource of it is sent with. */
export function kindOf(of: ResourceDeclaration, subresource: string): GroupVersionKind {
  const { group = of.group, version = of.version, kind = of.kind } = subresourceOf(of, subresource) ?? {};
  return { group, version, kind };
}

/** Sub-resources of kinds of their own are not converted: they have to be of the same. */
function canBeShown(from: ResourceDeclaration, to: ResourceDeclaration, subresource: string): boolean {
  if (subresource === '') return true;
  if (subresourceOf(to, subresource) === undefined) return false;
  const [a, b] = [kindOf(from, subresource), kindOf(to, subresource)];
  const isWhole = a.kind === from.kind && b.kind === to.kind;
  return isWhole || (a.group === b.group && a.version === b.version && a.kind === b.kind);
}

/** Whether a rule (spec 2, 2.7) covers a request. */
export function matches(rule: RuleWithOperations, { operation, resource, subresource }: Asked): boolean {
  return (
    covers(rule.operations, operation) &&
    covers(rule.apiGroups, resource.group) &&
    covers(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((text) => coversResource(text, resource.resource, subresource)) &&
    coversScope(rule.scope, resource.namespaced)
  );
}

const covers = (list: readonly string[] = [], value: string): boolean => list.includes(ALL) || list.includes(value);

/** `pods` and `*` cover no sub-resources; `pods/*`, `*\/status` and `*\/*` do, and the last and the first the resource itself too. */
function coversResource(text: string, resource: string, subresource: string): boolean {
  const [ofResource = '', ofSubresource = ''] = text.split('/');
  return (ofResource === ALL || ofResource === resource) && (ofSubresource === ALL || ofSubresource === subresource);
}

const coversScope = (scope = ALL, isNamespaced: boolean): boolean =>
  scope === ALL || (scope === 'Namespaced') === isNamespaced;
