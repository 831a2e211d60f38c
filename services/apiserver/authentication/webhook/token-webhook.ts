import type { Asker } from '../../http/turns.js';
import type { TokenCacheMetrics, WebhookMetrics } from '../../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../../options/flags.js';
import { digestOf } from '../../webhook-reviews/digest.js';
import { answerCache, keep, type AnswerCache } from '../../webhook-reviews/answer-cache.js';
import { openReviewService, type OpenReviewService } from '../../webhook-reviews/open-review-service.js';
import type { ReviewService } from '../../webhook-reviews/review-service.js';
import { SharedQuestions } from '../../webhook-reviews/shared-questions.js';
import { TokenRefused } from '../token-reviewer.js';
import type { Identity, TokenAuthenticator } from '../authenticator.js';
import { tokenAnswer, type TokenAnswer } from './answer.js';

export interface TokenWebhookDeps {
  readonly service: Pick<ReviewService, 'ask'>;
  /** How long answers are remembered; 0: not at all. */
  readonly ttlMs: number;
  readonly metrics: TokenCacheMetrics;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
}

/** @throws {Error} In one line, for a file that cannot be used. */
export function openTokenWebhook(
  o: Pick<ApiServerOptions, 'tokenWebhookConfigFile' | 'tokenWebhookVersion' | 'tokenWebhookCacheTtlMs'>,
  { metrics, ...d }: Pick<OpenReviewService, 'vocabulary' | 'log' | 'signal'> & { readonly metrics: WebhookMetrics },
): TokenAuthenticator {
  const service = openReviewService({
    ...d,
    file: o.tokenWebhookConfigFile,
    name: 'authentication webhook',
    kind: 'TokenReview',
    apiVersion: `${d.vocabulary.groups.authentication}/${o.tokenWebhookVersion}`,
    metrics: metrics.authentication,
  });
  return new TokenWebhook({ service, ttlMs: o.tokenWebhookCacheTtlMs, metrics: metrics.tokenCache });
}

/** A remembered answer about a token: its user, or that it has none. */
interface Answer {
  readonly identity: Identity | undefined;
}

const NOBODY: Answer = { identity: undefined };
const MAX_ENTRIES = 8_192;
const MAX_SIZE = 32 * 1024 * 1024;
/** Of what an entry holds besides the user. */
const ENTRY_SIZE = 512;
/** Most audiences in a review, in characters altogether. */
const MAX_AUDIENCES_LENGTH = 64 * 1024;

/**
 * A service outside that knows tokens (spec 2, 5.7). Both its answers are remembered, by digest: memory holds no token.
 * Failures are not, as they may pass; the service is protected from too many questions otherwise.
 */
export class TokenWebhook implements TokenAuthenticator {
  readonly name = 'webhook';
  readonly #d: TokenWebhookDeps;
  readonly #known: AnswerCache<Answer>;
  readonly #questions = new SharedQuestions<Answer>();

  constructor(d: TokenWebhookDeps) {
    this.#d = d;
    this.#known = answerCache(MAX_ENTRIES, MAX_SIZE, d.nowMs);
  }

  /**
   * @returns With `audiences`: those of the wanted ones that the service names. It may name none, for it knows none.
   * @throws {TokenRefused} When the service could not find out. @throws {ReviewError} @throws {RemoteError}
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    asker?: Asker,
  ): Promise<Identity | undefined> | Identity | undefined {
    const started = performance.now();
    const { metrics } = this.#d;
    const key = digestOf([token, ...audiences]);
    const known = this.#known.get(key);
    if (known !== undefined) {
      metrics.requested('hit', (performance.now() - started) / 1000);
      return known.identity;
    }
    return this.#wait(key, token, audiences, started, asker);
  }

  async #wait(
    key: string,
    token: string,
    audiences: readonly string[],
    started: number,
    asker: Asker | undefined,
  ): Promise<Identity | undefined> {
    const { metrics } = this.#d;
    const waited = metrics.waiting();
    try {
      const fetch = (left: AbortSignal): Promise<Answer> => this.#fetch(key, token, audiences, left);
      return (await this.#questions.ask(key, fetch, asker)).identity;
    } finally {
      waited();
      metrics.requested('miss', (performance.now() - started) / 1000);
    }
  }

  async #fetch(key: string, token: string, audiences: readonly string[], left: AbortSignal): Promise<Answer> {
    const fetched = this.#d.metrics.fetching();
    try {
      const answer = await this.#ask(key, token, audiences, left);
      fetched('ok');
      return answer;
    } catch (err) {
      fetched('error');
      throw err;
    }
  }

  async #ask(key: string, token: string, audiences: readonly string[], left: AbortSignal): Promise<Answer> {
    const { service, ttlMs } = this.#d;
    const length = audiences.reduce((sum, audience) => sum + audience.length, 0);
    if (length > MAX_AUDIENCES_LENGTH) throw new TokenRefused('The wanted audiences are too long');
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    const said = await service.ask(spec, (status) => tokenAnswer(status, token), left);
    if (said.kind === 'error') throw new TokenRefused(`The authentication webhook: ${said.message}`);
    const identity = said.kind === 'known' ? identityOf(said, audiences) : undefined;
    const answer = identity === undefined ? NOBODY : { identity };
    const size = ENTRY_SIZE + length + (said.kind === 'known' ? said.weight : 0);
    keep(this.#known, key, answer, { ttlMs, size });
    return answer;
  }
}

/**
 * undefined: the token is meant for others. A service that names no audiences knows nothing of them: then the token is
 * meant for this server, which the token reviewer settles.
 */
function identityOf(
  { user, audiences }: Extract<TokenAnswer, { kind: 'known' }>,
  wanted: readonly string[],
): Identity | undefined {
  if (audiences.length === 0 || wanted.length === 0) return { user };
  const named = new Set(audiences);
  const both = wanted.filter((audience) => named.has(audience));
  return both.length === 0 ? undefined : { user, audiences: both };
}
