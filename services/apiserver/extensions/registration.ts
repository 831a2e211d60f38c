import { createHash } from 'node:crypto';
import type { Log } from '../../machinery/log/log.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Addition, LiveCatalog, ResourceName } from '../registry/live-catalog.js';
import { declare, type DeclaringDeps } from './declare.js';
import { isBeingDeleted, isTrue, specOf, type Definition } from './definition.js';
import type { DefinitionListener } from './definitions.js';

export interface RegistrationDeps extends DeclaringDeps {
  readonly live: Pick<LiveCatalog, 'change'>;
  readonly log: Pick<Log, 'error'>;
}

/** A definition whose resource is served. */
interface Registered {
  /** Digest of its spec. */
  readonly spec: string;
  readonly name: ResourceName;
  object: CachedObject;
  isTerminating: boolean;
}

interface Coming {
  readonly id: string;
  readonly registered: Registered;
  readonly addition: Addition;
}

const digestOf = (definition: Definition): string =>
  createHash('sha256')
    .update(JSON.stringify(specOf(definition)))
    .digest('base64');

/**
 * Keeps what is served in step with the definitions that are established, in the same turn in which the cache learns of
 * them. A definition of which only the status or the metadata changes disturbs nobody.
 */
export class Registration implements DefinitionListener {
  readonly #d: RegistrationDeps;
  readonly #registered = new Map<string, Registered>();

  constructor(d: RegistrationDeps) {
    this.#d = d;
  }

  all(definitions: readonly (readonly [CachedObject, Definition])[]): void {
    const present = new Set(definitions.map(([{ name }]) => name));
    for (const id of [...this.#registered.keys()]) if (!present.has(id)) this.removed(id);
    const coming = definitions.flatMap(([object, definition]) => this.#coming(object, definition) ?? []);
    if (coming.length === 0) return;
    const areNew = coming.every(({ id }) => !this.#registered.has(id));
    // One version of the catalog for all of them, where that can be.
    if (areNew && this.#try(() => this.#d.live.change({ add: coming.map(({ addition }) => addition) })) === undefined) {
      for (const { id, registered } of coming) this.#registered.set(id, registered);
    } else for (const it of coming) this.#register(it);
  }

  put(object: CachedObject, definition: Definition): void {
    const coming = this.#coming(object, definition);
    if (coming !== undefined) this.#register(coming);
  }

  removed(id: string): void {
    const known = this.#registered.get(id);
    if (known === undefined) return;
    this.#registered.delete(id);
    this.#tell(
      id,
      this.#try(() => this.#d.live.change({ remove: [known.name] })),
    );
  }

  /** Undefined: there is nothing to change. */
  #coming(object: CachedObject, definition: Definition): Coming | undefined {
    const id = object.name;
    if (!isTrue(definition, 'Established')) {
      this.removed(id);
      return undefined;
    }
    const known = this.#registered.get(id);
    const spec = digestOf(definition);
    if (known !== undefined) {
      known.object = object;
      known.isTerminating = isBeingDeleted(definition);
      if (known.spec === spec) return undefined;
    }
    const { group = '', names: { plural = '' } = {} } = specOf(definition);
    const isTerminating = isBeingDeleted(definition);
    const registered: Registered = { spec, name: { group, resource: plural }, object, isTerminating };
    const declared = {
      definition,
      again: () => registered.object.parse() as Definition, // we encoded it
      isTerminating: () => registered.isTerminating,
    };
    try {
      return { id, registered, addition: declare(declared, this.#d) };
    } catch (err) {
      this.#tell(id, err);
      return undefined;
    }
  }

  #register({ id, registered, addition }: Coming): void {
    const known = this.#registered.get(id);
    const remove = known === undefined ? [] : [known.name];
    const failure = this.#try(() => this.#d.live.change({ remove, add: [addition] }));
    if (failure === undefined) this.#registered.set(id, registered);
    else this.#tell(id, failure);
  }

  /** A definition that cannot be served must not keep the others, nor the feed, from going on. */
  #try(change: () => unknown): unknown {
    try {
      change();
      return undefined;
    } catch (err) {
      return err;
    }
  }

  #tell(name: string, err: unknown): void {
    if (err !== undefined) this.#d.log.error('A definition of custom resources cannot be served', { name, err });
  }
}
