import type { JsonObject } from '../../meta/object.js';
import { META_TYPES } from '../../types/meta-types.js';
import { encodeProtobuf } from './encode.js';
import { encodeEnvelopeAround } from './envelope.js';
import { BYTES } from './wire.js';
import { written } from './wire-writer.js';

/** The numbers of a list's two fields. */
export interface ListNumbers {
  readonly metadata: number;
  readonly items: number;
}

/** Every list has these, */
export const LIST_NUMBERS: ListNumbers = { metadata: 1, items: 2 };
/** but for one: version v1beta1 of the list of partial objects, which got its metadata late. */
export const LATE_METADATA_NUMBERS: ListNumbers = { metadata: 2, items: 1 };

/** The tag in front of a field's bytes. */
function fieldHead(number: number, length: number): Buffer {
  return written((writer) => {
    writer.integer(length);
    writer.tag(number, BYTES);
  });
}

/** One item as it stands in a list, in two pieces. */
export const listItem = ({ items }: ListNumbers, item: Buffer): readonly [head: Buffer, item: Buffer] => [
  fieldHead(items, item.length),
  item,
];

/**
 * A list in its envelope, in pieces: the items are not copied.
 *
 * @param items Made of what `listItem` gives, with the same numbers.
 */
export function encodeList(
  list: { readonly apiVersion: string; readonly kind: string; readonly metadata: JsonObject },
  items: readonly Buffer[],
  numbers: ListNumbers = LIST_NUMBERS,
): Buffer[] {
  const metadata = encodeProtobuf(META_TYPES.of('meta/v1.ListMeta'), list.metadata);
  const first = Buffer.concat([fieldHead(numbers.metadata, metadata.length), metadata]);
  const ordered = numbers.metadata < numbers.items ? [first, ...items] : [...items, first];
  const length = ordered.reduce((sum, piece) => sum + piece.length, 0);
  const [head, tail] = encodeEnvelopeAround(list.apiVersion, list.kind, length);
  return [head, ...ordered, tail];
}
