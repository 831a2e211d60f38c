import type { Asker } from '../../http/turns.js';
import type { WebhookMetrics } from '../../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../../options/flags.js';
import type { UserInfo } from '../../request/request.js';
import { answerCache, keep, type AnswerCache } from '../../webhook-reviews/answer-cache.js';
import { openReviewService, type OpenReviewService } from '../../webhook-reviews/open-review-service.js';
import type { ReviewService } from '../../webhook-reviews/review-service.js';
import { SharedQuestions } from '../../webhook-reviews/shared-questions.js';
import type { Attributes, Authorizer, Decision } from '../authorizer.js';
import { decisionOf } from './answer.js';
import { keyOf, lengthOf, specOf, type GroupsMember } from './question.js';

export interface WebhookAuthorizerDeps {
  readonly service: Pick<ReviewService, 'ask'>;
  readonly groups: GroupsMember;
  /** How long it is remembered that something is allowed; 0: not at all. */
  readonly authorizedTtlMs: number;
  /** How long it is remembered that it is not; 0: not at all. */
  readonly unauthorizedTtlMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
}

/** @throws {Error} In one line, for a file that cannot be used. */
export function openWebhookAuthorizer(
  o: Pick<
    ApiServerOptions,
    | 'authorizationWebhookConfigFile'
    | 'authorizationWebhookVersion'
    | 'authorizationWebhookAuthorizedTtlMs'
    | 'authorizationWebhookUnauthorizedTtlMs'
  >,
  { metrics, ...d }: Pick<OpenReviewService, 'vocabulary' | 'log' | 'signal'> & { readonly metrics: WebhookMetrics },
): Authorizer {
  const version = o.authorizationWebhookVersion;
  const service = openReviewService({
    ...d,
    file: o.authorizationWebhookConfigFile,
    name: 'authorization webhook',
    kind: 'SubjectAccessReview',
    apiVersion: `${d.vocabulary.groups.authorization}/${version}`,
    metrics: metrics.authorization,
  });
  return new WebhookAuthorizer({
    service,
    groups: version === 'v1' ? 'groups' : 'group',
    authorizedTtlMs: o.authorizationWebhookAuthorizedTtlMs,
    unauthorizedTtlMs: o.authorizationWebhookUnauthorizedTtlMs,
  });
}

const MAX_ENTRIES = 8_192;
const MAX_SIZE = 16 * 1024 * 1024;
const ENTRY_SIZE = 256;
/** Questions with longer attributes, in characters, are asked each time. Clients choose them. */
const MAX_REMEMBERED_LENGTH = 10_000;

/**
 * A service outside that decides (spec 2, 5.9). When it gives no answer that can be used, it has no opinion: those after it
 * decide, and when none allows, it is refused. What users may do cannot be listed.
 */
export class WebhookAuthorizer implements Authorizer {
  readonly name = 'Webhook';
  readonly #d: WebhookAuthorizerDeps;
  /** Apart from the others, so that many refused questions do not push out allowed ones. */
  readonly #allowed: AnswerCache<Decision>;
  readonly #others: AnswerCache<Decision>;
  readonly #questions = new SharedQuestions<Decision>();

  constructor(d: WebhookAuthorizerDeps) {
    this.#d = d;
    this.#allowed = answerCache(MAX_ENTRIES, MAX_SIZE, d.nowMs);
    this.#others = answerCache(MAX_ENTRIES, MAX_SIZE, d.nowMs);
  }

  authorize(user: UserInfo, attributes: Attributes, asker?: Asker): Promise<Decision> | Decision {
    const key = keyOf(user, attributes);
    return this.#allowed.get(key) ?? this.#others.get(key) ?? this.#ask(key, user, attributes, asker);
  }

  async #ask(key: string, user: UserInfo, attributes: Attributes, asker: Asker | undefined): Promise<Decision> {
    try {
      return await this.#questions.ask(key, (left) => this.#decide(key, user, attributes, left), asker);
    } catch (err) {
      asker?.signal.throwIfAborted(); // the client has gone: the authorizers after this one need not be asked
      return { decision: 'noOpinion', reason: '', error: err instanceof Error ? err.message : 'The webhook failed' };
    }
  }

  async #decide(key: string, user: UserInfo, attributes: Attributes, left: AbortSignal): Promise<Decision> {
    const { service, groups, authorizedTtlMs, unauthorizedTtlMs } = this.#d;
    const decision = await service.ask(specOf(user, attributes, groups), decisionOf, left);
    if (lengthOf(attributes) >= MAX_REMEMBERED_LENGTH) return decision;
    const size = ENTRY_SIZE + decision.reason.length + (decision.error ?? '').length;
    if (decision.decision === 'allow') keep(this.#allowed, key, decision, { ttlMs: authorizedTtlMs, size });
    else keep(this.#others, key, decision, { ttlMs: unauthorizedTtlMs, size });
    return decision;
  }
}
