import type { CachedObject } from '../../cache/cached-object.js';
import type { CacheFollower } from '../../cache/follow.js';
import type { Change } from '../../cache/history.js';
import type { UserInfo } from '../../request/request.js';
import type { Decision } from '../authorizer.js';
import { bindingOf, type Binding, type Holder, type RoleRef } from './bindings.js';
import { CompiledRole, type Question } from './compiled-role.js';
import { rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { readObject } from './rules.js';

/** A role by its name, whether or not it is there: bindings may be older than the role that they name. */
export class BoundRole {
  readonly kind: RoleRef['kind'];
  /** '' for a role of the cluster. */
  readonly namespace: string;
  readonly name: string;
  #object: CachedObject | undefined;
  #rules: readonly PolicyRule[] | undefined;
  #compiled: CompiledRole | undefined;
  /** How many bindings name it. */
  bindings = 0;

  constructor(kind: RoleRef['kind'], namespace: string, name: string) {
    this.kind = kind;
    this.namespace = namespace;
    this.name = name;
  }

  get object(): CachedObject | undefined {
    return this.#object;
  }

  set object(object: CachedObject | undefined) {
    this.#object = object;
    this.#rules = undefined;
    this.#compiled = undefined;
  }

  /** undefined when there is no such role. Read at the first call after a change. */
  get rules(): readonly PolicyRule[] | undefined {
    if (this.#object !== undefined) this.#rules ??= rulesOf(readObject(this.#object));
    return this.#rules;
  }

  allows(asked: Question): boolean {
    const { rules } = this;
    if (rules === undefined) return false;
    this.#compiled ??= new CompiledRole(rules);
    return this.#compiled.allows(asked);
  }
}

/** One binding of a role, as one of its subjects has it. */
export class Grant {
  readonly role: BoundRole;
  readonly #holder: Holder;
  readonly #binding: string;
  #decision: Decision | undefined;

  /** @param binding For people: `RoleBinding "readers/default"`. */
  constructor(role: BoundRole, holder: Holder, binding: string) {
    this.role = role;
    this.#holder = holder;
    this.#binding = binding;
  }

  get decision(): Decision {
    const { kind, name } = this.role;
    return (this.#decision ??= {
      decision: 'allow',
      reason: `RBAC: allowed by ${this.#binding} of ${kind} ${JSON.stringify(name)} to ${this.#holder.shown}`,
    });
  }
}

/** A subject's roles in one place, each with the bindings that give it. */
type Roles = Map<BoundRole, Set<Grant>>;

/** Bindings of one namespace, or of the whole cluster. */
interface Place {
  readonly users: Map<string, Roles>;
  readonly groups: Map<string, Roles>;
}

const newPlace = (): Place => ({ users: new Map(), groups: new Map() });

/** A binding that is in the index, to be taken out of it again. */
interface Entry {
  readonly namespace: string;
  readonly role: BoundRole;
  readonly grants: readonly { readonly holder: Holder; readonly grant: Grant }[];
}

/**
 * The index of roles by user and namespace, in step with the caches. A change costs what the changed object holds; a
 * look-up visits the roles of the user and of his groups, in one namespace and in the cluster, however many others
 * there are.
 */
export class AccessIndex {
  readonly #group: string;
  readonly #cluster = newPlace();
  readonly #namespaces = new Map<string, Place>();
  /** By kind, namespace and name. */
  readonly #roles = new Map<string, BoundRole>();
  readonly #entries = { RoleBinding: new Map<string, Entry>(), ClusterRoleBinding: new Map<string, Entry>() };
  #generation = 0;

  /** @param group The API group of roles. */
  constructor(group: string) {
    this.#group = group;
  }

  /** Moves with every change: what was found out in one generation holds until the next. */
  get generation(): number {
    return this.#generation;
  }

  /** Keeps roles in step. */
  roles(kind: RoleRef['kind']): CacheFollower {
    return {
      loaded: (objects) => {
        this.#generation++;
        for (const role of [...this.#roles.values()]) if (role.kind === kind) this.#setRole(role, undefined);
        for (const object of objects) this.#setRole(this.#role(kind, object.namespace, object.name), object);
      },
      changed: ({ object, deleted }: Change) => {
        this.#generation++;
        this.#setRole(this.#role(kind, object.namespace, object.name), deleted ? undefined : object);
      },
    };
  }

  /** Keeps bindings in step. */
  bindings(kind: 'RoleBinding' | 'ClusterRoleBinding'): CacheFollower {
    return {
      loaded: (objects) => {
        this.#generation++;
        for (const key of [...this.#entries[kind].keys()]) this.#remove(kind, key);
        for (const object of objects) this.#add(kind, object);
      },
      changed: ({ object, deleted }: Change) => {
        this.#generation++;
        this.#remove(kind, object.key);
        if (!deleted) this.#add(kind, object);
      },
    };
  }

  /** The binding that allows a request in the cluster or, where one is given, in a namespace. */
  allowing(user: UserInfo, asked: Question, namespace: string): Grant | undefined {
    const found = allowingIn(this.#cluster, user, asked);
    if (found !== undefined || namespace === '') return found;
    const place = this.#namespaces.get(namespace);
    return place === undefined ? undefined : allowingIn(place, user, asked);
  }

  /** The roles of a user in the cluster and in a namespace, some of which may not be there. */
  *rolesOf(user: UserInfo, namespace: string): Generator<BoundRole> {
    for (const place of [this.#cluster, namespace === '' ? undefined : this.#namespaces.get(namespace)]) {
      if (place !== undefined) for (const roles of rolesIn(place, user)) yield* roles.keys();
    }
  }

  /** @returns undefined when there is no such role. */
  rules({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey(kind, namespace, name))?.rules;
  }

  /** How much it holds, by what it is. */
  sizes(): Readonly<Record<'roles' | 'bindings' | 'subjects' | 'namespaces', number>> {
    const subjects = [this.#cluster, ...this.#namespaces.values()].map(({ users, groups }) => users.size + groups.size);
    return {
      roles: this.#roles.size,
      bindings: this.#entries.RoleBinding.size + this.#entries.ClusterRoleBinding.size,
      subjects: subjects.reduce((sum, size) => sum + size, 0),
      namespaces: this.#namespaces.size,
    };
  }

  #role(kind: RoleRef['kind'], namespace: string, name: string): BoundRole {
    const key = roleKey(kind, namespace, name);
    let role = this.#roles.get(key);
    if (role === undefined) {
      this.#roles.set(key, (role = new BoundRole(kind, kind === 'Role' ? namespace : '', name)));
    }
    return role;
  }

  #setRole(role: BoundRole, object: CachedObject | undefined): void {
    role.object = object;
    this.#dropUnused(role);
  }

  #dropUnused(role: BoundRole): void {
    if (role.object !== undefined || role.bindings > 0) return;
    this.#roles.delete(roleKey(role.kind, role.namespace, role.name));
  }

  #add(kind: 'RoleBinding' | 'ClusterRoleBinding', object: CachedObject): void {
    const { namespace, name, key } = object;
    const binding = bindingOf(readObject(object), this.#group, namespace);
    if (binding === undefined || binding.holders.length === 0) return;
    const role = this.#role(binding.roleRef.kind, namespace, binding.roleRef.name);
    role.bindings++;
    const shown = `${kind} ${JSON.stringify(namespace === '' ? name : `${name}/${namespace}`)}`;
    const grants = distinct(binding).map((holder) => ({ holder, grant: new Grant(role, holder, shown) }));
    const place = this.#place(namespace);
    for (const { holder, grant } of grants) give(place, holder, grant);
    this.#entries[kind].set(key, { namespace, role, grants });
  }

  #remove(kind: 'RoleBinding' | 'ClusterRoleBinding', key: string): void {
    const entry = this.#entries[kind].get(key);
    if (entry === undefined) return;
    const { namespace, role, grants } = entry;
    this.#entries[kind].delete(key);
    const place = this.#place(namespace);
    for (const { holder, grant } of grants) take(place, holder, grant);
    if (place !== this.#cluster && place.users.size + place.groups.size === 0) this.#namespaces.delete(namespace);
    role.bindings--;
    this.#dropUnused(role);
  }

  #place(namespace: string): Place {
    if (namespace === '') return this.#cluster;
    let place = this.#namespaces.get(namespace);
    if (place === undefined) this.#namespaces.set(namespace, (place = newPlace()));
    return place;
  }
}

/** Namespaces have no slashes, whatever a binding says that a name is. */
const roleKey = (kind: RoleRef['kind'], namespace: string, name: string): string =>
  `${kind}/${kind === 'Role' ? namespace : ''}/${name}`;

/** A subject that is there twice has one grant. */
const distinct = ({ holders }: Binding): readonly Holder[] => [
  ...new Map(holders.map((holder) => [`${holder.known} ${holder.name}`, holder])).values(),
];

function give(place: Place, { known, name }: Holder, grant: Grant): void {
  const table = place[known];
  let roles = table.get(name);
  if (roles === undefined) table.set(name, (roles = new Map<BoundRole, Set<Grant>>()));
  const grants = roles.get(grant.role);
  if (grants === undefined) roles.set(grant.role, new Set([grant]));
  else grants.add(grant);
}

function take(place: Place, { known, name }: Holder, grant: Grant): void {
  const roles = place[known].get(name);
  const grants = roles?.get(grant.role);
  grants?.delete(grant);
  if (grants?.size === 0) roles?.delete(grant.role);
  if (roles?.size === 0) place[known].delete(name);
}

function* rolesIn(place: Place, user: UserInfo): Generator<Roles> {
  const own = place.users.get(user.name);
  if (own !== undefined) yield own;
  for (const group of user.groups) {
    const roles = place.groups.get(group);
    if (roles !== undefined) yield roles;
  }
}

function allowingIn(place: Place, user: UserInfo, asked: Question): Grant | undefined {
  for (const roles of rolesIn(place, user)) {
    for (const [role, grants] of roles) {
      if (!role.allows(asked)) continue;
      for (const grant of grants) return grant; // there is one at least
    }
  }
  return undefined;
}
