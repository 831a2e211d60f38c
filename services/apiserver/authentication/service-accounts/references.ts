import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { declaredResource, keyOf, type StoredResource, type ResourceTable } from '../../registry/resources.js';
import type { Named, TokenClaims } from './claims.js';
import { uidOf, type Reference } from './objects.js';
import { digestOf, sameDigest, secretParts } from './secrets.js';

/** Data key of the token in the Secret that holds it. */
const TOKEN_KEY = 'token';

export interface ReferencesDeps {
  readonly resources: Pick<ResourceTable, 'stored'>;
  readonly vocabulary: Pick<Vocabulary, 'secretTypes'>;
  /** Whether tokens that lie in Secrets are good only as long as they do, and their account is there. */
  readonly lookup: boolean;
}

/** The objects that a token names, which have to be there at every request with it. */
export type ReferencesOf = (claims: TokenClaims, digest: Buffer) => readonly Reference[];

/** @throws {Error} When one of the resources is not declared. */
export function referencesOf({ resources, vocabulary, lookup }: ReferencesDeps): ReferencesOf {
  const resource = (name: string): StoredResource => declaredResource(resources, '', name);
  const accounts = resource('serviceaccounts');
  const kinds = { pod: resource('pods'), secret: resource('secrets') };
  const holds = holder(vocabulary.secretTypes.serviceAccountToken);
  return ({ namespace, account, boundTo, heldBy }, digest) => {
    const known = new ByUid(accounts, namespace, account);
    if (heldBy === undefined) return [known, ...boundTo.map((b) => new ByUid(kinds[b.kind], namespace, b.object))];
    return lookup ? [known, new ByToken(kinds.secret, namespace, heldBy, { digest, holds })] : [];
  };
}

/** Classes, as there are many of them for long: they share what they do. */
abstract class Place implements Reference {
  readonly stored: StoredResource;
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  abstract readonly id: string;

  constructor(stored: StoredResource, namespace: string, name: string) {
    this.stored = stored;
    this.key = keyOf(stored, namespace, name);
    this.namespace = namespace;
    this.name = name;
  }

  abstract isMeant(object: CachedObject): boolean;
}

class ByUid extends Place {
  readonly #uid: string;

  constructor(stored: StoredResource, namespace: string, { name, uid }: Named) {
    super(stored, namespace, name);
    this.#uid = uid;
  }

  get id(): string {
    return `${this.key}#${this.#uid}`;
  }

  isMeant(object: CachedObject): boolean {
    return uidOf(object) === this.#uid;
  }
}

type Holds = (object: CachedObject, digest: Buffer) => boolean;

class ByToken extends Place {
  readonly #token: { readonly digest: Buffer; readonly holds: Holds };

  constructor(
    stored: StoredResource,
    namespace: string,
    name: string,
    token: { readonly digest: Buffer; readonly holds: Holds },
  ) {
    super(stored, namespace, name);
    this.#token = token;
  }

  get id(): string {
    return `${this.key}#${this.#token.digest.toString('base64')}`;
  }

  isMeant(object: CachedObject): boolean {
    return this.#token.holds(object, this.#token.digest);
  }
}

/** Whether a Secret of the type holds the token with the digest. Each version of one is decoded once. */
function holder(type: string): Holds {
  const held = new WeakMap<CachedObject, Buffer | typeof NOTHING>();
  return (object, digest) => {
    let known = held.get(object);
    if (known === undefined) {
      const parts = secretParts(object);
      const token = parts.type === type ? parts.value(TOKEN_KEY) : undefined;
      held.set(object, (known = token === undefined ? NOTHING : digestOf(token)));
    }
    return known !== NOTHING && sameDigest(known, digest);
  };
}

const NOTHING = Symbol('no token');
