import { LRUCache } from 'lru-cache';
import { getOwn } from '../../../machinery/meta/own.js';
import { checkTimes, type Times } from '../jwt/claims.js';
import { isCompact, unverified, type Unverified } from '../jwt/compact.js';
import { signerOf } from '../jwt/signatures.js';
import { digestOf } from '../service-accounts/secrets.js';
import { TokenRefused } from '../token-reviewer.js';
import type { Identity, TokenAuthenticator } from '../authenticator.js';
import type { KeySet, ProviderKey } from './key-set.js';
import type { ProviderKeys } from './provider-keys.js';
import { timesOf, userIn, type ClaimRules } from './user.js';

export interface IdTokenDeps {
  readonly issuer: string;
  /** Those that tokens may be signed with; all are asymmetric. */
  readonly algorithms: ReadonlySet<string>;
  readonly rules: ClaimRules;
  readonly keys: Pick<ProviderKeys, 'current' | 'renew'>;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
}

/** A token whose signature holds. */
interface Known {
  readonly identity: Identity;
  readonly times: Times;
  /** The key that has signed it, by its own id. */
  readonly signer: string;
  /** The keys among which that one was when it was last looked for. */
  among: KeySet | undefined;
}

/** Some 1 KB each. */
const MAX_KNOWN = 8_192;
const MAX_BAD = 4_096;

/**
 * ID tokens of one OpenID provider (spec 2, 5.6). Signatures are checked once and remembered for as long as the provider
 * has the key. A token is good for the time that it says, to the second; for one that is not good yet, clocks may differ
 * by a minute.
 */
export class IdTokens implements TokenAuthenticator {
  readonly name = 'oidc';
  readonly #d: IdTokenDeps;
  readonly #nowMs: () => number;
  /** By digest, as all that is remembered here: memory holds no token. */
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  /** Tokens that none of these keys has signed. */
  readonly #bad = new LRUCache<string, KeySet>({ max: MAX_BAD });
  readonly #verifying = new Map<string, Promise<Known>>();

  constructor(d: IdTokenDeps) {
    this.#d = d;
    this.#nowMs = d.nowMs ?? Date.now;
  }

  /** @throws {TokenRefused} */
  authenticateToken(token: string): Promise<Identity> | Identity | undefined {
    if (!isCompact(token)) return undefined;
    const id = digestOf(token).toString('base64');
    const known = this.#known.get(id);
    if (known !== undefined && this.#isStillSigned(known)) {
      checkTimes(known.times, this.#nowMs());
      return known.identity;
    }
    const content = unverified(token);
    if (content === undefined || getOwn(content.claims, 'iss') !== this.#d.issuer) return undefined;
    return (this.#verifying.get(id) ?? this.#verify(id, token, content)).then(({ identity }) => identity);
  }

  /** Costs a comparison, unless the keys have changed. */
  #isStillSigned(known: Known): boolean {
    const { current } = this.#d.keys;
    if (known.among === current) return true;
    if (current?.has(known.signer) !== true) return false;
    known.among = current;
    return true;
  }

  /** Checks a token that is new here; what is cheap to see comes first. @throws {TokenRefused} */
  #verify(id: string, token: string, { header, claims }: Unverified): Promise<Known> {
    const { current } = this.#d.keys;
    if (current === undefined)
      throw new TokenRefused('The OpenID provider is not initialised: its keys are not known yet');
    const [alg, kid] = [getOwn(header, 'alg'), getOwn(header, 'kid')];
    if (typeof alg !== 'string' || !this.#d.algorithms.has(alg)) {
      throw new TokenRefused('The token is signed with an algorithm that is not allowed');
    }
    if (kid !== undefined && typeof kid !== 'string') throw new TokenRefused('The token names its key by no text');
    const times = timesOf(claims);
    checkTimes(times, this.#nowMs());
    const user = userIn(claims, this.#d.rules);
    if (this.#bad.get(id) === current) throw notSigned();
    const verifying = this.#signer(id, token, { alg, kid })
      .then((signer) => {
        const known: Known = { identity: { user }, times, signer: signer.id, among: undefined };
        this.#known.set(id, known);
        return known;
      })
      .finally(() => this.#verifying.delete(id));
    this.#verifying.set(id, verifying);
    return verifying;
  }

  /** A key that is not known may be one that the provider has changed to. @throws {TokenRefused} */
  async #signer(
    id: string,
    token: string,
    o: { readonly alg: string; readonly kid: string | undefined },
  ): Promise<ProviderKey> {
    const { keys } = this.#d;
    const among = (set: KeySet | undefined): Promise<ProviderKey | undefined> =>
      signerOf(token, o.alg, set?.named(o.kid) ?? []);
    const before = keys.current;
    const signer = await among(before);
    if (signer !== undefined) return signer;
    const isRenewed = await keys.renew();
    const { current } = keys;
    const later = current === before ? undefined : await among(current);
    if (later !== undefined) return later;
    // Remembered only when the keys are newer than the token: else they may not be those that it is signed with.
    if (isRenewed && current !== undefined) this.#bad.set(id, current);
    throw notSigned();
  }
}

const notSigned = (): TokenRefused => new TokenRefused('No key of the OpenID provider has signed the token');
