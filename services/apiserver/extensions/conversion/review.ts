import { randomUUID } from 'node:crypto';
import type { Convertible } from '../../registry/conversion/converter.js';

/** Versions of reviews that this server knows. */
const REVIEW_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

/** The first one of these that this server knows. */
export const reviewVersion = (accepted: readonly string[]): string | undefined =>
  accepted.find((version) => REVIEW_VERSIONS.has(version));

/** What a webhook is asked, and by what its answer is known. */
export interface ConversionReview {
  readonly uid: string;
  /** Of the review, e.g. `apiextensions.<domain>/v1`. */
  readonly apiVersion: string;
  /** What objects are to be converted to. */
  readonly to: string;
  readonly body: Buffer;
}

const COMMA = Buffer.from(',');

/** @param apiVersion Of the review. Objects are sent as they are stored: nothing is parsed for it. */
export function writeReview(objects: readonly Convertible[], to: string, apiVersion: string): ConversionReview {
  const uid = randomUUID();
  const head = JSON.stringify({ kind: 'ConversionReview', apiVersion });
  const about = JSON.stringify({ uid, desiredAPIVersion: to });
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"request":${about.slice(0, -1)},"objects":[`)];
  for (const [i, { bytes }] of objects.entries()) parts.push(...(i === 0 ? [bytes] : [COMMA, bytes]));
  parts.push(Buffer.from(']}}'));
  return { uid, apiVersion, to, body: Buffer.concat(parts) };
}
