import type { Attributes } from '../authorizer.js';
import { type PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { ALL, combined, withoutStars } from './rules.js';

/** A question in the words that roles are looked up by. Made once for all roles of a decision. */
export type Question =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      /** `pods/log` */
      readonly resource: string;
      /** `*` and the sub-resource; '' where none is asked for. */
      readonly anyParent: string;
      readonly name: string;
    };

export function questionOf(asked: Attributes): Question {
  if (asked.kind === 'path') return asked;
  const { verb, group, subresource, name } = asked;
  const anyParent = subresource === '' ? '' : `*/${subresource}`;
  return { kind: 'resource', verb, group, resource: combined(asked), anyParent, name };
}

interface Grant {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  /** undefined: all. */
  names: Set<string> | undefined;
}

/**
 * The rules of one role, arranged for looking up. Decides as `covers` does for any of them. Its size and the time to make
 * it grow with the text of the rules, not with the combinations that they stand for.
 */
export class CompiledRole {
  readonly #byResource = new Map<string, Grant[]>();
  readonly #byPath = new Map<string, Set<string>>();
  /** Paths that ended in `*`, without it. */
  readonly #byPrefix = new Map<string, Set<string>>();

  constructor(rules: readonly PolicyRule[]) {
    const named = new Map<string, Grant>();
    for (const rule of rules) {
      this.#addResources(rule, named);
      for (const url of rule.nonResourceURLs) this.#addPath(url, rule.verbs);
    }
  }

  allows(asked: Question): boolean {
    if (asked.kind === 'path') return this.#allowsPath(asked.path, asked.verb);
    return (
      allowed(this.#byResource.get(asked.resource), asked) ||
      allowed(this.#byResource.get(ALL), asked) ||
      (asked.anyParent !== '' && allowed(this.#byResource.get(asked.anyParent), asked))
    );
  }

  /** Rules that differ in their names only become one: there are roles with a rule for each of thousands of names. */
  #addResources(rule: PolicyRule, named: Map<string, Grant>): void {
    const { verbs, apiGroups, resources, resourceNames } = rule;
    if (resources.length === 0) return;
    if (resourceNames.length === 0) {
      this.#add(resources, { verbs: new Set(verbs), groups: new Set(apiGroups), names: undefined });
      return;
    }
    const id = JSON.stringify([verbs, apiGroups, resources]);
    let grant = named.get(id);
    if (grant === undefined) {
      named.set(id, (grant = { verbs: new Set(verbs), groups: new Set(apiGroups), names: new Set() }));
      this.#add(resources, grant);
    }
    for (const name of resourceNames) if (name !== '') grant.names?.add(name);
  }

  #add(resources: readonly string[], grant: Grant): void {
    for (const resource of new Set(resources)) {
      const known = this.#byResource.get(resource);
      if (known === undefined) this.#byResource.set(resource, [grant]);
      else known.push(grant);
    }
  }

  #addPath(url: string, verbs: readonly string[]): void {
    const table = url.endsWith(ALL) ? this.#byPrefix : this.#byPath;
    const key = withoutStars(url);
    const known = table.get(key);
    if (known === undefined) table.set(key, new Set(verbs));
    else for (const verb of verbs) known.add(verb);
  }

  #allowsPath(path: string, verb: string): boolean {
    if (includes(this.#byPath.get(path), verb)) return true;
    for (const [prefix, verbs] of this.#byPrefix) if (path.startsWith(prefix) && includes(verbs, verb)) return true;
    return false;
  }
}

const includes = (values: ReadonlySet<string> | undefined, asked: string): boolean =>
  values !== undefined && (values.has(asked) || values.has(ALL));

function allowed(grants: readonly Grant[] | undefined, asked: Question & { readonly kind: 'resource' }): boolean {
  if (grants === undefined) return false;
  for (const { verbs, groups, names } of grants) {
    if (!includes(verbs, asked.verb) || !includes(groups, asked.group)) continue;
    if (names === undefined || names.has(asked.name)) return true;
  }
  return false;
}
