import type { StatusBody } from '../../../machinery/meta/status.js';

/** An answer as events show it: without kind and version, and of its metadata nothing. */
export function statusJson(code: number, said?: Partial<StatusBody>): string {
  if (said === undefined) return `{"metadata":{},"code":${code}}`; // most answers say nothing of themselves
  const { status, message, reason, details } = said;
  return JSON.stringify({ metadata: {}, status, message, reason, details, code });
}

/** How JSON begins that is a Status; only that is parsed. */
const BEGINNING = Buffer.from('{"kind":"Status","apiVersion":"v1",');
/** A Status that the server gives is short. */
const MOST_BYTES = 16 * 1024;

/** Reads a JSON answer that is a Status. */
export function statusIn(body: Buffer): Partial<StatusBody> | undefined {
  if (body.length > MOST_BYTES || !body.subarray(0, BEGINNING.length).equals(BEGINNING)) return undefined;
  return JSON.parse(body.toString('utf8')) as Partial<StatusBody>; // written by this server
}
