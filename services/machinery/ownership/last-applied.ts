import { isJsonObject } from '../meta/own.js';
import type { ApiObject, JsonObject } from '../meta/object.js';
import { NO_FIELDS, difference, type FieldsTree } from './fields-tree.js';
import type { ObjectWalker } from './object-walker.js';

/** Most that an object's annotations hold together, in characters of names and values. */
const MAX_ANNOTATIONS = 256 * 1024;

/**
 * A client that used to apply by itself kept what it applied in an annotation. When the same client begins to apply at
 * the server, the fields of that annotation are its own, though the records say that another manager set them.
 */
export class LastApplied {
  readonly #annotation: string;
  readonly #manager: string;

  constructor(annotation: string, manager: string) {
    this.#annotation = annotation;
    this.#manager = manager;
  }

  isOf(manager: string): boolean {
    return manager === this.#manager;
  }

  /** The fields that the client set last and no other writer has changed since. */
  fieldsOf(walker: ObjectWalker, live: ApiObject, normalise: (object: unknown) => ApiObject): FieldsTree {
    const text = this.#textIn(live);
    if (text === '') return NO_FIELDS;
    try {
      const config: unknown = JSON.parse(text);
      if (!isJsonObject(config) || config['apiVersion'] !== live.apiVersion) return NO_FIELDS;
      const { changed, removed } = walker.diff(normalise(config), live);
      return difference(difference(walker.applied(config), changed), removed);
    } catch {
      return NO_FIELDS; // any client may write the annotation: one that cannot be read allows nothing
    }
  }

  /** `object` with the annotation brought up to date, where it has one. */
  refreshed(object: ApiObject, config: JsonObject): ApiObject {
    if (this.#textIn(object) === '') return object;
    const annotations = { ...object.metadata.annotations, [this.#annotation]: this.#textOf(config) };
    if (sizeOf(annotations) > MAX_ANNOTATIONS) Reflect.deleteProperty(annotations, this.#annotation);
    return { ...object, metadata: { ...object.metadata, annotations } };
  }

  #textIn({ metadata }: ApiObject): string {
    const { annotations } = metadata;
    return annotations !== undefined && Object.hasOwn(annotations, this.#annotation)
      ? (annotations[this.#annotation] ?? '')
      : '';
  }

  /** As the client writes it: keys sorted, without the annotation itself, one line. */
  #textOf(config: JsonObject): string {
    return `${JSON.stringify(config, (key, value: unknown) => this.#sorted(key, value))}\n`;
  }

  #sorted(key: string, value: unknown): unknown {
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).filter(([name]) => key !== 'annotations' || name !== this.#annotation);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const sizeOf = (annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
