import type { Asker } from '../http/turns.js';
import type { Context, UserInfo } from '../request/request.js';

/** A user whom an authenticator knows. */
export interface Identity {
  readonly user: UserInfo;
  /** Of those that were asked for, whom the credential is meant for. Absent: the authenticator knows no audiences. */
  readonly audiences?: readonly string[];
  /** For the client, e.g. that its token is older than it should be. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/**
 * Thrown by an authenticator that knows a proxy and cannot read which user it speaks for: the client is refused, and
 * no other authenticator is asked, which might take the request for the proxy's own. Never holds a credential.
 */
export class SpeakerRefused extends Error {
  override readonly name = 'SpeakerRefused';
}

/**
 * Looks at one kind of credential. undefined: the request carries none of that kind, the next one is asked. Throws for a
 * credential that is there and wrong: the next one is asked as well, and when none knows the client, it is refused
 * instead of anonymous. What is thrown is logged, so it never holds a credential.
 */
export interface Authenticator {
  readonly name: string;
  authenticate(ctx: Context): Promise<Identity | undefined> | Identity | undefined;
}

/**
 * Looks at one kind of bearer token, of a request or of a TokenReview. undefined: the token is none of that kind. Throws
 * for a token of that kind that is no good. Asked for every request: what is expensive it remembers by itself, within
 * bounds, and what may be revoked it looks at each time.
 */
export interface TokenAuthenticator {
  readonly name: string;
  /**
   * @param audiences Whom the token has to be meant for: one of these at least. Never empty.
   * @param asker Who waits for the answer: what asks others ends with him.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    asker?: Asker,
  ): Promise<Identity | undefined> | Identity | undefined;
}
