import { isJsonObject } from '../../meta/own.js';
import { facet, type Field as DeclaredField, type Type } from '../../types/graph.js';
import type { Field, Inlined } from './fields.js';
import { fieldOf, inlineField } from './fields.js';
import { SCALARS } from './scalars.js';
import { unionOf } from './unions.js';
import type { Value } from './value.js';
import { unfit } from './value.js';
import type { WireReader } from './wire.js';
import { BYTES } from './wire.js';
import type { WireWriter } from './wire-writer.js';

/** A declared structure. */
export interface Message extends Value, Inlined {
  /** Reads members up to the end of the message at hand. */
  readonly readMembers: (reader: WireReader, into: Record<string, unknown>) => void;
  /** Writes them without a length around. */
  readonly writeMembers: (writer: WireWriter, from: Record<string, unknown>) => void;
}

/** The message of a declared structure. @throws {Error} at its first use when it has no form on the wire. */
export const messageOf = facet((type): Message => messageWith(() => wireFields(type)));

const valueOf = facet((type): Value => {
  if (type.scalar !== undefined) return SCALARS[type.scalar];
  if (type.form === 'list') return namedList(valueOf(type.items));
  return type.form === 'choice' ? unionOf(type, messageOf(type)) : messageOf(type);
});

const wireFields = ({ declared }: Type): readonly Field[] =>
  declared
    .filter((field) => !isEnvelopes(field))
    .map(wireField)
    .sort((a, b) => a.number - b.number);

function wireField(field: DeclaredField): Field {
  const { name, owner, declaration } = field;
  const { proto, inline } = declaration;
  if (proto === undefined) throw new Error(`${owner.key}.${name} has no form on the wire`);
  if (inline === true) return inlineField(proto, () => messageOf(field.type));
  return fieldOf(declaration, proto, () => valueOf(field.type));
}

/** apiVersion and kind: they travel in the envelope. */
export const isEnvelopes = ({ declaration: { inline, proto } }: DeclaredField): boolean =>
  inline === true && proto === undefined;

/** @param fields Asked for at the first use: types may contain themselves. */
function messageWith(fields: () => readonly Field[]): Message {
  let ordered: readonly Field[] | undefined;
  let byNumber: readonly (Field | undefined)[] | undefined;

  const readMembers: Message['readMembers'] = (reader, into) => {
    const known = (byNumber ??= tableOf((ordered ??= fields())));
    while (reader.next()) {
      const field = known[reader.field];
      if (field === undefined) reader.skip();
      else field.read(reader, into);
    }
  };
  const readInto: Message['readInto'] = (reader, into) => {
    const outer = reader.enter();
    readMembers(reader, into);
    reader.leave(outer);
  };
  const writeMembers: Message['writeMembers'] = (writer, from) => {
    const all = (ordered ??= fields());
    for (let i = all.length - 1; i >= 0; i--) all[i]?.write(writer, from);
  };
  return {
    wireType: BYTES,
    readMembers,
    readInto,
    read(reader, previous) {
      const into = isJsonObject(previous) ? previous : {};
      readInto(reader, into);
      return into;
    },
    writeMembers,
    write(writer, value) {
      if (!isJsonObject(value)) throw unfit(value, 'a message');
      const mark = writer.mark();
      writeMembers(writer, value);
      writer.length(mark);
    },
    isZero: isEmpty,
    zero: () => ({}),
    leftOut: false,
  };
}

/** Field numbers are small: the highest of all types is 44. */
function tableOf(fields: readonly Field[]): readonly (Field | undefined)[] {
  const table = new Array<Field | undefined>((fields.at(-1)?.number ?? 0) + 1).fill(undefined);
  for (const field of fields) table[field.number] = field;
  return table;
}

const isEmpty = (value: unknown): boolean => {
  for (const _ in value as object) return false;
  return true;
};

/** A list with a name of its own: a message of one repeated field. */
function namedList(element: Value): Value {
  const items = fieldOf({ name: 'items', type: '', list: true }, 1, () => element);
  const message = messageWith(() => [items]);
  return {
    wireType: BYTES,
    read: (reader) => (message.read(reader) as { items?: unknown[] }).items ?? [],
    write: (writer, value) => {
      message.write(writer, { items: value });
    },
    isZero: (value) => Array.isArray(value) && value.length === 0,
    zero: () => [],
    leftOut: true,
  };
}
