import { isJsonObject, setOwn } from '../../meta/own.js';
import type { FieldDeclaration } from '../../types/declarations.js';
import type { Value } from './value.js';
import { unfit } from './value.js';
import type { WireReader } from './wire.js';
import { BYTES } from './wire.js';
import type { WireWriter } from './wire-writer.js';

type Members = Record<string, unknown>;

/** One field of a message: where its value is found in the JSON object, and how it is read and written. */
export interface Field {
  readonly number: number;
  /** Reads one occurrence of the field into the object. */
  readonly read: (reader: WireReader, into: Members) => void;
  /** Writes all of it, with its tag. */
  readonly write: (writer: WireWriter, from: Members) => void;
}

/** Inlined messages: their members are those of the object that they stand in. */
export interface Inlined {
  readonly readInto: (reader: WireReader, into: Members) => void;
  readonly write: (writer: WireWriter, from: unknown) => void;
}

/** @param value Asked for at the first use: types may contain themselves. */
export function fieldOf(declaration: FieldDeclaration, number: number, value: () => Value): Field {
  if (declaration.list === true) return listField(declaration.name, number, value);
  if (declaration.map === true) return mapField(declaration.name, number, value);
  return singleField(declaration, number, value);
}

function singleField({ name, nullable, alwaysEmit }: FieldDeclaration, number: number, get: () => Value): Field {
  const isPointer = nullable === true;
  const showsZero = isPointer || alwaysEmit === true;
  let cached: Value | undefined;
  return {
    number,
    read(reader, into) {
      const value = (cached ??= get());
      const member = value.read(reader, into[name]);
      // The last one counts, also when it takes back what was said before.
      if (showsZero || !value.isZero(member)) into[name] = member;
      else if (into[name] !== undefined) Reflect.deleteProperty(into, name);
    },
    write(writer, from) {
      const value = (cached ??= get());
      let member = from[name];
      if (member === undefined || member === null) {
        if (isPointer || value.leftOut) return;
        member = value.zero();
      }
      value.write(writer, member);
      writer.tag(number, value.wireType);
    },
  };
}

function listField(name: string, number: number, get: () => Value): Field {
  let cached: Value | undefined;
  return {
    number,
    read(reader, into) {
      const value = (cached ??= get());
      const list = (into[name] ??= []) as unknown[]; // made here: no other code writes this member
      if (value.wireType === BYTES) list.push(value.read(reader));
      else reader.unpack(value.wireType, () => list.push(value.read(reader)));
    },
    write(writer, from) {
      const list = from[name];
      if (list === undefined || list === null) return;
      if (!Array.isArray(list)) throw unfit(list, 'a list');
      const value = (cached ??= get());
      for (let i = list.length - 1; i >= 0; i--) {
        const item: unknown = list[i];
        value.write(writer, item === null ? value.zero() : item);
        writer.tag(number, value.wireType);
      }
    },
  };
}

/** The numbers of a map's entry, itself a message. */
const KEY = 1;
const VALUE = 2;

function mapField(name: string, number: number, get: () => Value): Field {
  let cached: Value | undefined;
  return {
    number,
    read(reader, into) {
      const value = (cached ??= get());
      const map = (into[name] ??= {}); // made here: no other code writes this member
      let key = '';
      let member: unknown;
      const outer = reader.enter();
      while (reader.next()) {
        if (reader.field === KEY) key = reader.text();
        else if (reader.field === VALUE) member = value.read(reader, member);
        else reader.skip();
      }
      reader.leave(outer);
      setOwn(map, key, member === undefined ? value.zero() : member);
    },
    write(writer, from) {
      const map = from[name];
      if (map === undefined || map === null) return;
      if (!isJsonObject(map)) throw unfit(map, 'a map');
      const value = (cached ??= get());
      for (const key of Object.keys(map).sort().reverse()) {
        const mark = writer.mark();
        writeEntry(writer, value, key, map[key]);
        writer.length(mark);
        writer.tag(number, BYTES);
      }
    },
  };
}

function writeEntry(writer: WireWriter, value: Value, key: string, member: unknown): void {
  const isGiven = member !== null && member !== undefined;
  if (isGiven || !value.leftOut) {
    value.write(writer, isGiven ? member : value.zero());
    writer.tag(VALUE, value.wireType);
  }
  writer.textField(KEY, key);
}

/** A message of its own on the wire, always written, whose members are merged into the object around it. */
export function inlineField(number: number, get: () => Inlined): Field {
  let cached: Inlined | undefined;
  return {
    number,
    read(reader, into) {
      (cached ??= get()).readInto(reader, into);
    },
    write(writer, from) {
      (cached ??= get()).write(writer, from);
      writer.tag(number, BYTES);
    },
  };
}
