import { encodeObject, itemStart, storagePrefix } from '../../../../machinery/codec/encode.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { revision } from '../../../../storage/store.js';
import { follow } from '../../../cache/follow.js';
import { HistoryBudget } from '../../../cache/history.js';
import { ResourceCache } from '../../../cache/resource-cache.js';
import type { UserInfo } from '../../../request/request.js';
import type { PathAttributes, ResourceAttributes } from '../../authorizer.js';
import { AccessIndex } from '../access-index.js';

export const GROUP = vocabulary('kubernetes').groups.rbac;
const API_VERSION = `${GROUP}/v1`;

export const RESOURCES = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
} as const;
export type RbacKind = keyof typeof RESOURCES;

/** An object of the group, with members of any shape. */
export interface RbacObject {
  readonly kind: RbacKind;
  readonly name: string;
  /** For those that lie in one. */
  readonly namespace?: string;
  readonly [member: string]: unknown;
}

const cacheOf = (kind: RbacKind): ResourceCache => {
  const prefix = storagePrefix(kind, API_VERSION);
  return new ResourceCache(
    { prefix: `/registry/${GROUP}/${RESOURCES[kind]}/`, namespaced: !kind.startsWith('Cluster') },
    { prefixLength: prefix.length, itemStart: itemStart(prefix.length), selectableFields: [] },
    { prefix, adopt: () => undefined },
    new HistoryBudget({ maxBytes: 1_000_000, retainMs: 1_000 }),
  );
};

/** Real caches, and an index that follows them. */
export class RbacScene {
  readonly index = new AccessIndex(GROUP);
  readonly #caches: Readonly<Record<RbacKind, ResourceCache>> = {
    Role: cacheOf('Role'),
    ClusterRole: cacheOf('ClusterRole'),
    RoleBinding: cacheOf('RoleBinding'),
    ClusterRoleBinding: cacheOf('ClusterRoleBinding'),
  };
  #revision = 1;

  constructor(...objects: readonly RbacObject[]) {
    follow(this.#caches.Role, this.index.roles('Role'));
    follow(this.#caches.ClusterRole, this.index.roles('ClusterRole'));
    follow(this.#caches.RoleBinding, this.index.bindings('RoleBinding'));
    follow(this.#caches.ClusterRoleBinding, this.index.bindings('ClusterRoleBinding'));
    this.put(...objects);
  }

  put(...objects: readonly RbacObject[]): void {
    for (const object of objects) {
      this.#apply(object, 'put', bytesOf(object));
    }
  }

  remove(object: Pick<RbacObject, 'kind' | 'name' | 'namespace'>): void {
    this.#apply(object, 'delete', Buffer.alloc(0));
  }

  /** The whole state of a kind anew, as after a feed has started over. */
  load(kind: RbacKind, ...objects: readonly RbacObject[]): void {
    const at = revision(this.#revision++);
    const cache = this.#caches[kind];
    cache.load(
      objects.flatMap((object) => cache.decode(this.#key(object), bytesOf(object), at) ?? []),
      at,
    );
  }

  #apply(object: Pick<RbacObject, 'kind' | 'name' | 'namespace'>, type: 'put' | 'delete', value: Buffer): void {
    const at = revision(this.#revision++);
    const event = { type, key: this.#key(object), value, createRevision: at, modRevision: at, previous: undefined };
    this.#caches[object.kind].apply(event);
  }

  #key({ kind, namespace, name }: Pick<RbacObject, 'kind' | 'name' | 'namespace'>): string {
    const { prefix } = this.#caches[kind].keys;
    return namespace === undefined ? `${prefix}${name}` : `${prefix}${namespace}/${name}`;
  }
}

function bytesOf({ kind, name, namespace, ...members }: RbacObject): Buffer {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const object: ApiObject = { kind, apiVersion: API_VERSION, metadata, ...members };
  return encodeObject(object);
}

export const user = (name: string, ...groups: readonly string[]): UserInfo => ({ name, uid: '', groups, extra: {} });

/** e.g. `ask('get', 'pods/log', 'default', 'a')` */
export function ask(verb: string, resource: string, namespace = '', name = '', group = ''): ResourceAttributes {
  const [parent = '', subresource = ''] = resource.split('/');
  return { kind: 'resource', verb, group, version: 'v1', resource: parent, subresource, namespace, name };
}

export const askPath = (verb: string, path: string): PathAttributes => ({ kind: 'path', verb, path });

const ref = (kind: 'Role' | 'ClusterRole', name: string): object => ({ apiGroup: GROUP, kind, name });

export const role = (namespace: string, name: string, ...rules: readonly unknown[]): RbacObject => ({
  kind: 'Role',
  namespace,
  name,
  rules,
});
export const clusterRole = (name: string, ...rules: readonly unknown[]): RbacObject => ({
  kind: 'ClusterRole',
  name,
  rules,
});
export const bind = (
  namespace: string,
  name: string,
  roleName: string,
  ...subjects: readonly unknown[]
): RbacObject => ({
  kind: 'RoleBinding',
  namespace,
  name,
  roleRef: ref('Role', roleName),
  subjects,
});
/** A cluster role inside one namespace. */
export const bindInside = (
  namespace: string,
  name: string,
  roleName: string,
  ...subjects: readonly unknown[]
): RbacObject => ({ kind: 'RoleBinding', namespace, name, roleRef: ref('ClusterRole', roleName), subjects });
export const bindEverywhere = (name: string, roleName: string, ...subjects: readonly unknown[]): RbacObject => ({
  kind: 'ClusterRoleBinding',
  name,
  roleRef: ref('ClusterRole', roleName),
  subjects,
});

export const aUser = (name: string): object => ({ kind: 'User', apiGroup: GROUP, name });
export const aGroup = (name: string): object => ({ kind: 'Group', apiGroup: GROUP, name });
export const anAccount = (namespace: string, name: string): object => ({ kind: 'ServiceAccount', namespace, name });
