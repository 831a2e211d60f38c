import { LRUCache } from 'lru-cache';
import { getOwn } from '../../../machinery/meta/own.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { ApiServerOptions } from '../../options/flags.js';
import type { UserInfo } from '../../request/request.js';
import { checkTimes } from '../jwt/claims.js';
import { isCompact, unverified, type Unverified } from '../jwt/compact.js';
import { TokenRefused } from '../token-reviewer.js';
import type { Identity, TokenAuthenticator } from '../authenticator.js';
import { boundClaims, heldClaims, type TokenClaims } from './claims.js';
import type { VerifyingKeys } from './key-files.js';
import { ReferencedObjects, type ObjectsDeps, type Reference } from './objects.js';
import { referencesOf, type ReferencesDeps, type ReferencesOf } from './references.js';
import { tokenId } from './secrets.js';
import { Signatures } from './signatures.js';
import { userOf } from './user.js';

export interface ServiceAccountTokenDeps extends Omit<ReferencesDeps, 'vocabulary'>, Pick<ObjectsDeps, 'reader'> {
  readonly vocabulary: Vocabulary;
  readonly keys: VerifyingKeys;
  /** Issuers whose tokens are taken: the present one, and former ones. */
  readonly issuers: readonly string[];
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
  /** A token that is new here was signed with another key than the one that signs. */
  readonly onOldKey?: () => void;
}

/** A token whose signature holds. */
interface Known {
  readonly claims: TokenClaims;
  readonly user: UserInfo;
  readonly references: readonly Reference[];
  /** The last answer, and whom the token was wanted to be meant for. */
  answer: { readonly wanted: readonly string[]; readonly identity: Identity } | undefined;
}

type ClaimsReader = (claims: Unverified['claims'], vocabulary: Vocabulary) => TokenClaims;

/** Some 2 KB each. */
const MAX_KNOWN = 8_192;
const MAX_BAD = 4_096;

/**
 * Tokens of service accounts (spec 2, 5.4): those that this server issues, bound to objects and in time, and those that
 * lie in Secrets. Signatures are checked once and remembered. What may be revoked is looked at each time.
 */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly name = 'service-account';
  readonly #vocabulary: Vocabulary;
  readonly #nowMs: () => number;
  readonly #readers: ReadonlyMap<unknown, ClaimsReader>;
  readonly #keys: VerifyingKeys;
  readonly #onOldKey: (() => void) | undefined;
  #signatures: Signatures;
  readonly #referencesOf: ReferencesOf;
  readonly #objects: ReferencedObjects;
  /** By digest, as all that is remembered here: memory holds no token. */
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  /** Tokens whose signature is wrong. */
  readonly #bad = new LRUCache<string, true>({ max: MAX_BAD });
  readonly #verifying = new Map<string, Promise<Known>>();

  constructor(d: ServiceAccountTokenDeps) {
    const { nowMs = Date.now, vocabulary } = d;
    this.#vocabulary = vocabulary;
    this.#nowMs = nowMs;
    this.#readers = new Map([
      [vocabulary.legacyTokenIssuer, heldClaims],
      ...d.issuers.map((issuer) => [issuer, boundClaims] as const),
    ]);
    this.#keys = d.keys;
    this.#onOldKey = d.onOldKey;
    this.#signatures = new Signatures(d.keys.current);
    this.#referencesOf = referencesOf(d);
    this.#objects = new ReferencedObjects({ reader: d.reader, nowMs });
  }

  /** @throws {TokenRefused} */
  authenticateToken(token: string, audiences: readonly string[]): Promise<Identity> | Identity | undefined {
    if (!token.includes('.')) return undefined; // most tokens of other kinds leave here, at no cost
    const id = tokenId(token);
    this.#followKeys();
    const known = this.#known.get(id);
    if (known !== undefined) return this.#answer(known, audiences);
    if (this.#bad.get(id) === true) throw badSignature();
    const content = isCompact(token) ? unverified(token) : undefined;
    const read = content === undefined ? undefined : this.#readers.get(getOwn(content.claims, 'iss'));
    if (content === undefined || read === undefined) return undefined;
    this.#keys.look();
    this.#followKeys();
    const verifying = this.#verifying.get(id) ?? this.#verify(id, { token, content, read });
    return verifying.then((fresh) => this.#answer(fresh, audiences));
  }

  /** Other keys: nothing holds that was found out with those before. */
  #followKeys(): void {
    if (this.#signatures.keys === this.#keys.current) return;
    this.#signatures = new Signatures(this.#keys.current);
    for (const found of [this.#known, this.#bad, this.#verifying]) found.clear();
  }

  /** Checks a token that is new here; what is cheap to see comes first. */
  #verify(
    id: string,
    o: { readonly token: string; readonly content: Unverified; readonly read: ClaimsReader },
  ): Promise<Known> {
    const claims = o.read(o.content.claims, this.#vocabulary);
    checkTimes(claims, this.#nowMs());
    const signatures = this.#signatures;
    const remember = (note: () => void): void => {
      if (this.#signatures === signatures) note();
    };
    const verifying = signatures
      .hold(o.token, o.content.header)
      .then((holds) => {
        if (!holds) {
          remember(() => this.#bad.set(id, true));
          throw badSignature();
        }
        const { signing } = this.#keys;
        if (signing !== undefined && getOwn(o.content.header, 'kid') !== signing) this.#onOldKey?.();
        const references = this.#referencesOf(claims, Buffer.from(id, 'base64'));
        const known: Known = { claims, user: userOf(claims, this.#vocabulary), references, answer: undefined };
        remember(() => this.#known.set(id, known));
        return known;
      })
      .finally(() => remember(() => this.#verifying.delete(id)));
    this.#verifying.set(id, verifying);
    return verifying;
  }

  /** @throws {TokenRefused} */
  #answer(known: Known, wanted: readonly string[]): Promise<Identity> | Identity {
    checkTimes(known.claims, this.#nowMs());
    let waiting: Promise<void>[] | undefined;
    for (const reference of known.references) {
      const present = this.#objects.present(reference);
      if (present !== true) (waiting ??= []).push(required(reference, present));
    }
    if (waiting === undefined) return this.#identity(known, wanted);
    return Promise.all(waiting).then(() => this.#identity(known, wanted));
  }

  #identity(known: Known, wanted: readonly string[]): Identity {
    if (known.answer?.wanted !== wanted) {
      known.answer = { wanted, identity: this.#meantFor(known, wanted) };
    }
    const { identity } = known.answer;
    const lateSeconds = Math.floor(this.#nowMs() / 1000) - known.claims.warnAfter;
    if (lateSeconds <= 0) return identity;
    const told = `subject: ${known.user.name}, seconds after warning threshold: ${Math.floor(lateSeconds)}`;
    return { ...identity, auditAnnotations: { [this.#vocabulary.auditAnnotations.staleToken]: told } };
  }

  /** @throws {TokenRefused} */
  #meantFor({ user, claims }: Known, wanted: readonly string[]): Identity {
    const { audiences } = claims;
    if (audiences === undefined) {
      return { user, auditAnnotations: { [this.#vocabulary.auditAnnotations.legacyToken]: user.name } };
    }
    const both = wanted.filter((audience) => audiences.includes(audience));
    if (both.length === 0) throw new TokenRefused('The token is not meant for the wanted audiences');
    return { user, audiences: both };
  }
}

/** undefined without a key to verify tokens with. */
export const serviceAccountTokens = (
  o: Pick<ApiServerOptions, 'serviceAccountIssuer' | 'serviceAccountLookup'>,
  d: Omit<ServiceAccountTokenDeps, 'issuers' | 'lookup'>,
): ServiceAccountTokens | undefined =>
  d.keys.current.length === 0
    ? undefined
    : new ServiceAccountTokens({ ...d, issuers: o.serviceAccountIssuer, lookup: o.serviceAccountLookup });

const badSignature = (): TokenRefused => new TokenRefused('No key of service account tokens has signed the token');

async function required(reference: Reference, present: boolean | Promise<boolean>): Promise<void> {
  if (!(await present)) throw gone(reference);
}

const gone = ({ stored, namespace, name }: Reference): TokenRefused =>
  new TokenRefused(`The token is revoked: there is no such ${stored.hub.kind} any more: ${namespace}/${name}`);
