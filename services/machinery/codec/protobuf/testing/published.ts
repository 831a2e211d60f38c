import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader';
import type { FieldDeclaration, TypeDeclaration } from '../../../types/declarations.js';
import { formatDuration } from '../durations.js';

/** The files that others generate their clients from. */
export const PUBLISHED = fileURLToPath(new URL('../../../../../proto/resource-api/', import.meta.url));

export const publishedFiles = (): readonly string[] =>
  readdirSync(PUBLISHED, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto'))
    .sort();

type Types = ReadonlyMap<string, TypeDeclaration>;
type Members = Readonly<Record<string, unknown>>;

/** Reads messages with a general library and nothing but the published files; int64 as text, bytes as base64. */
export function publishedReader(): (message: string, bytes: Buffer) => Members {
  const loaded = loadSync([...publishedFiles()], {
    includeDirs: [PUBLISHED],
    keepCase: true,
    longs: String,
    bytes: String,
  });
  return (message, bytes) => {
    const found = loaded[message];
    if (found === undefined || !('deserialize' in found)) throw new Error(`No message ${message}`);
    return (found as MessageTypeDefinition<object, object>).deserialize(bytes) as Members;
  };
}

const PREFIX = 'io.platform.';

/** The published name of a declared type. */
export function messageName(typeKey: string): string {
  const dot = typeKey.lastIndexOf('.');
  const [group = '', version] = typeKey.slice(0, dot).split('/');
  const [short = ''] = group.split('.');
  return `${PREFIX}${[short, ...(version === undefined ? [] : [version]), typeKey.slice(dot + 1)].join('.')}`;
}

const record = (value: unknown): Members => value as Members;

function timeOf(value: unknown, digits: number): string | null {
  const { seconds, nanos = 0 } = value as { seconds?: string; nanos?: number };
  if (seconds === undefined) return null;
  const fraction = digits === 0 ? '' : `.${String(nanos / 1000).padStart(digits, '0')}`;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${fraction}Z`;
}

/** From what the library reads to what JSON says. */
const SCALARS: Readonly<Record<string, (value: unknown) => unknown>> = {
  int64: Number,
  time: (value) => timeOf(value, 0),
  microTime: (value) => timeOf(value, 6),
  duration: (value) => formatDuration(BigInt(record(value)['duration'] as string)),
  quantity: (value) => record(value)['string'],
  intOrString: (value) => {
    const { type, intVal, strVal } = record(value);
    return type === '1' ? strVal : intVal;
  },
  rawJSON: (value) => {
    const { raw } = record(value) as { raw?: string };
    return raw === undefined ? null : (JSON.parse(Buffer.from(raw, 'base64').toString()) as unknown);
  },
};

/** The JSON form of a message that the library has read. */
export function jsonFormOf(types: Types, typeKey: string, value: unknown): unknown {
  if (Object.hasOwn(SCALARS, typeKey)) return SCALARS[typeKey]?.(value);
  const type = types.get(typeKey);
  if (type === undefined) return value; // a scalar that is the same in both
  if (type.scalar !== undefined) return jsonFormOf(types, type.scalar, value);
  const { listOf, jsonForm } = type;
  if (listOf !== undefined)
    return ((record(value)['items'] ?? []) as unknown[]).map((v) => jsonFormOf(types, listOf, v));
  const members = membersOf(types, type, record(value));
  return jsonForm === undefined ? members : unionOf(type, members);
}

function membersOf(types: Types, { fields = [] }: TypeDeclaration, value: Members): Members {
  const members: Record<string, unknown> = {};
  for (const field of fields) {
    const found = field.proto === undefined ? undefined : value[field.protoName ?? field.name];
    if (found === undefined || found === null) continue;
    const json = fieldForm(types, field, found);
    if (field.inline === true) Object.assign(members, json);
    else members[field.name] = json;
  }
  return members;
}

function fieldForm(types: Types, { type, list, map }: FieldDeclaration, value: unknown): unknown {
  const one = (v: unknown): unknown => jsonFormOf(types, type, v);
  if (list === true) return (value as unknown[]).map(one);
  if (map === true) return Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, one(v)]));
  return one(value);
}

/** The JSON of these is that of one member: a list that has something, else an object, else a boolean. */
function unionOf({ fields = [] }: TypeDeclaration, members: Members): unknown {
  const given = fields.map(({ name, type, list }) => ({ value: members[name], isFlag: type === 'bool', list }));
  const list = given.find((it) => it.list === true && (it.value as unknown[] | undefined)?.length);
  const object = given.find((it) => it.list !== true && !it.isFlag && it.value !== undefined);
  return (list ?? object ?? given.find((it) => it.isFlag))?.value ?? null;
}
