import type { Asker } from '../http/turns.js';
import type { Context } from '../request/request.js';
import type { Identity, TokenAuthenticator, Authenticator } from './authenticator.js';

/** Longest token, in characters; headers are bound as well, the bodies of reviews are longer. */
const MAX_TOKEN_LENGTH = 64 * 1024;

/** No authenticator knows the token, or it is no good. Does not hold it. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** A token to authenticate, and the audiences that it has to be meant for. */
interface Asked {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly asker: Asker | undefined;
}

/** All authenticators of bearer tokens, for requests and for reviews of tokens alike. */
export class TokenReviewer {
  readonly #authenticators: readonly TokenAuthenticator[];
  readonly #own: readonly string[];

  /** @param own The audiences of this server; for authenticators that know none, its tokens are meant for these. */
  constructor(authenticators: readonly TokenAuthenticator[], own: readonly string[]) {
    this.#authenticators = authenticators;
    this.#own = own;
  }

  /** The audiences of this server. */
  get audiences(): readonly string[] {
    return this.#own;
  }

  /**
   * The first authenticator that knows the token decides.
   *
   * @param audiences Whom the token has to be meant for, one of them at least; by default this server.
   * @param asker Who waits for the answer.
   * @returns With `audiences`: those of the wanted ones that it is meant for; never empty, unless the server has none.
   * @throws {TokenRefused}
   */
  authenticate(token: string, audiences = this.#own, asker?: Asker): Promise<Identity> | Identity {
    if (token === '' || token.length > MAX_TOKEN_LENGTH) throw new TokenRefused('The token has no usable length');
    return this.#ask({ token, audiences, asker }, 0);
  }

  /** @param failure Of those who were asked before. */
  #ask(asked: Asked, first: number, failure?: unknown): Promise<Identity> | Identity {
    const { token, audiences, asker } = asked;
    let cause = failure;
    for (let i = first; i < this.#authenticators.length; i++) {
      try {
        const answer = this.#authenticators[i]?.authenticateToken(token, audiences, asker);
        if (answer instanceof Promise) return this.#askOn(answer, asked, i + 1, cause);
        const identity = this.#meant(answer, audiences);
        if (identity !== undefined) return identity;
      } catch (err) {
        cause ??= err;
      }
    }
    throw new TokenRefused('Nobody knows the token', { cause });
  }

  async #askOn(answer: Promise<Identity | undefined>, asked: Asked, next: number, failure: unknown): Promise<Identity> {
    let cause = failure;
    try {
      const identity = this.#meant(await answer, asked.audiences);
      if (identity !== undefined) return identity;
    } catch (err) {
      cause ??= err;
    }
    return this.#ask(asked, next, cause);
  }

  /** Settles whom a token is meant for where its authenticator does not know. @throws {TokenRefused} */
  #meant(identity: Identity | undefined, wanted: readonly string[]): Identity | undefined {
    if (identity === undefined || identity.audiences !== undefined || wanted === this.#own) return identity;
    const audiences = wanted.filter((audience) => this.#own.includes(audience));
    if (audiences.length === 0) throw new TokenRefused('The token is not meant for the wanted audiences');
    return { ...identity, audiences };
  }
}

/** A scheme's name is the same in any case (RFC 9110, 11.1). */
const SCHEME = 'bearer';

/** Tokens in the header Authorization (RFC 6750, 2.1). Other schemes are not looked at. */
export const bearer = (tokens: TokenReviewer): Authenticator => ({
  name: 'bearer',
  authenticate: (ctx: Context) => {
    const { authorization } = ctx.req.headers;
    if (authorization === undefined || !isBearer(authorization)) return undefined;
    return tokens.authenticate(authorization.slice(SCHEME.length).trim(), undefined, ctx.state);
  },
});

function isBearer(header: string): boolean {
  const after = header.charAt(SCHEME.length);
  if (after !== ' ' && after !== '\t' && after !== '') return false;
  return header.slice(0, SCHEME.length).toLowerCase() === SCHEME;
}
