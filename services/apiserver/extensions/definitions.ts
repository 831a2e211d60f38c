import type { CustomResourceDefinitionNames } from '../../machinery/types/generated/apiextensions.v1.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { CacheFollower } from '../cache/follow.js';
import type { Change } from '../cache/history.js';
import { specOf, type Definition } from './definition.js';
import { takenNames, type TakenNames } from './names.js';

/** As much of a definition as the others have to know. */
interface Known {
  readonly group: string;
  readonly revision: number;
  readonly asked: CustomResourceDefinitionNames;
  /** Empty until somebody has looked at it. */
  readonly accepted: CustomResourceDefinitionNames;
}

/** Who is told of definitions, each parsed once for all. */
export interface DefinitionListener {
  /** All of them; others are there no more. */
  all(definitions: readonly (readonly [CachedObject, Definition])[]): void;
  put(object: CachedObject, definition: Definition): void;
  removed(name: string): void;
}

/** What there is of definitions, and which of them have to be looked at. */
export class Definitions implements CacheFollower {
  readonly #listener: DefinitionListener;
  readonly #known = new Map<string, Known>();
  readonly #byGroup = new Map<string, Set<string>>();
  readonly #changed = new Set<string>();

  constructor(listener: DefinitionListener) {
    this.#listener = listener;
  }

  loaded(objects: Iterable<CachedObject>): void {
    const all = [...objects].map((object) => [object, object.parse() as Definition] as const); // we encoded them
    this.#known.clear();
    this.#byGroup.clear();
    for (const [object, definition] of all) this.#note(object, definition);
    this.#listener.all(all);
  }

  changed({ object, deleted }: Change): void {
    if (deleted) {
      this.#forget(object.name);
      this.#listener.removed(object.name);
    } else {
      const definition = object.parse() as Definition; // we encoded it
      this.#note(object, definition);
      this.#listener.put(object, definition);
    }
  }

  /** The names of those that changed since the last call, and of those that may have what they ask for now. */
  takeChanged(): string[] {
    const names = [...this.#changed];
    this.#changed.clear();
    return names;
  }

  /** They have to be looked at again. */
  again(names: Iterable<string>): void {
    for (const name of names) this.#changed.add(name);
  }

  /**
   * The names that others of its group have. One that nobody has looked at yet has what it asks for, before those that
   * came after it: all servers see them in one order.
   */
  taken(name: string, { group, revision }: { readonly group: string; readonly revision: number }): TakenNames {
    const others = [...(this.#byGroup.get(group) ?? [])].filter((other) => other !== name);
    return takenNames(
      others.flatMap((other) => {
        const known = this.#known.get(other);
        if (known === undefined) return [];
        if ((known.accepted.plural ?? '') !== '') return [known.accepted];
        return known.revision < revision ? [known.asked] : [];
      }),
    );
  }

  #note(object: CachedObject, definition: Definition): void {
    const { group = '', names = {} } = specOf(definition);
    const { name, revision } = object;
    this.#known.set(name, { group, revision, asked: names, accepted: definition.status?.acceptedNames ?? {} });
    const inGroup = this.#byGroup.get(group) ?? new Set<string>();
    this.#byGroup.set(group, inGroup.add(name));
    this.#changed.add(name);
    this.#wakeLosers(inGroup);
  }

  #forget(name: string): void {
    const inGroup = this.#byGroup.get(this.#known.get(name)?.group ?? '');
    this.#known.delete(name);
    inGroup?.delete(name);
    if (inGroup !== undefined) this.#wakeLosers(inGroup);
  }

  /** Names that are given up are another's from then on. */
  #wakeLosers(names: Iterable<string>): void {
    for (const name of names) {
      const known = this.#known.get(name);
      if (known !== undefined && lacksNames(known)) this.#changed.add(name);
    }
  }
}

function lacksNames({ asked, accepted }: Known): boolean {
  const short = [...(accepted.shortNames ?? [])].join();
  return (
    (['plural', 'singular', 'kind', 'listKind'] as const).some((it) => (asked[it] ?? '') !== (accepted[it] ?? '')) ||
    [...(asked.shortNames ?? [])].join() !== short
  );
}
