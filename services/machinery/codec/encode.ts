import type { ApiObject, ObjectMeta } from '../meta/object.js';
import { getOwn, setOwn } from '../meta/own.js';

/*
 * The form of stored bytes: compact JSON that starts with
 *   {"kind":"ConfigMap","apiVersion":"v1","metadata":{
 * and whose metadata has no resourceVersion, for that is the store's revision of the write and not known before it.
 * An answer is those bytes with `"resourceVersion":"N",` put in behind the prefix; an item of a list is that without
 * what stands before `"metadata"`. Nothing between the store and a client parses them.
 */

/** Where `"metadata":{` is counted from the end of the prefix. */
const METADATA_BYTES = '"metadata":{'.length;

/** Members of metadata that are stored; `storedMeta` gives their order. */
const STORED_META: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] satisfies (keyof ObjectMeta)[]);
/** These belong to the answer, not to the object. */
const NEVER_STORED: ReadonlySet<string> = new Set(['resourceVersion', 'selfLink'] satisfies (keyof ObjectMeta)[]);

/** Every stored object of a kind starts with these bytes. Make it once for each resource. */
export function storagePrefix(kind: string, apiVersion: string): Buffer {
  return Buffer.from(prefixText(kind, apiVersion), 'utf8');
}

const prefixText = (kind: string, apiVersion: string): string =>
  `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`;

/**
 * Whether bytes from the store are in the form above, so that `splice` may be used. False for what another program
 * wrote: decode that and encode it again.
 */
export function hasStoragePrefix(stored: Buffer, prefix: Buffer): boolean {
  return (
    stored.length > prefix.length &&
    stored[prefix.length] === 0x22 && // a member follows: metadata is not empty
    stored.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
  );
}

/**
 * The bytes to store. Equal objects give equal bytes when their members come in equal order, which decoding sees to.
 *
 * @param obj Has a kind, an apiVersion and metadata with at least a name.
 */
export function encodeObject(obj: ApiObject): Buffer {
  // The head is written apart, for an object sorts members that look like numbers before all others.
  const head = prefixText(obj.kind, obj.apiVersion);
  const metadata = JSON.stringify(storedMeta(obj.metadata));
  return Buffer.from(wellFormed(head + metadata.slice(1) + tailText(obj)), 'utf8');
}

/** All members after metadata, as text up to the end. */
function tailText(obj: ApiObject): string {
  const rest = {};
  for (const key in obj) {
    if (key !== 'kind' && key !== 'apiVersion' && key !== 'metadata') setOwn(rest, key, obj[key]);
  }
  const text = JSON.stringify(rest);
  return text === '{}' ? '}' : `,${text.slice(1)}`;
}

/** One literal, so that all of them have one shape: that halves the time to write them. Undefined is not written. */
function storedMeta(meta: ObjectMeta): object {
  const out = {
    name: meta.name,
    generateName: unlessEmpty(meta.generateName),
    namespace: unlessEmpty(meta.namespace),
    uid: unlessEmpty(meta.uid),
    generation: unlessEmpty(meta.generation),
    creationTimestamp: unlessEmpty(meta.creationTimestamp),
    deletionTimestamp: unlessEmpty(meta.deletionTimestamp),
    deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds ?? undefined, // 0 means "now"
    labels: unlessEmpty(meta.labels),
    annotations: unlessEmpty(meta.annotations),
    ownerReferences: unlessEmpty(meta.ownerReferences),
    finalizers: unlessEmpty(meta.finalizers),
    managedFields: unlessEmpty(meta.managedFields),
  };
  for (const key in meta) {
    if (!STORED_META.has(key) && !NEVER_STORED.has(key)) setOwn(out, key, unlessEmpty(getOwn(meta, key)));
  }
  return out;
}

function unlessEmpty(value: unknown): unknown {
  if (value === null || value === '' || value === 0) return undefined;
  if (typeof value !== 'object') return value;
  for (const _ in value) return value;
  return undefined;
}

/**
 * Halves of surrogate pairs come out of `JSON.stringify` as escapes, which no decoder of UTF-8 strings can hold: each
 * becomes U+FFFD, as every client would read it. The first test is all that ordinary objects pay.
 */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) => (escape.startsWith('\\ud') ? '\ufffd' : escape));
}

/**
 * The bytes of an object as it is answered: the stored ones with the revision put in. They are cached for long, hence
 * allocated apart and not from the shared pool: measured, that costs half a microsecond more and saves two thirds of
 * the memory once objects have been replaced in random order (a pool block lives as long as any part of it).
 *
 * @param prefixLength Length of the kind's `storagePrefix`, with which `stored` starts.
 */
export function splice(stored: Buffer, prefixLength: number, revision: number): Buffer {
  const member = `"resourceVersion":"${revision}",`;
  const out = Buffer.allocUnsafeSlow(stored.length + member.length);
  // One bulk copy of everything, shifted; then the short head over its wrong start.
  out.set(stored, member.length);
  for (let i = 0; i < prefixLength; i++) out[i] = stored[i] ?? 0;
  out.write(member, prefixLength, 'latin1');
  return out;
}

/** Spliced bytes with another revision in them: a deletion is told with the last state at the deletion's revision. */
export function respliced(spliced: Buffer, prefixLength: number, oldRevision: number, newRevision: number): Buffer {
  const oldMember = `"resourceVersion":"${oldRevision}",`.length;
  const member = `"resourceVersion":"${newRevision}",`;
  const out = Buffer.allocUnsafeSlow(spliced.length - oldMember + member.length);
  spliced.copy(out, 0, 0, prefixLength);
  out.write(member, prefixLength, 'latin1');
  spliced.copy(out, prefixLength + member.length, prefixLength + oldMember);
  return out;
}

/**
 * Where an item of a list starts in its spliced bytes: at `"metadata"`. A list writer puts "{" and copies from here to
 * the end; the list's own kind and apiVersion say what the items are.
 */
export const itemStart = (prefixLength: number): number => prefixLength - METADATA_BYTES;
/** The same of an item that has kind and apiVersion: behind its "{". */
export const WHOLE_ITEM_START = 1;
