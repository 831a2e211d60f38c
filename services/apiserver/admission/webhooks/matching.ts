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

type Asked = Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>;

export interface MatchesDeps {
  readonly resources: Pick<ResourceTable, 'served'>;
  readonly vocabulary: Pick<Vocabulary, 'groups'>;
}

/**
 * Webhooks by what is asked. Rules are looked at when a resource, sub-resource and operation are first asked for; from then on
 * a request costs two lookups.
 */
export class Matches {
  readonly #webhooks: readonly CompiledWebhook[];
  readonly #d: MatchesDeps;
  /** The second key: operation and sub-resource. Clients choose none of it: what is not served is not asked. */
  readonly #known = new WeakMap<ResourceDeclaration, Map<string, readonly Invocation[]>>();

  constructor(webhooks: readonly CompiledWebhook[], d: MatchesDeps) {
    this.#webhooks = webhooks;
    this.#d = d;
  }

  /** In the order of the webhooks. */
  of(asked: Asked): readonly Invocation[] {
    if (this.#webhooks.length === 0) return NONE;
    const { operation, resource, subresource } = asked;
    let ofResource = this.#known.get(resource);
    if (ofResource === undefined) this.#known.set(resource, (ofResource = new Map<string, readonly Invocation[]>()));
    const key = subresource === '' ? operation : `${operation} ${subresource}`;
    let found = ofResource.get(key);
    if (found === undefined) ofResource.set(key, (found = this.#find(asked)));
    return found;
  }

  #find(asked: Asked): readonly Invocation[] {
    if (this.#isConfiguration(asked.resource)) return NONE;
    const equivalents = this.#equivalents(asked);
    return this.#webhooks.flatMap((webhook) => {
      const versions = webhook.isExact ? [asked.resource] : [asked.resource, ...equivalents];
      const as = versions.find((version) =>
        webhook.rules.some((rule) => matches(rule, { ...asked, resource: version })),
      );
      return as === undefined ? [] : [{ webhook, as }];
    });
  }

  /** A webhook that refuses its own removal could never be got rid of. */
  #isConfiguration({ group, resource }: ResourceDeclaration): boolean {
    return group === this.#d.vocabulary.groups.admissionregistration && CONFIGURATIONS.has(resource);
  }

  /** Other versions in which the same object, or the same sub-resource of it, can be shown. */
  #equivalents({ resource, subresource }: Asked): readonly ResourceDeclaration[] {
    const served = this.#d.resources.served(resource);
    if (served === undefined) return [];
    const isShown = ({ declaration }: ServedResource): boolean =>
      declaration !== resource && canBeShown(resource, declaration, subresource);
    return [...served.versions()].filter(isShown).map(({ declaration }) => declaration);
  }
}

const NONE: readonly Invocation[] = [];
const CONFIGURATIONS = new Set(['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']);

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
