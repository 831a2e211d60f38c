import { parseJson } from '../../machinery/codec/json.js';
import type { Exchanged } from './exchange.js';
import type { RemoteAnswer } from './remote-service.js';
import { RemoteError } from './remote-service.js';

/** Levels of nesting of an answer. */
const MAX_DEPTH = 200;

/**
 * Takes an answer for what it says. An answer of status 400 and more is one whatever it holds. What it is called does not
 * matter: services that are written with common libraries call their JSON plain text.
 *
 * @param what Begins errors. @param wants 'status': what the answer holds does not matter.
 * @throws {RemoteError} For a redirect, for what is compressed, and for what is no JSON that can be read.
 */
export function readAnswer(what: string, { status, headers, body }: Exchanged, wants: 'json' | 'status'): RemoteAnswer {
  const refuse = (why: string): never => {
    throw new RemoteError(`${what}: ${why}`, { failure: 'answer' });
  };
  if (status < 200) refuse(`answered with the status ${status}`);
  if (status >= 300 && status < 400) refuse(`answered with a redirect (${status}), and none is followed`);
  const isFailure = status >= 400;
  const after = isFailure ? retryAfterMs(headers['retry-after'], Date.now()) : undefined;
  const answer = (value: unknown): RemoteAnswer => ({
    status,
    body: value,
    ...(after === undefined ? {} : { retryAfterMs: after }),
  });
  if (wants === 'status') return answer(undefined);
  const json = isPlain(headers['content-encoding']) ? jsonOf(body) : undefined;
  if (json === undefined) return isFailure ? answer(undefined) : refuse('the answer is no JSON that can be read');
  return answer(json.value);
}

const isPlain = (encoding: string | undefined): boolean => encoding === undefined || encoding === 'identity';

function jsonOf(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(body, { maxBytes: body.length, maxDepth: MAX_DEPTH, maxYamlBytes: 0 }) };
  } catch {
    return undefined; // the parser's words quote the answer
  }
}

/** Seconds or a date (RFC 9110, 10.2.3). undefined when it says neither; never negative. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = header.length > 40 ? NaN : Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
