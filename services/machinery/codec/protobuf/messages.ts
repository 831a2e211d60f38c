import { isJsonObject } from '../../meta/own.js';
import type { FieldDeclaration, TypeDeclaration } from '../../types/declarations.js';
import type { Field, Inlined } from './fields.js';
import { fieldOf, inlineField } from './fields.js';
import { SCALARS } from './scalars.js';
import { unionOf } from './unions.js';
import type { Value } from './value.js';
import { unfit } from './value.js';
import type { WireReader } from './wire.js';
import { BYTES } from './wire.js';
import type { WireWriter } from './wire-writer.js';

type Types = ReadonlyMap<string, TypeDeclaration>;

/** A declared structure. */
export interface Message extends Value, Inlined {
  /** Reads members up to the end of the message at hand. */
  readonly readMembers: (reader: WireReader, into: Record<string, unknown>) => void;
  /** Writes them without a length around. */
  readonly writeMembers: (writer: WireWriter, from: Record<string, unknown>) => void;
}

/** The messages of one set of types. Each is compiled when a value of its type is first met. */
class Messages {
  readonly #types: Types;
  readonly #messages = new Map<string, Message>();
  readonly #values = new Map<string, Value>();

  constructor(types: Types) {
    this.#types = types;
  }

  message(key: string): Message {
    let message = this.#messages.get(key);
    if (message === undefined) {
      message = messageOf(() => this.#fields(key));
      this.#messages.set(key, message);
    }
    return message;
  }

  #value(type: string): Value {
    const known = SCALARS.get(type) ?? this.#values.get(type);
    if (known !== undefined) return known;
    const value = this.#make(type);
    this.#values.set(type, value);
    return value;
  }

  #make(key: string): Value {
    const declaration = this.#declaration(key);
    const { scalar, listOf, jsonForm } = declaration;
    if (scalar !== undefined) return this.#value(scalar);
    if (listOf !== undefined) return namedList(this.#value(listOf));
    return jsonForm === undefined ? this.message(key) : unionOf(declaration, this.message(key));
  }

  #declaration(key: string): TypeDeclaration {
    const declaration = this.#types.get(key);
    if (declaration === undefined) throw new Error(`No declaration of type ${key}`);
    return declaration;
  }

  #fields(key: string): readonly Field[] {
    return (this.#declaration(key).fields ?? [])
      .filter((field) => field.jsonHidden !== true && !isEnvelopes(field))
      .map((field) => this.#field(key, field))
      .sort((a, b) => a.number - b.number);
  }

  #field(owner: string, field: FieldDeclaration): Field {
    if (field.proto === undefined) throw new Error(`${owner}.${field.name} has no form on the wire`);
    if (field.inline === true) return inlineField(field.proto, () => this.message(field.type));
    return fieldOf(field, field.proto, () => this.#value(field.type));
  }
}

/** apiVersion and kind: they travel in the envelope. */
const isEnvelopes = (field: FieldDeclaration): boolean => field.inline === true && field.proto === undefined;

/** @param fields Asked for at the first use: types may contain themselves. */
function messageOf(fields: () => readonly Field[]): Message {
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
  const message = messageOf(() => [items]);
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

const compiled = new WeakMap<Types, Messages>();

/**
 * The message of a declared structure, kept for as long as the map of types is.
 *
 * @throws {Error} when there is no such type; at its first use when it has no form on the wire.
 */
export function messageFor(types: Types, typeKey: string): Message {
  let messages = compiled.get(types);
  if (messages === undefined) {
    messages = new Messages(types);
    compiled.set(types, messages);
  }
  return messages.message(typeKey);
}
