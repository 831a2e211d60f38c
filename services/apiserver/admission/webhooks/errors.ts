import { StatusError, type StatusBody, type StatusDetails } from '../../../machinery/meta/status.js';

/** Of metrics. */
export type RejectionCause = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';

/** A webhook gave no answer that can be used: what follows is a matter of its failure policy. */
export class CallError extends Error {
  override readonly name = 'CallError';
  /** Tells metrics what went wrong: the status of the answer, or one that stands for none. */
  readonly code: number;

  constructor(message: string, code: number, o?: ErrorOptions) {
    super(message, o);
    this.code = code;
  }
}

export const UNREACHABLE = 400;
const UNUSABLE_ANSWER = 503;

/** An answer that is no review of what was asked. */
export const invalidAnswer = (why: string): CallError =>
  new CallError(`received invalid webhook response: ${why}`, UNUSABLE_ANSWER);

/** What clients are told of a webhook that failed and must not. */
export function callFailed(webhook: string, err: CallError): StatusError {
  const message = `failed calling webhook ${JSON.stringify(webhook)}: ${err.message}`;
  return internal(message, err);
}

export const internal = (message: string, cause: unknown): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${message}`, {
    cause,
    details: { causes: [{ message }] },
  });

/** What a webhook says of its denial, as far as it says so. */
export interface DenialStatus {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
}

const LEAST_CODE = 400;
/** Beyond it HTTP has no code. */
const MOST_CODE = 599;

/** A webhook said no. Reasons are its own words. */
export class WebhookDenial extends StatusError {
  /** As the webhook gave it, 400 at least. */
  readonly given: number;
  readonly #reason: string;

  constructor(webhook: string, { code = 0, message = '', reason = '', details }: DenialStatus = {}) {
    const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
    const why = message === '' ? reason : message;
    const given = code < LEAST_CODE ? LEAST_CODE : code;
    super('BadRequest', why === '' ? `${denied} without explanation` : `${denied}: ${why}`, {
      code: given > MOST_CODE ? 500 : given,
      ...(details === undefined ? {} : { details }),
    });
    this.given = given;
    this.#reason = reason;
  }

  override body(): StatusBody {
    const { reason, code, details, ...body } = super.body();
    return {
      ...body,
      ...(this.#reason === '' ? {} : { reason: this.#reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}
