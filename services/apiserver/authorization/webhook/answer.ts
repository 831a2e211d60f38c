import { flagAt, shortened, textAt, type Members } from '../../webhook-reviews/members.js';
import type { Decision } from '../authorizer.js';

/**
 * Reads the status of a SubjectAccessReview (spec 2, 5.9). Whatever is not said is not allowed, and
 * a denial counts even when it is allowed as well: no other authorizer is asked then.
 *
 * @throws {ReviewError} For a status of another shape.
 */
export function decisionOf(status: Members): Decision {
  const allowed = flagAt(status, 'allowed', 'status.allowed');
  const denied = flagAt(status, 'denied', 'status.denied');
  const reason = shortened(textAt(status, 'reason', 'status.reason'));
  const error = shortened(textAt(status, 'evaluationError', 'status.evaluationError'));
  if (allowed && denied) return { decision: 'deny', reason, error: 'The answer both allows and denies' };
  if (allowed) return { decision: 'allow', reason };
  return { decision: denied ? 'deny' : 'noOpinion', reason, ...(error === '' ? {} : { error }) };
}
