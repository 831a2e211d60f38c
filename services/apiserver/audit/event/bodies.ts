import { isJsonObject } from '../../../machinery/meta/own.js';

/** A body as it stands in an event: JSON on one line. */
export interface BodyText {
  readonly text: string;
  /** As it came, or as it goes into the event. */
  readonly bytes: number;
}

/** @param bytes JSON, as was checked before. Line breaks stand between its words only, never in strings. */
export function splicedBody(bytes: Buffer): BodyText {
  const text = bytes.toString('utf8');
  const broken = bytes.includes(LINE_FEED) || bytes.includes(CARRIAGE_RETURN);
  return { text: broken ? text.replace(/[\r\n]/g, ' ') : text, bytes: bytes.length };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A body in another form than JSON. */
export function encodedBody(value: unknown): BodyText | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : { text, bytes: Buffer.byteLength(text) };
}

/** Leaves out who owns which field: of an object, of each item of a list, of each row of a table. */
export function withoutManagedFields(body: BodyText): BodyText {
  if (!body.text.includes('"managedFields"')) return body;
  const value: unknown = JSON.parse(body.text);
  if (!isJsonObject(value)) return body;
  strip(value);
  for (const item of listOf(value['items'])) strip(item);
  for (const row of listOf(value['rows'])) if (isJsonObject(row)) strip(row['object']);
  return encodedBody(value) ?? body;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function strip(object: unknown): void {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  if (isJsonObject(metadata)) delete metadata['managedFields'];
}
