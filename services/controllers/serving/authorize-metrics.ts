import { createHash } from 'node:crypto';
import { builtInTypes } from '../../client/rest/built-in-types.js';
import type { ApiClient } from '../../client/rest/client.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';

/** How a question ended; `unknown`: the API server could not be asked. */
export type Access = 'allowed' | 'unauthenticated' | 'forbidden' | 'unknown';

export interface AccessOptions {
  readonly client: Pick<ApiClient, 'resource'>;
  readonly vocabulary: Vocabulary;
  readonly now?: () => number;
}

const REMEMBERED_MS = 10_000;
const MOST_REMEMBERED = 256;
/** Questions at once; further ones are not asked. */
const MOST_ASKED = 16;
const ASK_MS = 10_000;
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/**
 * Whether the bearer of a token may read a path, as the API server says: it reviews the token, and then what its user may do.
 * What it does not answer is not allowed.
 */
export class PathAccess {
  readonly #o: AccessOptions;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly access: Access; readonly untilMs: number }>();
  #asked = 0;

  constructor(o: AccessOptions) {
    this.#o = o;
    this.#now = o.now ?? (() => performance.now());
  }

  async of(authorization: string | undefined, path: string): Promise<Access> {
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unauthenticated';
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined && this.#now() < known.untilMs) return known.access;
    if (this.#asked >= MOST_ASKED) return 'unknown';
    this.#asked++;
    try {
      const access = await this.#ask(token, path, AbortSignal.timeout(ASK_MS));
      this.#remember(key, access);
      return access;
    } catch {
      return 'unknown';
    } finally {
      this.#asked--;
    }
  }

  async #ask(token: string, path: string, signal: AbortSignal): Promise<Access> {
    const { client, vocabulary } = this.#o;
    const types = builtInTypes(vocabulary);
    const review = await client.resource(types.tokenReviews).create({ spec: { token } }, {}, signal);
    const { authenticated, user } = review.status ?? {};
    if (authenticated !== true || user === undefined) return 'unauthenticated';
    const { username = '', groups, uid, extra } = user;
    const spec = {
      user: username,
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
      nonResourceAttributes: { path, verb: 'get' },
    };
    const answer = await client.resource(types.subjectAccessReviews).create({ spec }, {}, signal);
    return answer.status?.allowed === true ? 'allowed' : 'forbidden';
  }

  #remember(key: string, access: Access): void {
    this.#known.delete(key);
    this.#known.set(key, { access, untilMs: this.#now() + REMEMBERED_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}
