import { dataFiles, readData } from './data-files.js';

/** Descriptions of types and their fields, in sentences. */
export interface Descriptions {
  /** @param key e.g. `core/v1.Pod` */
  ofType(key: string): string | undefined;
  /** @param field As in JSON. Of the type's own fields: those of inlined types are described there. */
  ofField(key: string, field: string): string | undefined;
}

interface Entry {
  readonly is?: string;
  /** Another entry, which tells what is not told here: `<Kind>` of the same file, or `<group>.<Kind>`. */
  readonly like?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Entries by `<Kind>`, for all versions, or by `<version>.<Kind>` where one differs. */
type Entries = ReadonlyMap<string, Entry>;

type Translate = (platformForm: string) => string;

interface Place {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const FOLDER = 'descriptions';
/** Types that belong to no group (`resource.Quantity`) are described with those that all groups share. */
const SHARED = 'meta';
/** Holds what is alike in many types, by what their names end in; the most telling one first. */
const COMMON = 'common';
const PATTERNS = ['*List', '*Condition', '*'];
/** In a sentence of a pattern: what the name begins with. */
const STEM = '{stem}';

function placeOf(key: string): Place {
  const slash = key.indexOf('/');
  const dot = key.indexOf('.', slash + 1);
  const kind = key.slice(key.lastIndexOf('.') + 1);
  return slash < 0
    ? { group: SHARED, version: '', kind }
    : { group: key.slice(0, slash), version: key.slice(slash + 1, dot), kind };
}

/** The descriptions, one file for each group, read when something of the group is first asked for. */
class DescriptionFiles implements Descriptions {
  readonly #translate: Translate;
  readonly #files = new Map<string, string>();
  readonly #loaded = new Map<string, Entries>();

  constructor(translate: Translate) {
    this.#translate = translate;
    for (const file of dataFiles(FOLDER)) this.#files.set(translate(file.slice(0, -'.json'.length)), file);
  }

  ofType(key: string): string | undefined {
    return this.#find(placeOf(key), (entry) => entry.is);
  }

  ofField(key: string, field: string): string | undefined {
    return this.#find(placeOf(key), ({ fields = {} }) => (Object.hasOwn(fields, field) ? fields[field] : undefined));
  }

  #find(place: Place, read: (entry: Entry) => string | undefined): string | undefined {
    return this.#own(place, read) ?? this.#common(place, read);
  }

  #own(place: Place, read: (entry: Entry) => string | undefined): string | undefined {
    const entries = this.#entries(place.group);
    for (const name of [`${place.version}.${place.kind}`, place.kind]) {
      const entry = entries.get(name);
      if (entry === undefined) continue;
      const found = read(entry) ?? (entry.like === undefined ? undefined : this.#own(likeOf(place, entry.like), read));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #common({ kind }: Place, read: (entry: Entry) => string | undefined): string | undefined {
    for (const pattern of PATTERNS) {
      const ending = pattern.slice(1);
      const entry = kind.endsWith(ending) ? this.#entries(COMMON).get(pattern) : undefined;
      const found = entry === undefined ? undefined : read(entry);
      if (found !== undefined) return found.replace(STEM, kind.slice(0, kind.length - ending.length));
    }
    return undefined;
  }

  #entries(group: string): Entries {
    const known = this.#loaded.get(group);
    if (known !== undefined) return known;
    const file = this.#files.get(group);
    const read = file === undefined ? {} : readData<Readonly<Record<string, Entry>>>(`${FOLDER}/${file}`);
    const entries = new Map(Object.entries(read).map(([name, entry]) => [name, translated(entry, this.#translate)]));
    this.#loaded.set(group, entries);
    return entries;
  }
}

function translated({ is, like, fields = {} }: Entry, translate: Translate): Entry {
  return {
    ...(is === undefined ? {} : { is: translate(is) }),
    ...(like === undefined ? {} : { like: translate(like) }),
    fields: Object.fromEntries(Object.entries(fields).map(([name, text]) => [translate(name), translate(text)])),
  };
}

/** Another version of a type is described in the same place: an entry of another group names no version. */
function likeOf({ group, version }: Place, like: string): Place {
  const dot = like.lastIndexOf('.');
  return dot < 0
    ? { group, version, kind: like }
    : { group: like.slice(0, dot), version: '', kind: like.slice(dot + 1) };
}

/** The descriptions of the built-in types. The files are opened when something in them is asked for. */
export const loadDescriptions = (translate: Translate): Descriptions => new DescriptionFiles(translate);
