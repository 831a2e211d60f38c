import { decodeEnvelope, encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { decodeProtobuf } from '../../machinery/codec/protobuf/decode.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { hasWireForm } from '../../machinery/codec/protobuf/wire-form.js';
import { parseApiVersion } from '../../machinery/meta/gvk.js';
import { apiVersionOf, type JsonObject } from '../../machinery/meta/object.js';
import { decodeObject } from '../../machinery/schema/decode.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Type, TypeGraph } from '../../machinery/types/graph.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import { CLIENT_WORDS, type Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { AnyObject, ResourceType } from './resource-type.js';

/** What is asked for of objects. */
export type View = 'object' | 'metadata';

export interface EncodedBody {
  readonly contentType: string;
  readonly body: Buffer;
}

export interface Codec {
  /** The header Accept for answers about objects of a type. */
  accept(type: ResourceType, view: View, of: 'object' | 'list' | 'watch'): string;
  /** An object as it is sent; its kind is that of the type where it does not say. */
  encode(type: ResourceType, object: AnyObject): EncodedBody;
  /** @param contentType Of the answer. @throws {Error} when it cannot be read */
  decode(contentType: string | undefined, body: Buffer): JsonObject;
}

const META_GROUPS: readonly string[] = CLIENT_WORDS.metaGroups;
const JSON_TYPE = 'application/json';
const PARTIAL = { object: 'PartialObjectMetadata', list: 'PartialObjectMetadataList', watch: 'PartialObjectMetadata' };

/** Whether an answer is made of Protobuf messages. */
export const isProtobuf = (contentType = ''): boolean =>
  CLIENT_WORDS.protobufMediaTypes.some((type) => contentType.startsWith(type));

/**
 * @param types The types that have a form in Protobuf; undefined: requests are JSON. Answers are read in both forms if there
 * are types.
 */
export const codecFor = (vocabulary: Vocabulary, types: TypeGraph | undefined): Codec =>
  new ApiCodec(vocabulary, types);

class ApiCodec implements Codec {
  readonly #vocabulary: Vocabulary;
  readonly #types: TypeGraph | undefined;

  constructor(vocabulary: Vocabulary, types: TypeGraph | undefined) {
    this.#vocabulary = vocabulary;
    this.#types = types;
  }

  accept(type: ResourceType, view: View, of: 'object' | 'list' | 'watch'): string {
    const { protobufMediaType, metaGroup } = this.#vocabulary;
    const wants = this.#types === undefined ? [JSON_TYPE] : [protobufMediaType, JSON_TYPE];
    const stream = of === 'watch' ? ';stream=watch' : '';
    if (view === 'metadata') {
      const partial = wants.map((media) => `${media};as=${PARTIAL[of]};g=${metaGroup};v=v1${stream}`);
      return [...partial, `${JSON_TYPE}${stream}`].join(', ');
    }
    const known = this.#messageOf(type) === undefined ? [JSON_TYPE] : wants;
    return known.map((media) => `${media}${stream}`).join(', ');
  }

  encode(type: ResourceType, object: AnyObject): EncodedBody {
    const whole = { kind: type.kind, apiVersion: apiVersionOf(type), ...object };
    const text = JSON.stringify(whole);
    const message =
      whole.kind === type.kind && whole.apiVersion === apiVersionOf(type) ? this.#messageOf(type) : undefined;
    if (message === undefined) return { contentType: JSON_TYPE, body: Buffer.from(text) };
    const { value } = decodeObject(message, JSON.parse(text)); // the form that the encoder asks for
    const raw = encodeProtobuf(message, value as JsonObject);
    const body = encodeEnvelope(whole.apiVersion, whole.kind, raw);
    return { contentType: this.#vocabulary.protobufMediaType, body };
  }

  decode(contentType: string | undefined, body: Buffer): JsonObject {
    return isProtobuf(contentType) ? this.#decodeMessage(body) : (JSON.parse(body.toString('utf8')) as JsonObject);
  }

  #decodeMessage(body: Buffer): JsonObject {
    const { apiVersion, kind, raw } = decodeEnvelope(body);
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: apiVersion };
    const isMeta = group === '' || META_GROUPS.includes(group);
    const meta = isMeta ? META_TYPES.get(`meta/${version}.${kind}`) : undefined;
    const type = meta ?? (this.#types ?? META_TYPES).of(typeKey(group, version, kind));
    return { ...decodeProtobuf(type, raw), kind, apiVersion };
  }

  /** undefined: objects of the type are sent as JSON. */
  #messageOf({ group, version, kind }: ResourceType): Type | undefined {
    const type = this.#types?.get(typeKey(group, version, kind));
    return type !== undefined && hasWireForm(type) ? type : undefined;
  }
}
