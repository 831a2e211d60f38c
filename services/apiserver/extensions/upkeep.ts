import { isDeepStrictEqual } from 'node:util';
import { inParallel } from '../../machinery/loop/in-parallel.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../cache/cached-object.js';
import { isReadable } from '../cache/cached-object.js';
import { deletionIsDue } from '../registry/deletion.js';
import { declaredResource, keyOf, type ResourceTable, type StoredResource } from '../registry/resources.js';
import type { WriteDecision, Writer } from '../registry/writer.js';
import { judge, merged, type Condition } from './conditions.js';
import { isBeingDeleted, isTrue, specOf, type Definition } from './definition.js';
import { deleteInstances } from './instances.js';
import type { Definitions } from './definitions.js';
import { schemaProblems } from './schema-problems.js';

export interface UpkeepDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
  readonly definitions: Definitions;
}

/** Groups whose definitions are looked at at once. */
const AT_ONCE = 16;

/** Names of definitions by the group that they end in, in their order: only names of one group can be in each other's way. */
function inGroups(names: Iterable<string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const group = name.slice(name.indexOf('.') + 1);
    const others = groups.get(group);
    if (others === undefined) groups.set(group, [name]);
    else others.push(name);
  }
  return [...groups.values()];
}

const NOTHING: WriteDecision = { do: 'nothing' };

/**
 * Says in the status of each definition what becomes of it, and takes the instances of one that goes with it. Every
 * server does; what one has written, the others find in place.
 */
export class DefinitionUpkeep {
  readonly #d: UpkeepDeps;
  readonly stored: StoredResource;

  constructor(d: UpkeepDeps) {
    this.#d = d;
    this.stored = declaredResource(d.resources, d.vocabulary.groups.apiextensions, 'customresourcedefinitions');
  }

  /**
   * Looks at every definition that has changed; what is in order is only read.
   *
   * @returns Whether instances of one that goes are still there.
   * @throws {StatusError} When a definition could not be written; the rest may have been.
   */
  async pass(signal: AbortSignal): Promise<boolean> {
    const { definitions } = this.#d;
    const left = new Set(definitions.takeChanged());
    const waiting: string[] = [];
    try {
      await inParallel(inGroups(left), AT_ONCE, async (names) => {
        for (const name of names) {
          if (signal.aborted) return;
          if (await this.#look(name, signal)) waiting.push(name);
          left.delete(name);
        }
      });
    } catch (err) {
      definitions.again([...left, ...waiting]);
      throw err;
    }
    definitions.again(waiting);
    return !signal.aborted && waiting.length > 0;
  }

  /** @returns Whether it has to be looked at again. */
  async #look(name: string, signal: AbortSignal): Promise<boolean> {
    const { cache } = this.stored;
    const object = cache.newest(keyOf(this.stored, '', name));
    if (object === undefined || !isReadable(object)) return false;
    const definition = object.parse() as Definition; // we encoded it
    if (isBeingDeleted(definition)) return this.#finish(object, definition, signal);
    if (this.#judged(object, definition) !== undefined) await this.#write(name, (current) => this.#decide(current));
    return false;
  }

  #decide(current: CachedObject): WriteDecision {
    const definition = current.parse() as Definition; // we encoded it
    const object = isBeingDeleted(definition) ? undefined : this.#judged(current, definition);
    return object === undefined ? NOTHING : { do: 'put', object };
  }

  /** The definition with what is to be said of it; undefined where that is said. */
  #judged(object: CachedObject, definition: Definition): Definition | undefined {
    const at = { group: specOf(definition).group ?? '', revision: object.revision };
    const { acceptedNames = {}, conditions } = judge(definition, this.#d.definitions.taken(object.name, at), {
      vocabulary: this.#d.vocabulary,
      schemaProblems: (it) => schemaProblems(it, this.#d.vocabulary),
    });
    const { status = {} } = definition;
    const next = { ...status, conditions: merged(definition, conditions), acceptedNames };
    const isSame = isDeepStrictEqual(status.conditions, next.conditions) && sameNames(status, next);
    return isSame ? undefined : { ...definition, status: next };
  }

  /** @returns Whether something of it is still there. */
  async #finish(object: CachedObject, definition: Definition, signal: AbortSignal): Promise<boolean> {
    const finalizer = this.#d.vocabulary.definitionFinalizer;
    if (definition.metadata.finalizers?.includes(finalizer) !== true) return false;
    if (!isTrue(definition, 'Established')) {
      await this.#release(object.name, finalizer, NEVER_ESTABLISHED);
      return false;
    }
    await this.#write(object.name, (current) => withTerminating(current, IN_PROGRESS));
    const { group = '', names: { plural = '' } = {} } = specOf(definition);
    const instances = this.#d.resources.stored(group, plural);
    if (instances !== undefined && !(await deleteInstances(this.#d.writer, instances, signal))) return true;
    await this.#release(object.name, finalizer, COMPLETED);
    return false;
  }

  #release(name: string, finalizer: string, said: Condition): Promise<void> {
    return this.#write(name, (current) => {
      const definition = withCondition(current.parse() as Definition, said); // we encoded it
      if (!isBeingDeleted(definition)) return NOTHING;
      const finalizers = (definition.metadata.finalizers ?? []).filter((it) => it !== finalizer);
      const next = { ...definition, metadata: { ...definition.metadata, finalizers } };
      return deletionIsDue(this.stored.strategy, next) ? { do: 'delete', object: next } : { do: 'put', object: next };
    });
  }

  async #write(name: string, decide: (current: CachedObject) => WriteDecision): Promise<void> {
    const target = { stored: this.stored, namespace: '', name };
    await this.#d.writer.write(target, (current) => (current === undefined ? NOTHING : decide(current)));
  }
}

/** Names are compared without regard to members that are absent. */
function sameNames(a: NonNullable<Definition['status']>, b: NonNullable<Definition['status']>): boolean {
  return isDeepStrictEqual(
    JSON.parse(JSON.stringify(a.acceptedNames ?? {})),
    JSON.parse(JSON.stringify(b.acceptedNames)),
  );
}

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});
const IN_PROGRESS = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const COMPLETED = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER_ESTABLISHED = terminating('False', 'NeverEstablished', 'resource was never established');

function withCondition(definition: Definition, said: Condition): Definition {
  const conditions = merged(definition, new Map([[said.type, said]]));
  return { ...definition, status: { ...definition.status, conditions } };
}

function withTerminating(current: CachedObject, said: Condition): WriteDecision {
  const definition = current.parse() as Definition; // we encoded it
  const next = withCondition(definition, said);
  if (!isBeingDeleted(definition) || isDeepStrictEqual(next, definition)) return NOTHING;
  return { do: 'put', object: next };
}
