import type { ApiObject, ObjectMeta } from '../../../machinery/meta/object.js';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import type { Convertible } from '../../registry/conversion/converter.js';
import { objectAt, shortened, textAt, type Members } from '../../webhook-reviews/members.js';
import { ReviewError } from '../../webhook-reviews/review-error.js';
import { restoredMetadata, typeOf } from './converted-metadata.js';
import { ConversionError, invalidObject, malformed } from './failures.js';
import type { ConversionReview } from './review.js';

type Asked = Pick<ConversionReview, 'uid' | 'apiVersion' | 'to'>;

/**
 * Reads an answer. Reviews of the older version need not say what they are, nor repeat the uid.
 *
 * @returns The converted objects, in the order of those that were sent, with the metadata of these.
 * @throws {ConversionError} For anything but an answer to this review.
 */
export function readConverted(body: unknown, asked: Asked, sent: readonly Convertible[]): readonly ApiObject[] {
  const objects = convertedIn(body, asked);
  if (objects.length !== sent.length) {
    const why = `returned ${objects.length} objects, expected ${sent.length}`;
    throw new ConversionError('conversion_webhook_partial_response_failure', why);
  }
  return sent.map((original, i) => checked(objects[i], original, { to: asked.to, i, isOnly: sent.length === 1 }));
}

/** @throws {ConversionError} */
function convertedIn(body: unknown, { uid, apiVersion }: Asked): readonly unknown[] {
  try {
    if (!isJsonObject(body)) throw malformed('the answer is no object');
    const isOld = apiVersion.endsWith('/v1beta1');
    if (!isOld) checkKind(body, apiVersion);
    const response = objectAt(body, 'response', 'response');
    if (response === undefined) throw malformed('no response provided');
    const answered = textAt(response, 'uid', 'response.uid');
    if (!isOld && answered !== uid) {
      throw malformed(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(shortened(answered))}`);
    }
    checkResult(objectAt(response, 'result', 'response.result') ?? {});
    const objects = getOwn(response, 'convertedObjects') ?? [];
    if (!Array.isArray(objects)) throw malformed('response.convertedObjects of the answer is no list');
    return objects;
  } catch (err) {
    throw err instanceof ReviewError ? malformed(err.message) : err;
  }
}

function checkKind(body: Members, wanted: string): void {
  const [apiVersion, kind] = [textAt(body, 'apiVersion', 'apiVersion'), textAt(body, 'kind', 'kind')];
  if (apiVersion === wanted && kind === 'ConversionReview') return;
  const got = `${apiVersion === '' ? '/' : shortened(apiVersion)}, Kind=${shortened(kind)}`;
  throw malformed(`expected webhook response of ${wanted}, Kind=ConversionReview, got ${got}`);
}

/** Longest text of a webhook that clients are shown. */
const MAX_MESSAGE = 16 * 1024;

function checkResult(result: Members): void {
  const status = textAt(result, 'status', 'response.result.status');
  if (status === 'Success') return;
  const message = textAt(result, 'message', 'response.result.message');
  if (message !== '') throw malformed(shortened(message, MAX_MESSAGE));
  throw malformed(`response.result.status was '${shortened(status)}', not 'Success'`);
}

interface Place {
  readonly to: string;
  readonly i: number;
  /** One object alone is spoken of with other words than one of many. */
  readonly isOnly: boolean;
}

/** @throws {ConversionError} */
function checked(converted: unknown, original: Convertible, { to, i, isOnly }: Place): ApiObject {
  const at = `converted object at index ${i}: `;
  const refused = (why: string): ConversionError => invalidObject(`${at}${why}`);
  if (!isJsonObject(converted)) throw refused(`it is of type ${typeOf(converted)}`);
  const { apiVersion, kind } = converted;
  const first = isOnly ? 'object at index 0: ' : at;
  if (apiVersion !== to) throw invalidObject(`${first}invalid groupVersion (expected ${to}, received ${said(apiVersion)})`); // prettier-ignore
  if (kind !== original.kind) throw invalidObject(`${first}invalid kind (expected ${original.kind}, received ${said(kind)})`); // prettier-ignore
  const metadata = original.metadata();
  const why = changedIdentity(metadata, converted);
  if (why !== undefined) throw invalidObject(`${isOnly ? 'object: ' : at}${why}`);
  return { ...converted, apiVersion: to, kind: original.kind, metadata: restored(metadata, converted, { i, isOnly }) };
}

const said = (value: unknown): string => (typeof value === 'string' ? shortened(value) : '');

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

function changedIdentity(original: ObjectMeta, { ['metadata']: given }: Members): string | undefined {
  const metadata = isJsonObject(given) ? given : {};
  for (const [member, shown] of IDENTITY) {
    const [wanted, got] = [original[member] ?? '', said(getOwn(metadata, member))];
    if (wanted !== got) return `must have the same ${shown}: ${wanted} != ${got}`;
  }
  return undefined;
}

function restored(metadata: ObjectMeta, converted: Members, { i, isOnly }: Omit<Place, 'to'>): ObjectMeta {
  try {
    return restoredMetadata(metadata, converted);
  } catch (err) {
    throw invalidObject(`metadata${isOnly ? '' : ` in object at index ${i}`}: ${(err as Error).message}`);
  }
}
