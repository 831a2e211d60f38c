import type { Selection } from '../client/informer/informer.js';
import { BOOTSTRAP_SECRET_PREFIX, BOOTSTRAP_TOKEN, bootstrapExpiry } from '../machinery/meta/bootstrap-token.js';
import type { Secret } from '../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

/** The secrets of bootstrap tokens, and no others. */
export const bootstrapSecrets = ({ namespaces, secretTypes }: Vocabulary): Selection => ({
  namespace: namespaces.system,
  fieldSelector: `type=${secretTypes.bootstrapToken}`,
});

/** '' for what is not there. */
const textOf = ({ data }: Secret, key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');

/** Milliseconds since 1970; Infinity: never. */
export const expiryOf = (secret: Secret): number => bootstrapExpiry(textOf(secret, 'expiration'));

/** A token that signs what its holders can trust. */
export interface SigningToken {
  readonly id: string;
  /** With its id, as clients hold it. */
  readonly token: string;
  readonly expiresMs: number;
}

/** undefined for a Secret that holds no token, or one that is not meant for signing, has expired or is being deleted. */
export function signingToken(secret: Secret, nowMs: number): SigningToken | undefined {
  if (secret.metadata?.deletionTimestamp !== undefined) return undefined;
  if (textOf(secret, 'usage-bootstrap-signing') !== 'true') return undefined;
  const id = textOf(secret, 'token-id');
  const token = `${id}.${textOf(secret, 'token-secret')}`;
  if (!BOOTSTRAP_TOKEN.test(token) || secret.metadata?.name !== `${BOOTSTRAP_SECRET_PREFIX}${id}`) return undefined;
  const expiresMs = expiryOf(secret);
  return expiresMs > nowMs ? { id, token, expiresMs } : undefined;
}
