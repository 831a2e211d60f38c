import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { dns1123Label, dns1123Subdomain, type TextRule } from '../../../machinery/meta/metadata.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { audiencesIn, malformed, timeIn, type Claims } from '../jwt/claims.js';
import { serviceAccountUser } from './user.js';

/** An object that a token names. */
export interface Named {
  readonly name: string;
  readonly uid: string;
}

/** A token is good as long as what it is bound to is there. */
export interface Bound {
  readonly kind: 'pod' | 'secret';
  readonly object: Named;
}

/** The claims of a token that are used, besides its issuer. */
export interface TokenContent {
  readonly namespace: string;
  readonly account: Named;
  readonly boundTo: Bound | undefined;
  readonly audiences: readonly string[];
  /** How long the token is good for. */
  readonly seconds: number;
  /** After how long its use should be told of; 0: never. */
  readonly warnAfterSeconds: number;
}

/** @param member Holds what tokens of other issuers do not have. */
export function claimsOf(c: TokenContent, issuer: string, member: string, nowSeconds: number): object {
  const { namespace, account, boundTo } = c;
  return {
    aud: c.audiences,
    exp: nowSeconds + c.seconds,
    iat: nowSeconds,
    iss: issuer,
    [member]: {
      namespace,
      ...(boundTo === undefined ? {} : { [boundTo.kind]: boundTo.object }),
      serviceaccount: account,
      ...(c.warnAfterSeconds === 0 ? {} : { warnafter: nowSeconds + c.warnAfterSeconds }),
    },
    nbf: nowSeconds,
    sub: serviceAccountUser(namespace, account.name),
  };
}

/** Claims of a token. Times are seconds since 1970. */
export interface TokenClaims {
  readonly namespace: string;
  readonly account: Named;
  readonly boundTo: readonly Bound[];
  /** The name of the Secret that holds the token; tokens of today are held by none. */
  readonly heldBy: string | undefined;
  /** undefined: it names none, and is meant for the server that issued it. */
  readonly audiences: readonly string[] | undefined;
  readonly notBefore: number;
  /** Infinity: it does not expire. */
  readonly expires: number;
  /** Infinity: its use is never warned of. */
  readonly warnAfter: number;
}

/**
 * Reads a token as this server issues them. Names are held to the rules of their kinds, for keys and names of users are
 * made of them.
 *
 * @throws {TokenRefused} Naming the claim that is missing or malformed.
 */
export function boundClaims(claims: Claims, { tokenClaim }: Vocabulary): TokenClaims {
  const own = objectIn(claims, tokenClaim);
  const namespace = textIn(own, 'namespace', dns1123Label);
  const account = namedIn(own, 'serviceaccount');
  checkSubject(getOwn(claims, 'sub') ?? serviceAccountUser(namespace, account.name), namespace, account.name);
  const audiences = audiencesIn(claims);
  if (audiences.length === 0) throw malformed('aud');
  return {
    namespace,
    account,
    boundTo: (['secret', 'pod'] as const).flatMap((kind) =>
      (getOwn(own, kind) ?? null) === null ? [] : [{ kind, object: namedIn(own, kind) }],
    ),
    heldBy: undefined,
    audiences,
    notBefore: notBeforeIn(claims),
    expires: timeIn(claims, 'exp', NaN),
    warnAfter: timeIn(own, 'warnafter', 0) || Infinity,
  };
}

/** Reads a token that lies in a Secret (spec 2, 2.2). @throws {TokenRefused} As `boundClaims`. */
export function heldClaims(claims: Claims, { legacyTokenClaims: words }: Vocabulary): TokenClaims {
  const namespace = textIn(claims, words.namespace, dns1123Label);
  const name = textIn(claims, words.serviceAccountName, dns1123Subdomain);
  checkSubject(getOwn(claims, 'sub'), namespace, name);
  return {
    namespace,
    account: { name, uid: textIn(claims, words.serviceAccountUid) },
    boundTo: [],
    heldBy: textIn(claims, words.secretName, dns1123Subdomain),
    audiences: undefined,
    notBefore: notBeforeIn(claims),
    expires: timeIn(claims, 'exp', Infinity),
    warnAfter: Infinity,
  };
}

const ANY: TextRule = () => [];

function textIn(claims: Claims, claim: string, rule: TextRule = ANY): string {
  const value = getOwn(claims, claim);
  if (typeof value !== 'string' || value === '' || rule(value).length > 0) throw malformed(claim);
  return value;
}

function objectIn(claims: Claims, claim: string): Claims {
  const value = getOwn(claims, claim);
  if (!isJsonObject(value)) throw malformed(claim);
  return value;
}

function namedIn(claims: Claims, claim: string): Named {
  const value = objectIn(claims, claim);
  return { name: textIn(value, 'name', dns1123Subdomain), uid: textIn(value, 'uid') };
}

/** A token that was issued in the future is as little good as one whose time has not come. */
const notBeforeIn = (claims: Claims): number => Math.max(timeIn(claims, 'nbf', 0), timeIn(claims, 'iat', 0));

function checkSubject(subject: unknown, namespace: string, name: string): void {
  if (subject !== serviceAccountUser(namespace, name)) throw malformed('sub');
}
