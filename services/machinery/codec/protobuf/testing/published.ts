import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader';
import type { Field, Type } from '../../../types/graph.js';
import { formatDuration } from '../durations.js';

/** The files that others generate their clients from. */
export const PUBLISHED = fileURLToPath(new URL('../../../../../proto/resource-api/', import.meta.url));

export const publishedFiles = (): readonly string[] =>
  readdirSync(PUBLISHED, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto'))
    .sort();

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
export function jsonFormOf(type: Type, value: unknown): unknown {
  if (type.scalar !== undefined) return Object.hasOwn(SCALARS, type.scalar) ? SCALARS[type.scalar]?.(value) : value;
  if (type.form === 'list') return ((record(value)['items'] ?? []) as unknown[]).map((v) => jsonFormOf(type.items, v));
  const members = membersOf(type, record(value));
  return type.form === 'choice' ? unionOf(type, members) : members;
}

function membersOf({ declared }: Type, value: Members): Members {
  const members: Record<string, unknown> = {};
  for (const field of declared) {
    const { proto, protoName = field.name, inline } = field.declaration;
    const found = proto === undefined ? undefined : value[protoName];
    if (found === undefined || found === null) continue;
    const json = fieldForm(field, found);
    if (inline === true) Object.assign(members, json);
    else members[field.name] = json;
  }
  return members;
}

function fieldForm({ type, holds }: Field, value: unknown): unknown {
  if (holds === 'list') return (value as unknown[]).map((v) => jsonFormOf(type, v));
  if (holds === 'one') return jsonFormOf(type, value);
  return Object.fromEntries(Object.entries(value as object).map(([key, v]) => [key, jsonFormOf(type, v)]));
}

/** The JSON of these is that of one member: a list that has something, else an object, else a boolean. */
function unionOf({ declared }: Type, members: Members): unknown {
  const given = declared.map(({ name, type, holds }) => ({
    value: members[name],
    isFlag: type.scalar === 'bool',
    holds,
  }));
  const list = given.find((it) => it.holds === 'list' && (it.value as unknown[] | undefined)?.length);
  const object = given.find((it) => it.holds !== 'list' && !it.isFlag && it.value !== undefined);
  return (list ?? object ?? given.find((it) => it.isFlag))?.value ?? null;
}
