import type { AdmissionPlugin, AdmissionRequest, MutatingPhase } from '../plugin.js';
import type { Answer } from './answer.js';
import { askWebhook } from './asking.js';
import { WebhookConditions } from './conditions.js';
import type { Invocation } from './matching.js';
import { openWebhooks, type WebhookPluginDeps, type Webhooks } from './open.js';
import { patchObject } from './patching.js';
import { ReviewWriter } from './review.js';
import { RoundsOfRequests } from './rounds.js';
import { isSelected } from './selecting.js';

const NAME = 'MutatingAdmissionWebhook';

/** Calls mutating webhooks, one after the other (spec 2, 4.4 and 4.5). @throws {Error} for files that cannot be used */
export function mutatingWebhooks(d: WebhookPluginDeps): AdmissionPlugin {
  return new MutatingWebhooks(d, openWebhooks(d, 'mutatingwebhookconfigurations', d.configuration.get(NAME)));
}

class MutatingWebhooks implements AdmissionPlugin {
  readonly operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
  readonly #d: WebhookPluginDeps;
  readonly #webhooks: Webhooks;
  readonly #rounds = new RoundsOfRequests();

  constructor(d: WebhookPluginDeps, webhooks: Webhooks) {
    this.#d = d;
    this.#webhooks = webhooks;
  }

  mutate(request: AdmissionRequest, phase: MutatingPhase): Promise<void> | undefined {
    const invocations = this.#webhooks.matches().of(request);
    return invocations.length === 0 ? undefined : this.#callAll(request, invocations, phase);
  }

  close(): void {
    this.#webhooks.callers.close();
  }

  async #callAll(request: AdmissionRequest, invocations: readonly Invocation[], phase: MutatingPhase): Promise<void> {
    const rounds = this.#rounds.of(request);
    const conditions = new WebhookConditions(this.#d, request, 'admit');
    if (phase.isReinvocation) rounds.comeBack(request.object);
    for (const invocation of invocations) {
      const { webhook } = invocation;
      if (phase.isReinvocation && !rounds.isDue(webhook)) continue;
      if (!(await isSelected(this.#d.objects, webhook, request))) continue;
      if (!(await conditions.meets(invocation))) continue;
      if (await this.#call(request, invocation, phase.isReinvocation ? 1 : 0)) {
        rounds.changed();
        conditions.changed();
        phase.reinvoke();
      }
      rounds.saw(webhook);
    }
    rounds.leave(request.object);
  }

  /** @returns Whether the object has changed. */
  async #call(request: AdmissionRequest, invocation: Invocation, round: number): Promise<boolean> {
    const { auditAnnotations } = this.#d.vocabulary;
    const { configuration, name: webhook, position } = invocation.webhook;
    const place = `round_${round}_index_${position}`;
    let mutated = false;
    const reviews = new ReviewWriter(this.#d, request);
    const take = async ({ patch }: Answer): Promise<void> => {
      if (patch === undefined) return;
      const { operations, changed } = await patchObject({ ...this.#d, reviews }, request, invocation.as, patch);
      mutated = changed;
      if (operations.length === 0) return;
      const told = JSON.stringify({ configuration, webhook, patch: operations, patchType: 'JSONPatch' });
      request.annotate(`${auditAnnotations.patchWebhookPrefix}${place}`, told, 'Request');
    };
    try {
      await askWebhook(
        { ...this.#d, callers: this.#webhooks.callers },
        {
          request,
          invocation,
          reviews,
          step: 'admit',
          signal: request.signal,
          take,
          onFailedOpen: () => request.annotate(`${auditAnnotations.failedOpenMutatingWebhookPrefix}${place}`, webhook),
        },
      );
    } finally {
      const told = JSON.stringify({ configuration, webhook, mutated });
      request.annotate(`${auditAnnotations.mutationWebhookPrefix}${place}`, told);
    }
    return mutated;
  }
}
