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
import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import { CachedObject } from '../cache/cached-object.js';
import { Generations } from '../cache/generations.js';
import type { ByteWriter } from '../http/byte-writer.js';
import { protobufStatus } from '../http/respond.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import { inServedVersion, metadataOf, type Shown, listMeta, markObject, type View } from './view.js';
import type { Asker } from '../http/turns.js';
import { inSlices } from './slices.js';
import { VIEW_BUDGET } from './view-budget.js';

/** The type of the messages of a view, and its name. */
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
  const { apiVersion, type } = served;
  const { kind, listKind } = served.declaration;
  return viewOf({
    id: `protobuf ${apiVersion}`,
    apiVersion,
    kind,
    listKind,
    numbers: LIST_NUMBERS,
    encode: (shown) => encodeProtobuf(type, inServedVersion(served, shown) as unknown as JsonObject), // decoded JSON
    encodeMark: (metadata) => encodeProtobuf(type, { metadata }),
  });
}

const PARTIAL = 'meta/v1.PartialObjectMetadata';

const PARTIAL_LIST = 'PartialObjectMetadataList';
const partialMessage = (metadata: JsonObject): Buffer => encodeProtobuf(META_TYPES.of(PARTIAL), { metadata });
const partialNumbers = (apiVersion: string): ListNumbers =>
  apiVersion.endsWith('/v1beta1') ? LATE_METADATA_NUMBERS : LIST_NUMBERS;

/** Objects without anything but their metadata; only that is parsed. */
export function metadataAsProtobuf(apiVersion: string): View {
  return viewOf({
    id: `metadata protobuf ${apiVersion}`,
    apiVersion,
    kind: 'PartialObjectMetadata',
    listKind: PARTIAL_LIST,
    numbers: partialNumbers(apiVersion),
    encode: (shown) => partialMessage(JSON.parse(metadataOf(shown).toString('utf8')) as JsonObject),
    encodeMark: partialMessage,
  });
}

/** The same of a few states that are stored nowhere: the list has no version of its own. */
export function metadataListAsProtobuf(apiVersion: string, states: readonly ApiObject[]): Buffer {
  const numbers = partialNumbers(apiVersion);
  const items = states.flatMap(({ metadata }) => listItem(numbers, partialMessage(metadata as unknown as JsonObject))); // decoded JSON
  return Buffer.concat(encodeList({ apiVersion, kind: PARTIAL_LIST, metadata: {} }, items, numbers));
}

function viewOf(m: Messages): View {
  const kept = new Generations<CachedObject, Buffer>((message) => message.length, VIEW_BUDGET);
  const message = (shown: Shown): Buffer => {
    if (!(shown instanceof CachedObject)) return m.encode(shown);
    const known = kept.get(shown);
    if (known !== undefined) return known;
    const made = copied(m.encode(shown));
    kept.set(shown, made);
    return made;
  };
  const wrapped = (raw: Buffer): Buffer => encodeEnvelope(m.apiVersion, m.kind, raw);
  return {
    id: m.id,
    one: (shown) => wrapped(message(shown)),
    list: (page, asker) => listPieces(m, message, page, asker),
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
  asker: Asker,
): Promise<Buffer[]> {
  const encode = (writer: ByteWriter, object: CachedObject): void => {
    for (const part of listItem(numbers, message(object))) writer.bytes(part);
  };
  const items = await inSlices(page.objects(), encode, asker);
  return encodeList({ apiVersion, kind: listKind, metadata: listMeta(page) }, items, numbers);
}
