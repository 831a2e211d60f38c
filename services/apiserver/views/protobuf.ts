import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import {
  encodeList,
  LATE_METADATA_NUMBERS,
  LIST_NUMBERS,
  listItem,
  type ListNumbers,
} from '../../machinery/codec/protobuf/list.js';
import { encodeWatchFrame } from '../../machinery/codec/protobuf/watch-frame.js';
import type { JsonObject } from '../../machinery/meta/object.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import { CachedObject } from '../cache/cached-object.js';
import { protobufStatus } from '../http/respond.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import { Generations } from './generations.js';
import { inServedVersion, metadataOf, type Shown } from './shown.js';
import { inSlices } from './slices.js';
import { listMeta, markObject, type View } from './view.js';

/** Of each view that is in use: clients that speak Protobuf list and watch the same objects again and again. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** What messages are shown, and how they are named. */
interface Messages {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly numbers: ListNumbers;
  /** The message of an object, without an envelope. */
  readonly encode: (shown: Shown) => Buffer;
  /** That of an object which has nothing but this metadata. */
  readonly encodeMark: (metadata: JsonObject) => Buffer;
}

/** Objects as they are. */
export function objectsAsProtobuf(served: ServedResource): View {
  const { declaration, apiVersion, types } = served;
  const { kind, listKind, type } = declaration;
  return viewOf({
    id: `protobuf ${apiVersion}`,
    apiVersion,
    kind,
    listKind,
    numbers: LIST_NUMBERS,
    encode: (shown) => encodeProtobuf(types, type, inServedVersion(served, shown) as unknown as JsonObject), // decoded JSON
    encodeMark: (metadata) => encodeProtobuf(types, type, { metadata }),
  });
}

const PARTIAL = 'meta/v1.PartialObjectMetadata';

/** Objects without anything but their metadata; only that is parsed. */
export function metadataAsProtobuf(apiVersion: string): View {
  const encodeMark = (metadata: JsonObject): Buffer => encodeProtobuf(META_TYPES, PARTIAL, { metadata });
  return viewOf({
    id: `metadata protobuf ${apiVersion}`,
    apiVersion,
    kind: 'PartialObjectMetadata',
    listKind: 'PartialObjectMetadataList',
    numbers: apiVersion.endsWith('/v1beta1') ? LATE_METADATA_NUMBERS : LIST_NUMBERS,
    encode: (shown) => encodeMark(JSON.parse(metadataOf(shown).toString('utf8')) as JsonObject),
    encodeMark,
  });
}

function viewOf(m: Messages): View {
  const kept = new Generations<CachedObject, Buffer>(KEPT_BYTES);
  const message = (shown: Shown): Buffer => {
    if (!(shown instanceof CachedObject)) return m.encode(shown);
    const known = kept.get(shown);
    if (known !== undefined) return known;
    const made = copied(m.encode(shown));
    kept.set(shown, made, made.length);
    return made;
  };
  const wrapped = (raw: Buffer): Buffer => encodeEnvelope(m.apiVersion, m.kind, raw);
  return {
    id: m.id,
    one: (shown) => wrapped(message(shown)),
    list: (page, isGone) => listPieces(m, message, page, isGone),
    event: (type, object) => encodeWatchFrame(type, wrapped(message(object))),
    bookmark: (at, annotations) => {
      const { metadata } = markObject(m, at, annotations);
      return encodeWatchFrame('BOOKMARK', wrapped(m.encodeMark(metadata as JsonObject)));
    },
    error: (status) => encodeWatchFrame('ERROR', protobufStatus(status)),
  };
}

/** Apart from the shared pool: what is kept for long would keep its neighbours. */
function copied(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(out);
  return out;
}

async function listPieces(
  { apiVersion, listKind, numbers }: Messages,
  message: (shown: Shown) => Buffer,
  page: Page,
  isGone: () => boolean,
): Promise<Buffer[]> {
  const encode = (objects: readonly CachedObject[]): Buffer =>
    Buffer.concat(objects.flatMap((object) => listItem(numbers, message(object))));
  const items = await inSlices(page.objects(), encode, isGone);
  return encodeList(META_TYPES, { apiVersion, kind: listKind, metadata: listMeta(page) }, items, numbers);
}
