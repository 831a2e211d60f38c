import { metadataSpan } from '../../../machinery/codec/metadata-span.js';
import type { ApiObject, ObjectMeta } from '../../../machinery/meta/object.js';
import type { CachedObject } from '../../cache/cached-object.js';

/** An object that is to be converted. */
export interface Convertible {
  readonly apiVersion: string;
  readonly kind: string;
  /** All of it, in JSON. */
  readonly bytes: Buffer;
  /** Made afresh: the caller may change it. */
  readonly metadata: () => ObjectMeta;
}

/** Converts objects of one kind between its versions: another server does. */
export interface ObjectConverter {
  /**
   * Converts objects that are in other versions, in one question.
   *
   * @param to The version to convert to, e.g. `example.com/v2`.
   * @returns Their converted states, in the same order, each with the metadata that it had but for labels and annotations.
   * @throws {StatusError} InternalError
   */
  convert(objects: readonly Convertible[], to: string): Promise<readonly ApiObject[]>;
  /** Nothing more will be asked; what is under way comes to its end. */
  close(): void;
}

/** @param apiVersion In which its bytes are. */
export const storedConvertible = (object: CachedObject, apiVersion: string, kind: string): Convertible => ({
  apiVersion,
  kind,
  bytes: object.bytes,
  metadata: () => JSON.parse(metadataSpan(object.bytes, object.layout.prefixLength).toString('utf8')) as ObjectMeta,
});

export const stateConvertible = (object: ApiObject): Convertible => {
  const { apiVersion, kind } = object;
  const bytes = Buffer.from(JSON.stringify(object));
  return { apiVersion, kind, bytes, metadata: () => structuredClone(object.metadata) };
};

/** As errors name it. */
export const shownKind = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string =>
  `${apiVersion}, Kind=${kind}`;
