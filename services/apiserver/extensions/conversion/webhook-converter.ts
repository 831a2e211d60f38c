import { StatusError } from '../../../machinery/meta/status.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { traced } from '../../../machinery/tracing/trace.js';
import type { WebhookClientConfig } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { CustomResourceConversion } from '../../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { openCaller, type Caller, type CallersDeps } from '../../admission/webhooks/callers.js';
import { post } from '../../admission/webhooks/post.js';
import type { ConversionMetrics } from '../../metrics/conversion-metrics.js';
import { shownKind, type Convertible, type ObjectConverter } from '../../registry/conversion/converter.js';
import { readConverted } from './answer.js';
import { ConversionError } from './failures.js';
import { reviewVersion, writeReview } from './review.js';

const TIMEOUT_SECONDS = 30;

export interface WebhookConverterDeps extends CallersDeps {
  readonly vocabulary: Pick<Vocabulary, 'groups'>;
  readonly metrics: ConversionMetrics;
  /** Longest time of a question. @default 30 */
  readonly timeoutSeconds?: number;
}

/** Asks the webhook of a definition. */
export class WebhookConverter implements ObjectConverter {
  readonly #d: WebhookConverterDeps;
  readonly #definition: string;
  readonly #clientConfig: WebhookClientConfig;
  readonly #reviewVersion: string | undefined;
  /** Who leaves while others may wait for the same does not end a question: its time is bounded. */
  readonly #never = new AbortController();
  #caller: Caller | undefined;

  /** @param definition Its name. */
  constructor(definition: string, { webhook = {} }: CustomResourceConversion, d: WebhookConverterDeps) {
    const { clientConfig = {}, conversionReviewVersions = [] } = webhook;
    this.#d = d;
    this.#definition = definition;
    this.#clientConfig = withoutBlankBundle(clientConfig);
    this.#reviewVersion = reviewVersion(conversionReviewVersions ?? []);
  }

  async convert(objects: readonly Convertible[], to: string): Promise<readonly ApiObject[]> {
    const [first] = objects;
    if (first === undefined) return [];
    const startedMs = performance.now();
    let failure = '';
    try {
      return await this.#asked(objects, to);
    } catch (err) {
      failure = err instanceof ConversionError ? err.failure : 'conversion_webhook_call_failure';
      const message = `conversion webhook for ${shownKind(first)} ${err instanceof Error ? err.message : ''}`;
      throw new StatusError('InternalError', message, { cause: err });
    } finally {
      const seconds = (performance.now() - startedMs) / 1000;
      const [from, wanted] = [versionOf(first.apiVersion), versionOf(to)];
      this.#d.metrics.called({ definition: this.#definition, from, to: wanted, seconds, failure });
    }
  }

  close(): void {
    this.#caller?.service.close();
  }

  /** @throws {ConversionError} */
  async #asked(objects: readonly Convertible[], to: string): Promise<readonly ApiObject[]> {
    if (this.#reviewVersion === undefined) throw failedCall(new Error('no supported conversion review versions'));
    const review = writeReview(objects, to, `${this.#d.vocabulary.groups.apiextensions}/${this.#reviewVersion}`);
    const about = {
      'custom-resource-definition': this.#definition,
      'desired-api-version': to,
      'object-count': objects.length,
      UID: review.uid,
    };
    const caller = this.#opened();
    try {
      const body = await traced('Call conversion webhook', about, () => post(caller, review.body, this.#never.signal));
      return readConverted(body, review, objects);
    } catch (err) {
      const told = err instanceof ConversionError ? err : failedCall(err);
      caller.outages.failed(told);
      throw told;
    }
  }

  #opened(): Caller {
    const options = {
      called: `conversion webhook for ${this.#definition}`,
      clientConfig: this.#clientConfig,
      timeoutSeconds: this.#d.timeoutSeconds ?? TIMEOUT_SECONDS,
    };
    try {
      return (this.#caller ??= openCaller(options, this.#d));
    } catch (err) {
      throw failedCall(err);
    }
  }
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

function failedCall(err: unknown): ConversionError {
  const why = err instanceof Error ? err.message : '';
  return new ConversionError('conversion_webhook_call_failure', `failed: ${why}`, { cause: err });
}

/** A bundle of nothing but blanks is none. */
function withoutBlankBundle({ caBundle, ...rest }: WebhookClientConfig): WebhookClientConfig {
  const isBlank =
    Buffer.from(caBundle ?? '', 'base64')
      .toString('utf8')
      .trim() === '';
  return isBlank || caBundle === undefined ? rest : { ...rest, caBundle };
}
