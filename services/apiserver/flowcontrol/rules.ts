import { ALL, coversPath } from '../authorization/rbac/rules.js';
import type { PathRequest, ResourceRequest } from '../request/request.js';
import type { PathRule, ResourceRule } from './flow-control-specs.js';

/** A list of a rule, made ready for look-ups; undefined when it says all. */
type Allowed = ReadonlySet<string> | undefined;

const allowed = (list: readonly string[]): Allowed => (list.includes(ALL) ? undefined : new Set(list));
const has = (set: Allowed, value: string): boolean => set === undefined || set.has(value);

/** A rule about resources, in the form in which requests are held against it. */
export class CompiledResourceRule {
  readonly #verbs: Allowed;
  readonly #groups: Allowed;
  readonly #resources: Allowed;
  readonly #namespaces: Allowed;
  readonly #clusterScope: boolean;

  constructor(rule: ResourceRule) {
    this.#verbs = allowed(rule.verbs);
    this.#groups = allowed(rule.apiGroups);
    this.#resources = allowed(rule.resources);
    this.#namespaces = allowed(rule.namespaces);
    this.#clusterScope = rule.clusterScope;
  }

  /** A sub-resource is something else than its resource. All namespaces at once are none. */
  matches({ verb, group, resource, subresource, namespace }: ResourceRequest): boolean {
    return (
      has(this.#verbs, verb) &&
      has(this.#groups, group) &&
      (this.#resources === undefined ||
        this.#resources.has(subresource === '' ? resource : `${resource}/${subresource}`)) &&
      (namespace === '' ? this.#clusterScope : has(this.#namespaces, namespace))
    );
  }
}

/** The same for paths. */
export class CompiledPathRule {
  readonly #verbs: Allowed;
  readonly #urls: readonly string[];

  constructor({ verbs, nonResourceURLs }: PathRule) {
    this.#verbs = allowed(verbs);
    this.#urls = nonResourceURLs;
  }

  matches({ verb, path }: PathRequest): boolean {
    return has(this.#verbs, verb) && this.#urls.some((url) => coversPath(url, path));
  }
}
