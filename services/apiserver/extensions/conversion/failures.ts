/** Why a conversion failed, as metrics name it. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure';

/** A webhook has not converted what it was asked to. The message goes on what tells of the objects. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string, o?: ErrorOptions) {
    super(message, o);
    this.failure = failure;
  }
}

export const malformed = (why: string): ConversionError =>
  new ConversionError('conversion_webhook_malformed_response_failure', `failed: ${why}`);

export const invalidObject = (why: string): ConversionError =>
  new ConversionError('conversion_webhook_invalid_converted_object_failure', `returned invalid ${why}`);
