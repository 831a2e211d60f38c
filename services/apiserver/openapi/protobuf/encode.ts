import { BYTES, FIXED64, VARINT } from '../../../machinery/codec/protobuf/wire.js';
import { WireWriter } from '../../../machinery/codec/protobuf/wire-writer.js';
import type { Work } from '../../../machinery/work/work.js';
import {
  DOCUMENT,
  MESSAGES,
  type Field,
  type MembersMessage,
  type Message,
  type MessageName,
  type Scalar,
} from './messages.js';

/**
 * The Protobuf form of an OpenAPI document of version 2, which older clients insist on. A path or a model is a part of
 * the work.
 *
 * Members that have no place in that form (`oneOf`, `nullable` and the like of a schema) are left out, as is a member
 * of another kind than its place: a document that lacks a detail is of more use to clients than none.
 *
 * @param document As it would be written in JSON.
 */
export function* encodeDocument(document: object): Work<Buffer> {
  const writer = new WireWriter(); // not the one that all share: others write between two parts
  for (const [name, member] of membersOf(document).reverse()) {
    const field = DOCUMENT.fields.get(name);
    const inner = field === undefined || isScalar(field.kind) ? undefined : MESSAGES[field.kind];
    if (field === undefined || field.many || inner?.form !== 'map') {
      writeMember(writer, DOCUMENT, name, member);
      continue;
    }
    const end = writer.mark();
    for (const [entry, value] of membersOf(member).reverse()) {
      writeMember(writer, inner, entry, value);
      yield;
    }
    writer.length(end);
    writer.tag(field.number, BYTES);
  }
  return writer.finish();
}

/** Of entries and of arbitrary values. */
const [NAME, VALUE, YAML] = [1, 2, 2];

/*
 * The writer runs from the end to the beginning: a value before its length and its tag, the last member first.
 */

function writeMessage(writer: WireWriter, message: Message, value: unknown): void {
  switch (message.form) {
    case 'list':
      writeField(writer, message.item, Array.isArray(value) ? value : [value]);
      return;
    case 'choice': {
      const field = message.choose(value);
      if (field !== undefined) writeField(writer, field, value);
      return;
    }
    case 'record':
    case 'map':
      for (const [name, member] of membersOf(value).reverse()) writeMember(writer, message, name, member);
  }
}

function writeMember(writer: WireWriter, message: MembersMessage, name: string, member: unknown): void {
  if (member === undefined) return; // as JSON leaves it out
  if (message.extensions !== undefined && name.startsWith('x-')) {
    writeEntry(writer, { number: message.extensions, kind: 'yaml', many: true }, name, member);
  } else if (message.form === 'map') {
    writeEntry(writer, message.entry, name, member);
  } else {
    const field = message.fields.get(name);
    if (field !== undefined) writeField(writer, field, member);
  }
}

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

function writeEntry(writer: WireWriter, { number, kind }: Field, name: string, value: unknown): void {
  const end = writer.mark();
  writeField(writer, { number: VALUE, kind, many: false }, value);
  writer.textField(NAME, name);
  writer.length(end);
  writer.tag(number, BYTES);
}

function writeField(writer: WireWriter, field: Field, value: unknown): void {
  if (!field.many) writeOne(writer, field, value);
  else if (Array.isArray(value)) for (const item of value.toReversed()) writeOne(writer, field, item);
}

function writeOne(writer: WireWriter, { number, kind }: Field, value: unknown): void {
  if (isScalar(kind)) {
    SCALARS[kind](writer, number, value);
    return;
  }
  const end = writer.mark();
  writeMessage(writer, MESSAGES[kind], value);
  writer.length(end);
  writer.tag(number, BYTES);
}

const SCALARS: Readonly<Record<Scalar, (writer: WireWriter, number: number, value: unknown) => void>> = {
  text: (writer, number, value) => {
    if (typeof value === 'string') writer.textField(number, value);
  },
  flag: (writer, number, value) => {
    if (typeof value !== 'boolean') return;
    writer.bool(value);
    writer.tag(number, VARINT);
  },
  integer: (writer, number, value) => {
    if (Number.isSafeInteger(value)) writer.integerField(number, Number(value));
  },
  double: (writer, number, value) => {
    if (typeof value !== 'number') return;
    writer.double(value);
    writer.tag(number, FIXED64);
  },
  yaml: (writer, number, value) => {
    const end = writer.mark();
    writer.textField(YAML, yamlOf(value));
    writer.length(end);
    writer.tag(number, BYTES);
  },
};

const isScalar = (kind: Scalar | MessageName): kind is Scalar => Object.hasOwn(SCALARS, kind);

/** JSON is YAML, but for characters that YAML wants escaped. */
const yamlOf = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
