import { dataFiles, readData, translatedTree } from './data-files.js';
import type { TypeDeclaration } from './declarations.js';
import type { Declarations } from './graph.js';

type Loaded = ReadonlyMap<string, TypeDeclaration>;

/** `core/v1.Pod` is of `core/v1`; the helpers of the wire (`runtime.Unknown`) are of `runtime`. */
const groupVersionOf = (key: string): string => key.slice(0, key.lastIndexOf('.'));

/** `rbac.authorization.v1.json` of a group with a domain: the file's name holds the key's beginning, dots for slashes. */
function groupVersionOfFile(file: string): string {
  const stem = file.slice(0, -'.json'.length);
  return stem.replace(/\.(v\d\w*)$/, '/$1');
}

/**
 * The declarations of all built-in types, read one group version at a time when a key of it is first asked for: a server
 * that starts reads some tenth of the whole. Going through the keys reads all of them.
 */
export class LazyTypes implements Declarations {
  readonly #files = new Map<string, string>();
  readonly #loaded = new Map<string, Loaded>();
  readonly #translate: ((form: string) => string) | undefined;

  /** @param translate Gives the words of the vocabulary; absent where the files already have them. */
  constructor(translate: ((form: string) => string) | undefined) {
    this.#translate = translate;
    for (const file of dataFiles('types')) {
      const groupVersion = groupVersionOfFile(file);
      this.#files.set(translate?.(groupVersion) ?? groupVersion, file);
    }
  }

  get(key: string): TypeDeclaration | undefined {
    return this.#group(groupVersionOf(key))?.get(key);
  }

  *keys(): Iterable<string> {
    for (const groupVersion of this.#files.keys()) yield* this.#group(groupVersion)?.keys() ?? [];
  }

  #group(groupVersion: string): Loaded | undefined {
    const known = this.#loaded.get(groupVersion);
    if (known !== undefined) return known;
    const file = this.#files.get(groupVersion); // a key may come from a client: only names of the list are opened
    if (file === undefined) return undefined;
    const loaded = this.#read(file);
    this.#loaded.set(groupVersion, loaded);
    return loaded;
  }

  #read(file: string): Loaded {
    const declared = Object.entries(readData<Readonly<Record<string, TypeDeclaration>>>(`types/${file}`));
    const translate = this.#translate;
    if (translate === undefined) return new Map(declared);
    return new Map(declared.map(([key, declaration]) => [translate(key), translatedTree(declaration, translate)]));
  }
}
