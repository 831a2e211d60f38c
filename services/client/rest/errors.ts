import { StatusError, type StatusBody } from '../../machinery/meta/status.js';
import { retryAfterMs } from '../remote/answer.js';
import type { Exchanged } from '../remote/exchange.js';
import { RemoteError } from '../remote/remote-service.js';
import { ApiError } from './client.js';

/** Characters of a server's message that are kept. */
const MOST_MESSAGE = 32_768;

/** The error that an object of kind Status tells of. */
export function errorOfStatus(
  body: Partial<StatusBody>,
  o: { code?: number; retryAfterMs?: number | undefined } = {},
): ApiError {
  const code = o.code ?? body.code ?? 500;
  const message = body.message ?? `The server answered with the status ${code}`;
  const seconds = body.details?.retryAfterSeconds;
  const afterMs = o.retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  return new ApiError(code, message.slice(0, MOST_MESSAGE), {
    status: body as StatusBody,
    ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
  });
}

/**
 * The error that an answer of status 300 and more is.
 *
 * @param what Names the request. @param decode Reads a body. What it throws means that it is none that can be read.
 */
export function errorOf(what: string, { status, headers, body }: Exchanged, decode: () => object): Error {
  if (status < 400) return new RemoteError(`${what}: answered with the status ${status}`, { failure: 'answer' });
  const afterMs = retryAfterMs(headers['retry-after'], Date.now());
  let read: { kind?: string } | undefined;
  try {
    read = body.length === 0 ? undefined : decode();
  } catch {
    // an answer of something in between, or plain text
  }
  if (read?.kind === 'Status') return errorOfStatus(read as StatusBody, { code: status, retryAfterMs: afterMs });
  return new ApiError(status, `${what}: the server answered with the status ${status}`, {
    ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
  });
}

/** What decoding throws as an error of the answer. */
export const unreadable = (what: string, err: unknown): RemoteError => {
  const why = err instanceof StatusError ? 'is not of the form that it says' : 'cannot be read'; // parsers quote it
  return new RemoteError(`${what}: the answer ${why}`, { failure: 'answer' });
};
