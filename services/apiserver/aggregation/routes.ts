import type { CachedObject } from '../cache/cached-object.js';
import type { CacheFollower } from '../cache/follow.js';
import type { Change } from '../cache/history.js';
import { apiServiceOf, isAvailable, specOf, type ApiService } from './api-service.js';

/** A service that serves a version of a group, as its APIService says. Never changed: what comes next is another one. */
export interface Route {
  /** Of the APIService. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Authorities of its certificate, PEM; '' for those of this machine. */
  readonly authorities: string;
  /** Its certificate is not looked at. */
  readonly insecure: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** As its status says. */
  readonly isAvailable: boolean;
}

/** Is told of routes, in the turn in which the cache changes. */
export interface RouteListener {
  /** @param before undefined: there was none. @param next undefined: there is none any more. */
  changed(name: string, before: Route | undefined, next: Route | undefined): void;
}

const HTTPS = 443;
const keyOf = (group: string, version: string): string => `${group}/${version}`;

/** Who serves what is not served here. Changes with APIServices alone; asked with each request for what is not known. */
export class Routes implements CacheFollower {
  readonly #byName = new Map<string, Route>();
  readonly #byVersion = new Map<string, Route>();
  readonly #listeners: RouteListener[] = [];

  /** Tells `listener` of the routes that there are, and of every change from now on. */
  listen(listener: RouteListener): void {
    this.#listeners.push(listener);
    for (const route of this.#byName.values()) listener.changed(route.name, undefined, route);
  }

  find(group: string, version: string): Route | undefined {
    return this.#byVersion.get(keyOf(group, version));
  }

  named(name: string): Route | undefined {
    return this.#byName.get(name);
  }

  get all(): Iterable<Route> {
    return this.#byName.values();
  }

  get size(): number {
    return this.#byName.size;
  }

  loaded(objects: Iterable<CachedObject>): void {
    const gone = new Set(this.#byName.keys());
    for (const object of objects) {
      gone.delete(object.name);
      this.#put(object.name, routeOf(apiServiceOf(object)));
    }
    for (const name of gone) this.#put(name, undefined);
  }

  changed({ object, deleted }: Change): void {
    this.#put(object.name, deleted ? undefined : routeOf(apiServiceOf(object)));
  }

  #put(name: string, next: Route | undefined): void {
    const before = this.#byName.get(name);
    if (before === undefined && next === undefined) return; // of what is served here there is most
    if (before !== undefined && this.find(before.group, before.version) === before) {
      this.#byVersion.delete(keyOf(before.group, before.version));
    }
    if (next === undefined) {
      this.#byName.delete(name);
    } else {
      this.#byName.set(name, next);
      this.#byVersion.set(keyOf(next.group, next.version), next);
    }
    for (const listener of this.#listeners) listener.changed(name, before, next);
  }
}

/** undefined: it stands for what is served here. */
export function routeOf(apiService: ApiService): Route | undefined {
  const spec = specOf(apiService);
  const { service } = spec;
  if (service === undefined) return undefined;
  return {
    name: apiService.metadata.name ?? '',
    group: spec.group ?? '',
    version: spec.version ?? '',
    service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? HTTPS },
    authorities: Buffer.from(spec.caBundle ?? '', 'base64').toString('utf8'),
    insecure: spec.insecureSkipTLSVerify ?? false,
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    isAvailable: isAvailable(apiService),
  };
}

/** Whether two routes lead to the same server in the same way. */
export const leadsToSame = (a: Route, b: Route): boolean =>
  serviceKey(a) === serviceKey(b) && a.authorities === b.authorities && a.insecure === b.insecure;

/** One for all routes to a service. */
export const serviceKey = ({ service: { namespace, name, port } }: Route): string => `${namespace}/${name}:${port}`;
