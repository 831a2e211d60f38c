import { decodeProtobuf } from '../../../machinery/codec/protobuf/decode.js';
import { decodeEnvelope } from '../../../machinery/codec/protobuf/envelope.js';
import { LATE_METADATA_NUMBERS, LIST_NUMBERS, type ListNumbers } from '../../../machinery/codec/protobuf/list.js';
import { WireReader } from '../../../machinery/codec/protobuf/wire.js';
import { parseApiVersion } from '../../../machinery/meta/gvk.js';
import type { JsonObject } from '../../../machinery/meta/object.js';
import { typeKey } from '../../../machinery/types/catalog.js';
import type { Catalog } from '../../../machinery/types/declarations.js';
import type { Type, TypeGraph } from '../../../machinery/types/graph.js';
import { META_TYPES } from '../../../machinery/types/meta-types.js';
import { CLIENT_WORDS } from '../../../machinery/vocabulary/vocabulary.js';

/** Decodes a Protobuf answer; undefined for a type that is not declared. */
export type ReadProtobuf = (body: Buffer) => JsonObject | undefined;

const META_GROUPS: readonly string[] = CLIENT_WORDS.metaGroups;
const LIST = 'List';

export const protobufReader =
  (catalog: Pick<Catalog, 'types'>): ReadProtobuf =>
  (body) => {
    const { apiVersion, kind, raw } = decodeEnvelope(body);
    const { types, key, numbers } = messageOf(catalog, apiVersion, kind);
    const named = { kind, apiVersion };
    const item = key.endsWith(LIST) ? types.get(key.slice(0, -LIST.length)) : undefined;
    if (item !== undefined) return { ...named, ...listOf(item, numbers, raw) };
    const type = types.get(key);
    return type && { ...decodeProtobuf(type, raw), ...named };
  };

interface MessageType {
  readonly types: TypeGraph;
  readonly key: string;
  readonly numbers: ListNumbers;
}

function messageOf({ types }: Pick<Catalog, 'types'>, apiVersion: string, kind: string): MessageType {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  if (kind === 'Status') return { types: META_TYPES, key: 'meta/v1.Status', numbers: LIST_NUMBERS };
  if (!META_GROUPS.includes(group)) return { types, key: typeKey(group, version, kind), numbers: LIST_NUMBERS };
  // Both versions of the partial objects have one shape, but for the order in their lists.
  const numbers = version === 'v1beta1' ? LATE_METADATA_NUMBERS : LIST_NUMBERS;
  return { types: META_TYPES, key: `meta/v1.${kind}`, numbers };
}

function listOf(item: Type, numbers: ListNumbers, raw: Buffer): JsonObject {
  const items: JsonObject[] = [];
  let metadata: JsonObject = {};
  const reader = new WireReader(raw);
  while (reader.next()) {
    if (reader.field === numbers.metadata) metadata = decodeProtobuf(META_TYPES.of('meta/v1.ListMeta'), reader.bytes());
    else if (reader.field === numbers.items) items.push(decodeProtobuf(item, reader.bytes()));
    else reader.skip();
  }
  return { metadata, items };
}
