import { RemoteError } from '../../../client/remote/remote-service.js';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { shortened } from '../../webhook-reviews/members.js';
import type { Caller } from './callers.js';
import { CallError, UNREACHABLE } from './errors.js';

/**
 * Sends a review, and gives back what a webhook answers.
 *
 * @param begin Of errors. @throws {CallError} When there is no answer, or one that is an error. @throws `signal.reason`
 */
export async function post(
  { service, shown }: Pick<Caller, 'service' | 'shown'>,
  review: Buffer,
  signal: AbortSignal,
  begin = '',
): Promise<unknown> {
  try {
    const { status, body } = await service.post(review, signal);
    if (status < 400) return body;
    throw new CallError(`${begin}${messageOf(body) || statusWords(status)}`, status);
  } catch (err) {
    if (!(err instanceof RemoteError)) throw err;
    const why = err.failure === 'timeout' ? `${shown}: context deadline exceeded` : err.message;
    throw new CallError(`${begin}${why}`, UNREACHABLE, { cause: err });
  }
}

/** Of a Status; other texts are not passed on. */
function messageOf(body: unknown): string {
  const message = isJsonObject(body) && getOwn(body, 'kind') === 'Status' ? getOwn(body, 'message') : '';
  return typeof message === 'string' ? shortened(message) : '';
}

function statusWords(status: number): string {
  if (status === 404) return 'the server could not find the requested resource';
  if (status >= 500) return `an error on the server (${status}) has prevented the request from succeeding`;
  return `the server rejected our request (${status})`;
}
