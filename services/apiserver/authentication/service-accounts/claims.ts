import { serviceAccountUser } from './user.js';

/** An object that a token names. */
export interface Named {
  readonly name: string;
  readonly uid: string;
}

/** What a token says, besides who issued it. */
export interface TokenContent {
  readonly namespace: string;
  readonly account: Named;
  /** The token is good as long as this object is there. */
  readonly boundTo: { readonly kind: 'pod' | 'secret'; readonly object: Named } | undefined;
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
