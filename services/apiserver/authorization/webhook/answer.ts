import { flagAt, shortened, textAt, type Members } from '../../webhook-reviews/members.js';
import { ReviewError } from '../../webhook-reviews/review-error.js';
import type { Decision } from '../types.js';

/**
 * Reads the status of a SubjectAccessReview (spec 2, 5.9). Whatever is not said is not allowed.
 *
 * @throws {ReviewError} For a status of another shape, and for one that both allows and denies.
 */
export function decisionOf(status: Members): Decision {
  const allowed = flagAt(status, 'allowed', 'status.allowed');
  const denied = flagAt(status, 'denied', 'status.denied');
  const reason = shortened(textAt(status, 'reason', 'status.reason'));
  const error = shortened(textAt(status, 'evaluationError', 'status.evaluationError'));
  if (allowed && denied) throw new ReviewError('the answer both allows and denies');
  if (allowed) return { decision: 'allow', reason };
  return { decision: denied ? 'deny' : 'noOpinion', reason, ...(error === '' ? {} : { error }) };
}
