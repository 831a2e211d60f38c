import { StatusError } from '../../machinery/meta/status.js';

/** Clients that know how try again after this long. */
const RETRY_AFTER_SECONDS = 1;

/** 429, with the sentence that clients know. */
export const tooManyRequests = (): StatusError =>
  new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
  });
