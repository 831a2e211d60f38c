import { firstOf } from '../../../client/deadline/deadline.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { askWebhook } from './asking.js';
import { WebhookConditions } from './conditions.js';
import type { Invocation } from './matching.js';
import { openWebhooks, type WebhookPluginDeps, type Webhooks } from './open.js';
import { ReviewWriter } from './review.js';
import { isSelected } from './selecting.js';

const NAME = 'ValidatingAdmissionWebhook';

/** Calls validating webhooks, all at once (spec 2, 4.4 and 4.5). @throws {Error} for files that cannot be used */
export function validatingWebhooks(d: WebhookPluginDeps): AdmissionPlugin {
  return new ValidatingWebhooks(d, openWebhooks(d, 'validatingwebhookconfigurations', d.configuration.get(NAME)));
}

class ValidatingWebhooks implements AdmissionPlugin {
  readonly operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
  readonly #d: WebhookPluginDeps;
  readonly #webhooks: Webhooks;

  constructor(d: WebhookPluginDeps, webhooks: Webhooks) {
    this.#d = d;
    this.#webhooks = webhooks;
  }

  validate(request: AdmissionRequest): Promise<void> | undefined {
    const invocations = this.#webhooks.matches().of(request);
    return invocations.length === 0 ? undefined : this.#callAll(request, invocations);
  }

  close(): void {
    this.#webhooks.callers.close();
  }

  /** The first that refuses ends the others. */
  async #callAll(request: AdmissionRequest, invocations: readonly Invocation[]): Promise<void> {
    const selected: Invocation[] = [];
    const conditions = new WebhookConditions(this.#d, request, 'validating');
    for (const invocation of invocations) {
      if (!(await isSelected(this.#d.objects, invocation.webhook, request))) continue;
      if (await conditions.meets(invocation)) selected.push(invocation);
    }
    const refused = new AbortController();
    const either = firstOf(request.signal, refused.signal);
    const reviews = new ReviewWriter(this.#d, request);
    try {
      await Promise.all(selected.map((it, i) => this.#call(request, it, { reviews, place: i, signal: either.signal })));
    } catch (err) {
      refused.abort(err);
      throw err;
    } finally {
      either.end();
    }
  }

  #call(
    request: AdmissionRequest,
    invocation: Invocation,
    {
      reviews,
      place,
      signal,
    }: { readonly reviews: ReviewWriter; readonly place: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { failedOpenValidatingWebhookPrefix: prefix } = this.#d.vocabulary.auditAnnotations;
    const { name } = invocation.webhook;
    return askWebhook(
      { ...this.#d, callers: this.#webhooks.callers },
      {
        request,
        invocation,
        reviews,
        step: 'validating',
        signal,
        take: () => undefined,
        onFailedOpen: () => request.annotate(`${prefix}round_0_index_${place}`, name),
      },
    );
  }
}
