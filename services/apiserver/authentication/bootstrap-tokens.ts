import { BOOTSTRAP_SECRET_PREFIX, BOOTSTRAP_TOKEN, bootstrapExpiry } from '../../machinery/meta/bootstrap-token.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../cache/cached-object.js';
import { declaredResource, keyOf, type ResourceTable } from '../registry/resources.js';
import { deletedAtMs } from './service-accounts/objects.js';
import { digestOf, sameDigest, secretParts, type SecretParts } from './service-accounts/secrets.js';
import { TokenRefused } from './token-reviewer.js';
import type { Identity, TokenAuthenticator } from './authenticator.js';

export interface BootstrapTokenDeps {
  readonly resources: Pick<ResourceTable, 'stored'>;
  readonly vocabulary: Pick<Vocabulary, 'namespaces' | 'secretTypes'>;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
}

const USER_PREFIX = 'system:bootstrap:';
const GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** A token as its Secret describes it. */
interface Credential {
  readonly digest: Buffer;
  readonly expiresMs: number;
  readonly identity: Identity;
}

/**
 * Tokens with which machines and programs come before they have anything better (spec 2, 5.5). Each is a Secret of the
 * system namespace; only the watch cache is asked for it, as the client is not known yet.
 */
export function bootstrapTokens({ resources, vocabulary, nowMs = Date.now }: BootstrapTokenDeps): TokenAuthenticator {
  const secrets = declaredResource(resources, '', 'secrets');
  /** Each version of a Secret is decoded once. A text: why it gives no access. */
  const known = new WeakMap<CachedObject, Credential | string>();
  const credentialOf = (object: CachedObject, id: string): Credential | string => {
    let credential = known.get(object);
    if (credential === undefined) known.set(object, (credential = decoded(object, id, vocabulary)));
    return credential;
  };
  return {
    name: 'bootstrap-token',
    authenticateToken: (token) => {
      const [, id, secret] = BOOTSTRAP_TOKEN.exec(token) ?? [];
      if (id === undefined || secret === undefined) return undefined;
      const object = secrets.cache.get(keyOf(secrets, vocabulary.namespaces.system, `${BOOTSTRAP_SECRET_PREFIX}${id}`));
      if (object === undefined) throw new TokenRefused('There is no bootstrap token of that id');
      const credential = credentialOf(object, id);
      if (typeof credential === 'string') throw new TokenRefused(`The Secret ${object.name} ${credential}`);
      if (!sameDigest(digestOf(secret), credential.digest))
        throw new TokenRefused('The bootstrap token is another one');
      if (nowMs() >= credential.expiresMs) throw new TokenRefused('The bootstrap token has expired');
      return credential.identity;
    },
  };
}

function decoded(
  object: CachedObject,
  id: string,
  { secretTypes }: BootstrapTokenDeps['vocabulary'],
): Credential | string {
  if (deletedAtMs(object) !== Infinity) return 'is being deleted';
  const parts = secretParts(object);
  if (parts.type !== secretTypes.bootstrapToken) return 'is of another type';
  const text = textsOf(parts);
  const secret = text('token-secret');
  if (secret === '') return 'has no token-secret';
  if (!sameDigest(digestOf(text('token-id')), digestOf(id))) return 'has another token-id than its name';
  if (text('usage-bootstrap-authentication') !== 'true') return 'is not meant for authentication';
  const groups = extraGroups(text('auth-extra-groups'));
  if (groups === undefined) return 'has auth-extra-groups that are no groups of bootstrappers';
  return {
    digest: digestOf(secret),
    expiresMs: bootstrapExpiry(text('expiration')),
    identity: { user: { name: `${USER_PREFIX}${id}`, uid: '', groups, extra: {} } },
  };
}

/** '' for what is not there. */
const textsOf =
  ({ value }: SecretParts) =>
  (key: string): string =>
    value(key)?.toString('utf8') ?? '';

/** undefined when one of them is not for bootstrap tokens: then the token is refused, not given less. */
function extraGroups(text: string): readonly string[] | undefined {
  if (text === '') return [GROUP];
  const groups = text.split(',');
  if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined;
  return [...new Set([GROUP, ...groups])].sort();
}
