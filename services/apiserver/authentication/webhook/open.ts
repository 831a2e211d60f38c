import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../../machinery/log/log.js';
import type { WebhookMetrics } from '../../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../../options/flags.js';
import { openReviewService } from '../../webhook-reviews/open-review-service.js';
import type { TokenAuthenticator } from '../authenticator.js';
import { TokenWebhook } from './token-webhook.js';

export interface TokenWebhookParts {
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: WebhookMetrics;
  /** Ends with the server. */
  readonly signal: AbortSignal;
}

export type TokenWebhookOptions = Pick<
  ApiServerOptions,
  'tokenWebhookConfigFile' | 'tokenWebhookVersion' | 'tokenWebhookCacheTtlMs'
>;

/** @throws {Error} In one line, for a file that cannot be used. */
export function openTokenWebhook(o: TokenWebhookOptions, { metrics, ...d }: TokenWebhookParts): TokenAuthenticator {
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
