import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { qualifiedName } from '../../../machinery/meta/metadata.js';
import { flagAt, objectAt, shortened, textAt, textsAt, type Members } from '../../webhook-reviews/members.js';
import { ReviewError } from '../../webhook-reviews/review-error.js';
import { CallError, invalidAnswer, UNREACHABLE, type DenialStatus } from './errors.js';
import type { Review } from './review.js';

/** What a webhook says of a request. */
export interface Answer {
  readonly allowed: boolean;
  readonly denial: DenialStatus;
  /** A JSON patch as it came; undefined for none, and with a denial, which leaves nothing to patch. */
  readonly patch: Buffer | undefined;
  readonly warnings: readonly string[];
  /** Of its own, without its name. */
  readonly auditAnnotations: ReadonlyMap<string, string>;
}

/** Characters of what is shown to clients. */
const MAX_MESSAGE = 16 * 1024;
const MAX_ANNOTATIONS = 32;
const MAX_ANNOTATION = 4096;
const JSON_PATCH = 'JSONPatch';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads an answer (spec 2, 4.5). Reviews of the older version need not say what they are, nor repeat the uid.
 *
 * @param name Of the webhook; begins its audit annotations.
 * @throws {CallError} For anything but an answer to this review.
 */
export function readAnswer(
  body: unknown,
  review: Pick<Review, 'uid' | 'apiVersion'>,
  { name, mutates }: { readonly name: string; readonly mutates: boolean },
): Answer {
  try {
    if (!isJsonObject(body)) throw invalidAnswer('the answer is no object');
    const isOld = review.apiVersion.endsWith('/v1beta1');
    checkKind(body, review.apiVersion, isOld);
    const response = objectAt(body, 'response', 'response');
    if (response === undefined) throw invalidAnswer('webhook response was absent');
    checkUid(textAt(response, 'uid', 'response.uid'), review.uid, isOld);
    const allowed = flagAt(response, 'allowed', 'response.allowed');
    return {
      allowed,
      denial: denialOf(objectAt(response, 'status', 'response.status') ?? {}),
      patch: allowed ? patchOf(response, mutates, isOld) : undefined,
      warnings: textsAt(response, 'warnings', 'response.warnings'),
      auditAnnotations: annotationsOf(objectAt(response, 'auditAnnotations', 'response.auditAnnotations') ?? {}, name),
    };
  } catch (err) {
    throw err instanceof ReviewError ? new CallError(`failed to call webhook: ${err.message}`, UNREACHABLE) : err;
  }
}

function checkKind(body: Members, wanted: string, isOld: boolean): void {
  const [apiVersion, kind] = [textAt(body, 'apiVersion', 'apiVersion'), textAt(body, 'kind', 'kind')];
  if (apiVersion === wanted && kind === 'AdmissionReview') return;
  if (isOld && apiVersion === '' && kind === '') return;
  const got = `${apiVersion === '' ? '/' : shortened(apiVersion)}, Kind=${shortened(kind)}`;
  throw invalidAnswer(`expected webhook response of ${wanted}, Kind=AdmissionReview, got ${got}`);
}

function checkUid(uid: string, wanted: string, isOld: boolean): void {
  if (uid === wanted || (isOld && uid === '')) return;
  throw invalidAnswer(`expected response.uid=${JSON.stringify(wanted)}, got ${JSON.stringify(shortened(uid))}`);
}

/** Members that cannot be used are left out: the request is denied all the same. */
function denialOf(status: Members): DenialStatus {
  const [code, details] = [getOwn(status, 'code'), getOwn(status, 'details')];
  const text = (member: string): string => {
    const value = getOwn(status, member);
    return typeof value === 'string' ? shortened(value, MAX_MESSAGE) : '';
  };
  return {
    ...(Number.isInteger(code) ? { code: code as number } : {}),
    message: text('message'),
    reason: text('reason'),
    ...(isJsonObject(details) ? { details } : {}),
  };
}

/** @throws {CallError} */
function patchOf(response: Members, mutates: boolean, isOld: boolean): Buffer | undefined {
  const [patch, type] = [
    textAt(response, 'patch', 'response.patch'),
    textAt(response, 'patchType', 'response.patchType'),
  ];
  if (!mutates && patch !== '') throw invalidAnswer('validating webhook may not return response.patch');
  if (!mutates && type !== '') throw invalidAnswer('validating webhook may not return response.patchType');
  if (patch === '' && type === '') return undefined;
  if (patch === '') throw invalidAnswer('webhook returned response.patchType but not response.patch');
  if (type === '' && !isOld) throw invalidAnswer('webhook returned response.patch but not response.patchType');
  if (type !== '' && type !== JSON_PATCH)
    throw invalidAnswer(`unsupported response.patchType ${JSON.stringify(shortened(type))}`);
  if (!BASE64.test(patch)) throw new CallError('failed to call webhook: response.patch is not Base64', UNREACHABLE);
  return Buffer.from(patch, 'base64');
}

/** Those whose names are none are left out, as are those beyond the bound. */
function annotationsOf(annotations: Members, webhook: string): ReadonlyMap<string, string> {
  const taken = new Map<string, string>();
  for (const [key, value] of Object.entries(annotations)) {
    if (taken.size === MAX_ANNOTATIONS) break;
    if (typeof value !== 'string') throw new ReviewError('response.auditAnnotations of the answer is no map of texts');
    if (qualifiedName(`${webhook}/${key}`).length === 0) taken.set(key, shortened(value, MAX_ANNOTATION));
  }
  return taken;
}
