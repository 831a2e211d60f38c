import type { RemoteFailure } from './remote-service.js';
import { RemoteError } from './remote-service.js';

interface Cause {
  readonly why: string;
  readonly failure?: RemoteFailure;
}

const UNTRUSTED: Cause = { why: 'its certificate is signed by no authority that is trusted', failure: 'untrusted' };

/** Meanings of the error codes of sockets and TLS. */
const CAUSES: ReadonlyMap<string, Cause> = new Map<string, Cause>([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['CERT_SIGNATURE_FAILURE', UNTRUSTED],
  ['CERT_HAS_EXPIRED', { why: 'its certificate has expired', failure: 'untrusted' }],
  ['CERT_NOT_YET_VALID', { why: 'its certificate is not valid yet', failure: 'untrusted' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { why: 'its certificate is for other hosts', failure: 'untrusted' }],
  ['ECONNREFUSED', { why: 'nobody listens there' }],
  ['ECONNRESET', { why: 'the connection was cut' }],
  ['EPIPE', { why: 'the connection was cut' }],
  ['ENOTFOUND', { why: 'the host is not known' }],
  ['EAI_AGAIN', { why: 'the host cannot be looked up now' }],
  ['ETIMEDOUT', { why: 'the host does not answer' }],
  ['HPE_HEADER_OVERFLOW', { why: 'the headers of the answer are too long', failure: 'answer' }],
]);

export const codeOf = (err: unknown): string =>
  err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : '';

/** @param what Begins the message, e.g. `POST https://hook.example/review`. */
export function connectionError(what: string, err: unknown, o?: { readonly isUnsent: boolean }): RemoteError {
  const code = codeOf(err);
  const known = CAUSES.get(code);
  const parser: Cause = { why: 'what came is no answer', failure: 'answer' };
  const { why, failure = 'connection' } =
    known ?? (code.startsWith('HPE_') ? parser : { why: 'the connection failed' });
  return new RemoteError(`${what}: ${why}${code === '' ? '' : ` (${code})`}`, { cause: err, failure, ...o });
}
