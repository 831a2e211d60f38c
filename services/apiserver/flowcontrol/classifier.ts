import { ALL, coversPath } from '../authorization/rbac/rules.js';
import type { RequestInfo, UserInfo, PathRequest, ResourceRequest } from '../request/request.js';
import type { FlowRule, SchemaSpec, Subject, PathRule, ResourceRule } from './flow-control-specs.js';

/** Most users whose rules are remembered; at one more all are forgotten. */
const MAX_USERS = 10_000;

/** A rule of a schema, compiled. */
interface CompiledRule<T> {
  /** Its place among all rules of all schemas: the first that matches counts. */
  readonly order: number;
  readonly schema: T;
  readonly resources: readonly CompiledResourceRule[];
  readonly paths: readonly CompiledPathRule[];
}

/** The rules that are about one user, in order. */
interface UserRules<T> {
  readonly resources: readonly { readonly schema: T; readonly rule: CompiledResourceRule }[];
  readonly paths: readonly { readonly schema: T; readonly rule: CompiledPathRule }[];
}

/**
 * Finds the schema of a request. Made anew when a schema changes. The rules about a user are gathered at his first
 * request, at the cost of those rules, and kept for as long as his `UserInfo` is the same object.
 *
 * @typeParam T What stands for a schema.
 */
export class Classifier<T extends { readonly spec: SchemaSpec }> {
  readonly #bySubject = new Map<string, CompiledRule<T>[]>();
  #users = new WeakMap<UserInfo, UserRules<T>>();
  #known = 0;

  /** @param schemas In any order: what their precedence says, and their names where it is the same, counts. */
  constructor(schemas: readonly T[]) {
    let order = 0;
    for (const schema of [...schemas].sort(byPrecedence)) {
      for (const rule of schema.spec.rules) this.#add(rule, schema, order++);
    }
  }

  /** undefined when no schema matches. */
  find(user: UserInfo, info: RequestInfo): T | undefined {
    const rules = this.#rulesOf(user);
    if (info.kind === 'resource') {
      for (const { rule, schema } of rules.resources) if (rule.matches(info)) return schema;
    } else {
      for (const { rule, schema } of rules.paths) if (rule.matches(info)) return schema;
    }
    return undefined;
  }

  #add(rule: FlowRule, schema: T, order: number): void {
    const compiled = {
      order,
      schema,
      resources: rule.resourceRules.map((of) => new CompiledResourceRule(of)),
      paths: rule.nonResourceRules.map((of) => new CompiledPathRule(of)),
    };
    for (const key of new Set(rule.subjects.map(subjectKey))) {
      const known = this.#bySubject.get(key);
      if (known === undefined) this.#bySubject.set(key, [compiled]);
      else known.push(compiled);
    }
  }

  #rulesOf(user: UserInfo): UserRules<T> {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const rules = this.#gather(user);
    if (this.#known >= MAX_USERS) {
      this.#users = new WeakMap();
      this.#known = 0;
    }
    this.#users.set(user, rules);
    this.#known++;
    return rules;
  }

  /** Plain loops: some users are new with each request, e.g. impersonated ones. */
  #gather({ name, groups }: UserInfo): UserRules<T> {
    const found: CompiledRule<T>[] = [];
    this.#collect(EVERYBODY, found);
    this.#collect(userKey(name), found);
    for (const group of groups) this.#collect(groupKey(group), found);
    const namespace = accountNamespace(name);
    if (namespace !== '') this.#collect(accountsKey(namespace), found);
    found.sort((a, b) => a.order - b.order);
    return inOrder(found);
  }

  #collect(key: string, into: CompiledRule<T>[]): void {
    const rules = this.#bySubject.get(key);
    if (rules !== undefined) for (const rule of rules) into.push(rule);
  }
}

/** @param rules Sorted; one that several subjects have led to is there several times. */
function inOrder<T>(rules: readonly CompiledRule<T>[]): UserRules<T> {
  const resources: { schema: T; rule: CompiledResourceRule }[] = [];
  const paths: { schema: T; rule: CompiledPathRule }[] = [];
  let last: CompiledRule<T> | undefined;
  for (const compiled of rules) {
    if (compiled === last) continue;
    last = compiled;
    const { schema } = compiled;
    for (const rule of compiled.resources) resources.push({ schema, rule });
    for (const rule of compiled.paths) paths.push({ schema, rule });
  }
  return { resources, paths };
}

function byPrecedence({ spec: a }: { readonly spec: SchemaSpec }, { spec: b }: { readonly spec: SchemaSpec }): number {
  if (a.precedence !== b.precedence) return a.precedence - b.precedence;
  return a.name < b.name ? -1 : 1;
}

/** Names have any characters: the kind in front keeps them apart. */
const userKey = (name: string): string => `user ${name}`;
const groupKey = (name: string): string => `group ${name}`;
const accountsKey = (namespace: string): string => `accounts ${namespace}`;
const EVERYBODY = 'everybody';

function subjectKey(subject: Subject): string {
  const { kind, name } = subject;
  if (kind === 'ServiceAccount') {
    return name === ALL ? accountsKey(subject.namespace) : userKey(`${ACCOUNT}${subject.namespace}:${name}`);
  }
  if (name === ALL) return EVERYBODY;
  return kind === 'User' ? userKey(name) : groupKey(name);
}

/** Names of service accounts go on with their namespace, a colon and their name. */
const ACCOUNT = 'system:serviceaccount:';

/** The namespace of the service account that a name stands for; '' when it stands for none. */
function accountNamespace(name: string): string {
  if (!name.startsWith(ACCOUNT)) return '';
  const [namespace = '', account = '', ...more] = name.slice(ACCOUNT.length).split(':');
  return account === '' || more.length > 0 ? '' : namespace;
}

/** A list of a rule, made ready for look-ups; undefined when it says all. */
type Allowed = ReadonlySet<string> | undefined;

const allowed = (list: readonly string[]): Allowed => (list.includes(ALL) ? undefined : new Set(list));
const has = (set: Allowed, value: string): boolean => set === undefined || set.has(value);

/** A rule about resources, in the form in which requests are held against it. */
class CompiledResourceRule {
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
class CompiledPathRule {
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
