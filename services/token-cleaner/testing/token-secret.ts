import type { Secret } from '../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';

export const TOKEN_ID = 'abcdef';
export const TOKEN_SECRET = '0123456789abcdef';

/** The Secret of a bootstrap token that is meant for signing. @param data Other entries; undefined: none. */
export function tokenSecret(
  { namespaces, secretTypes }: Vocabulary,
  data: Readonly<Record<string, string | undefined>> = {},
  metadata: object = {},
): Secret {
  const texts: Readonly<Record<string, string | undefined>> = {
    'token-id': TOKEN_ID,
    'token-secret': TOKEN_SECRET,
    'usage-bootstrap-signing': 'true',
    ...data,
  };
  const encoded = Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, Buffer.from(text).toString('base64')] as const],
  );
  return {
    metadata: { name: `bootstrap-token-${texts['token-id'] ?? ''}`, namespace: namespaces.system, ...metadata },
    type: secretTypes.bootstrapToken,
    data: Object.fromEntries(encoded),
  };
}
