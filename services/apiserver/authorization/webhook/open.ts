import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../../machinery/log/log.js';
import type { AskedServiceMetrics } from '../../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../../options/flags.js';
import { openReviewService } from '../../webhook-reviews/open-review-service.js';
import type { Authorizer } from '../authorizer.js';
import { WebhookAuthorizer } from './webhook-authorizer.js';

export interface WebhookAuthorizerParts {
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: AskedServiceMetrics;
  /** Ends with the server. */
  readonly signal: AbortSignal;
}

export type WebhookAuthorizerOptions = Pick<
  ApiServerOptions,
  | 'authorizationWebhookConfigFile'
  | 'authorizationWebhookVersion'
  | 'authorizationWebhookAuthorizedTtlMs'
  | 'authorizationWebhookUnauthorizedTtlMs'
>;

/** @throws {Error} In one line, for a file that cannot be used. */
export function openWebhookAuthorizer(o: WebhookAuthorizerOptions, d: WebhookAuthorizerParts): Authorizer {
  const version = o.authorizationWebhookVersion;
  const service = openReviewService({
    ...d,
    file: o.authorizationWebhookConfigFile,
    name: 'authorization webhook',
    kind: 'SubjectAccessReview',
    apiVersion: `${d.vocabulary.groups.authorization}/${version}`,
  });
  return new WebhookAuthorizer({
    service,
    groups: version === 'v1' ? 'groups' : 'group',
    authorizedTtlMs: o.authorizationWebhookAuthorizedTtlMs,
    unauthorizedTtlMs: o.authorizationWebhookUnauthorizedTtlMs,
  });
}
