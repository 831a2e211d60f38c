import { setOwn } from '../../../machinery/meta/own.js';
import type { UserInfo } from '../../request/request.js';
import { flagAt, objectAt, shortened, textAt, textsAt, type Members } from '../../webhook-reviews/members.js';
import { ReviewError } from '../../webhook-reviews/review-error.js';

/** The answer of a service about a token. */
export type TokenAnswer =
  | { readonly kind: 'known'; readonly user: UserInfo; readonly audiences: readonly string[]; readonly weight: number }
  | { readonly kind: 'unknown' }
  /** It could not find out. */
  | { readonly kind: 'error'; readonly message: string };

/** Largest user, in characters: some thousand groups. */
const MAX_USER_WEIGHT = 128 * 1024;
const VALUE_WEIGHT = 32;

const UNKNOWN: TokenAnswer = { kind: 'unknown' };

/**
 * Reads the status of a TokenReview. One with an error authenticates no user, whatever else it says.
 *
 * @param token Does not get into errors, whatever the service writes there.
 * @throws {ReviewError} For a status of another shape.
 */
export function tokenAnswer(status: Members, token: string): TokenAnswer {
  const authenticated = flagAt(status, 'authenticated', 'status.authenticated');
  const error = textAt(status, 'error', 'status.error');
  const audiences = textsAt(status, 'audiences', 'status.audiences');
  const user = objectAt(status, 'user', 'status.user');
  if (error !== '') return { kind: 'error', message: shortened(error.replaceAll(token, '[token]')) };
  if (!authenticated) return UNKNOWN;
  if (user === undefined) throw new ReviewError('status.user of the answer is missing');
  return { kind: 'known', audiences, ...userOf(user) };
}

function userOf(members: Members): { readonly user: UserInfo; readonly weight: number } {
  const name = textAt(members, 'username', 'status.user.username');
  if (name === '') throw new ReviewError('status.user.username of the answer is empty');
  const uid = textAt(members, 'uid', 'status.user.uid');
  const groups = textsAt(members, 'groups', 'status.user.groups');
  const extra = extraOf(members);
  const weight = [name, uid, ...groups, ...Object.entries(extra).flatMap(([key, values]) => [key, ...values])].reduce(
    (sum, value) => sum + value.length + VALUE_WEIGHT,
    0,
  );
  if (weight > MAX_USER_WEIGHT) throw new ReviewError('status.user of the answer is too large');
  return { user: { name, uid, groups, extra }, weight };
}

/** Keys are the service's own: any word, in any case. */
function extraOf(members: Members): Readonly<Record<string, readonly string[]>> {
  const given = objectAt(members, 'extra', 'status.user.extra') ?? {};
  const extra: Record<string, readonly string[]> = {};
  for (const key of Object.keys(given)) setOwn(extra, key, textsAt(given, key, 'status.user.extra'));
  return extra;
}
