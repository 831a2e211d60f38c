import type { PolicyMetrics } from '../../metrics/policy-metrics.js';
import type { AdmissionRequest } from '../plugin.js';
import { askConditions } from '../policies/conditions.js';
import { Pace } from '../policies/evaluation.js';
import { RequestValues, type RequestValuesDeps } from '../policies/request-values.js';
import { joined, refused } from '../refusal.js';
import type { Invocation } from './matching.js';

export interface WebhookConditionsDeps extends RequestValuesDeps {
  readonly metrics: { readonly policies: PolicyMetrics };
}

/** Asks the match conditions of webhooks about one request. */
export class WebhookConditions {
  readonly #d: WebhookConditionsDeps;
  readonly #request: AdmissionRequest;
  readonly #type: 'admit' | 'validating';
  #values: RequestValues | undefined;
  readonly #pace: Pace;

  constructor(d: WebhookConditionsDeps, request: AdmissionRequest, type: 'admit' | 'validating') {
    this.#d = d;
    this.#request = request;
    this.#type = type;
    this.#pace = new Pace(request);
  }

  /** The object has been changed. */
  changed(): void {
    this.#values?.changed();
  }

  /** Whether a webhook is asked. @throws {StatusError} Forbidden, where that cannot be told and it must not be left out */
  async meets({ webhook, as }: Invocation): Promise<boolean> {
    const { name, conditions, failsOpen } = webhook;
    if (conditions.length === 0) return true;
    const about = { name, kind: 'webhook', type: this.#type, operation: this.#request.operation } as const;
    const metrics = this.#d.metrics.policies;
    const asked = { conditions, failsOpen, about, metrics, pace: this.#pace };
    const matched = await askConditions(asked, () => {
      this.#values ??= new RequestValues(this.#d, this.#request);
      return this.#values.plain(as);
    });
    if ('errors' in matched) throw refused(this.#request, joined(matched.errors));
    if (!matched.matches) metrics.excluded(about);
    return matched.matches;
  }
}
