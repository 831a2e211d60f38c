import { badRequest } from '../../../machinery/meta/status.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { formatTime } from '../../../machinery/meta/time.js';
import { authenticated } from '../../authentication/stage.js';
import { TokenRefused, type TokenReviewer } from '../../authentication/token-reviewer.js';
import type { Asker } from '../../http/turns.js';
import type { OperationDeps } from '../operation.js';
import type { OperationVerbs } from '../../verbs/dispatch.js';
import { review, shownUser } from './review.js';

interface TokenSpec {
  readonly token?: string;
  readonly audiences?: readonly string[] | null;
}

/** Token reviews: answered by the authenticators that answer for a request with the token. */
export const tokenReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: () => [],
    answer: (object, { state }) => {
      const { token = '', audiences } = (object['spec'] ?? {}) as TokenSpec; // decoded by its declaration
      if (token === '') throw badRequest('token is required for TokenReview in authentication');
      return answerFor(d.tokenReviewer, token, audiences ?? [], state);
    },
  });

async function answerFor(
  reviewer: TokenReviewer,
  token: string,
  audiences: readonly string[],
  asker: Asker,
): Promise<object> {
  try {
    const wanted = audiences.length === 0 ? reviewer.audiences : audiences;
    const identity = await reviewer.authenticate(token, wanted, asker);
    const meant = identity.audiences ?? wanted;
    return {
      authenticated: true,
      user: shownUser(authenticated(identity.user)),
      ...(meant.length === 0 ? {} : { audiences: meant }),
    };
  } catch (err) {
    if (!(err instanceof TokenRefused)) throw err;
    const { cause } = err;
    return {
      user: {},
      error: cause instanceof Error ? `invalid bearer token, ${cause.message}` : 'invalid bearer token',
    };
  }
}

/** Reviews of the asker's own identity. */
export const selfSubjectReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: () => [],
    answer: (object: ApiObject, ctx) => {
      object.metadata.creationTimestamp = formatTime(Date.now());
      return { userInfo: shownUser(ctx.state.user) };
    },
  });
