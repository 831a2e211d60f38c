import { generateName } from '../machinery/meta/random.js';
import type { Live } from '../client/rest/resource-type.js';
import type { TokenSigner } from '../machinery/jwt/token-signer.js';
import type { Secret, ServiceAccount } from '../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

/** Keys of the data of a token Secret. */
const TOKEN = 'token';
const CA = 'ca.crt';
const NAMESPACE = 'namespace';
/** Names of accounts are cut to this in names of secrets, which then have room for what follows. */
const MAX_BASE = 200;

/** The account that a token Secret names, by its annotations; undefined for another Secret. */
export interface NamedAccount {
  readonly namespace: string;
  readonly name: string;
  /** '': any account of the name. */
  readonly uid: string;
}

export function accountNamedBy(
  secret: Secret,
  { secretTypes, annotations: words }: Vocabulary,
): NamedAccount | undefined {
  const { namespace = '', annotations = {} } = secret.metadata ?? {};
  const name = annotations[words.serviceAccountName];
  if (secret.type !== secretTypes.serviceAccountToken || name === undefined || name === '') return undefined;
  return { namespace, name, uid: annotations[words.serviceAccountUid] ?? '' };
}

/** Whether a Secret is a token of this very account, not of one that had the name before. */
export function belongsTo(secret: Secret, account: Live<ServiceAccount>, vocabulary: Vocabulary): boolean {
  const named = accountNamedBy(secret, vocabulary);
  const { name, namespace = '', uid } = account.metadata;
  return named?.name === name && named.namespace === namespace && (named.uid === '' || named.uid === uid);
}

export interface TokenSecretDeps {
  readonly signer: TokenSigner;
  /** Certificates to publish beside the token, PEM; undefined: none are. */
  readonly authorities: string | undefined;
  readonly vocabulary: Vocabulary;
}

/**
 * The Secret with what it lacks: the uid of its account, the token, the namespace, and the authorities as they are now. A
 * token that is there stays. Its claims are those of spec 2, 5.4; it does not expire, and ends with its Secret.
 *
 * @returns The same object when it lacks nothing.
 */
export async function filled<T extends Secret>(
  secret: T,
  account: Live<ServiceAccount>,
  d: TokenSecretDeps,
): Promise<T> {
  const { annotations: words } = d.vocabulary;
  const { name = '', namespace = '', annotations = {} } = secret.metadata ?? {};
  const missing: Record<string, string> = {};
  const put = (key: string, value: string): void => {
    const encoded = Buffer.from(value).toString('base64');
    if (secret.data?.[key] !== encoded) missing[key] = encoded;
  };
  if (d.authorities !== undefined) put(CA, d.authorities);
  if (isEmpty(secret, NAMESPACE)) put(NAMESPACE, namespace);
  if (isEmpty(secret, TOKEN)) put(TOKEN, await d.signer.sign(claimsOf({ secretName: name, account }, d.vocabulary)));
  const isMarked = annotations[words.serviceAccountUid] === account.metadata.uid;
  if (isMarked && Object.keys(missing).length === 0) return secret;
  return {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: { ...annotations, [words.serviceAccountUid]: account.metadata.uid },
    },
    data: { ...secret.data, ...missing },
  };
}

const isEmpty = ({ data }: Secret, key: string): boolean => (data?.[key] ?? '') === '';

interface Claimed {
  readonly secretName: string;
  readonly account: Live<ServiceAccount>;
}

function claimsOf(
  { secretName, account }: Claimed,
  { legacyTokenIssuer, legacyTokenClaims: words }: Vocabulary,
): object {
  const { name, namespace = '', uid } = account.metadata;
  return {
    iss: legacyTokenIssuer,
    sub: `system:serviceaccount:${namespace}:${name}`,
    [words.namespace]: namespace,
    [words.secretName]: secretName,
    [words.serviceAccountName]: name,
    [words.serviceAccountUid]: uid,
  };
}

/** A token Secret of an account, yet without its token. */
export function newTokenSecret(account: Live<ServiceAccount>, { secretTypes, annotations: words }: Vocabulary): Secret {
  const { name, namespace = '', uid } = account.metadata;
  return {
    metadata: {
      name: `${name.slice(0, MAX_BASE)}-token-${generateName('')}`,
      namespace,
      annotations: { [words.serviceAccountName]: name, [words.serviceAccountUid]: uid },
    },
    type: secretTypes.serviceAccountToken,
  };
}

/** Whether a Secret was made by `newTokenSecret` for an account of that name. */
export const isMadeFor = (accountName: string, secretName: string): boolean =>
  secretName.startsWith(`${accountName.slice(0, MAX_BASE)}-token-`) &&
  /^[a-z0-9]{5}$/.test(secretName.slice(accountName.slice(0, MAX_BASE).length + '-token-'.length));

/** The account with a reference to a Secret; the same object when it has one. */
export function withReference<T extends ServiceAccount>(account: T, secretName: string): T {
  const { secrets = [] } = account;
  return secrets.some(({ name }) => name === secretName)
    ? account
    : { ...account, secrets: [...secrets, { name: secretName }] };
}

/** The account without references to a Secret; the same object when it has none. */
export function withoutReference<T extends ServiceAccount>(account: T, secretName: string): T {
  const secrets = (account.secrets ?? []).filter(({ name }) => name !== secretName);
  return secrets.length === (account.secrets ?? []).length ? account : { ...account, secrets };
}
