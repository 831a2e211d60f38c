import { metadataSpan } from '../../machinery/codec/metadata-span.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { CachedObject } from '../cache/cached-object.js';
import type { ServedResource } from '../registry/resources.js';
import type { ChangeType } from '../cache/history.js';
import type { Page } from '../registry/reader.js';
import type { Asker } from '../http/turns.js';

/** The metadata of a list. */
export interface ListMeta {
  readonly [member: string]: string | number | undefined;
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export const listMeta = (page: Page): ListMeta => ({
  resourceVersion: String(page.revision),
  ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
  ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
});

/** One way of showing the objects of one served resource, in one encoding. YAML is made of JSON afterwards. */
export interface View {
  /** Distinguishes views where watchers share their frames. */
  readonly id: string;
  readonly one: (shown: Shown) => Buffer;
  /** In pieces, some of which may be shared: do not write to them. */
  readonly list: (page: Page, asker: Asker) => Promise<Buffer[]>;
  /** A frame of a watch. */
  readonly event: (type: ChangeType, object: CachedObject) => Buffer;
  /** The frame of a bookmark. */
  readonly bookmark: (resourceVersion: number, annotations?: Readonly<Record<string, string>>) => Buffer;
  /** A frame that says what went wrong: the same in every view. */
  readonly error: (status: object) => Buffer;
  /** Adds to the first frames of a watch what is said once. */
  readonly opening?: (frames: Buffer) => Buffer;
}

/** The object of a bookmark. */
export const markObject = (
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
  resourceVersion: number,
  annotations?: Readonly<Record<string, string>>,
): { kind: string; apiVersion: string; metadata: { [key: string]: unknown; resourceVersion: string } } => ({
  kind,
  apiVersion,
  metadata: {
    resourceVersion: String(resourceVersion),
    creationTimestamp: null,
    ...(annotations === undefined ? {} : { annotations }),
  },
});

/** The object of an answer: one of the cache, or a state that is not stored. Both in the storage version. */
export type Shown = CachedObject | ApiObject;

/** Of a cached object a copy that the caller may change; a state itself. */
export const parsed = (shown: Shown): ApiObject =>
  shown instanceof CachedObject ? (shown.parse() as ApiObject) : shown; // we encoded it

/** In the served version. */
export const inServedVersion = (served: ServedResource, shown: Shown): ApiObject =>
  served.servesStorageVersion ? parsed(shown) : served.fromStorage(parsed(shown));

/** JSON in the served version: the stored bytes themselves wherever that is the version. */
export function jsonOf(served: ServedResource, shown: Shown): Buffer {
  if (served.servesStorageVersion && shown instanceof CachedObject) return shown.bytes;
  return Buffer.from(JSON.stringify(inServedVersion(served, shown)));
}

/** JSON of metadata, which is the same in all versions. */
export const metadataOf = (shown: Shown): Buffer =>
  shown instanceof CachedObject
    ? metadataSpan(shown.bytes, shown.layout.prefixLength)
    : Buffer.from(JSON.stringify(shown.metadata));

export const versionOf = (shown: Shown): string =>
  shown instanceof CachedObject ? String(shown.revision) : (shown.metadata.resourceVersion ?? '');
