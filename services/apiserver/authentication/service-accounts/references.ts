import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { keyOf, type StoredResource } from '../../registry/resource.js';
import type { ResourceTable } from '../../registry/resources.js';
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

/** What a token names, and what has to be there at every request that comes with it. */
export type ReferencesOf = (claims: TokenClaims, digest: Buffer) => readonly Reference[];

/** @throws {Error} When one of the resources is not declared. */
export function referencesOf({ resources, vocabulary, lookup }: ReferencesDeps): ReferencesOf {
  const resource = (name: string): StoredResource => {
    const found = resources.stored('', name);
    if (found === undefined) throw new Error(`No declaration of ${name}`);
    return found;
  };
  const accounts = resource('serviceaccounts');
  const kinds = { pod: resource('pods'), secret: resource('secrets') };
  const holds = holder(vocabulary.secretTypes.serviceAccountToken);
  return ({ namespace, account, boundTo, heldBy }, digest) => {
    const known = byUid(accounts, namespace, account);
    if (heldBy === undefined) return [known, ...boundTo.map((b) => byUid(kinds[b.kind], namespace, b.object))];
    if (!lookup) return [];
    const place = placeOf(kinds.secret, namespace, heldBy);
    const id = `${place.key}#${digest.toString('base64')}`;
    return [known, { ...place, id, isMeant: (object) => holds(object, digest) }];
  };
}

const placeOf = (
  stored: StoredResource,
  namespace: string,
  name: string,
): Pick<Reference, 'stored' | 'key' | 'namespace' | 'name'> => ({
  stored,
  key: keyOf(stored, namespace, name),
  namespace,
  name,
});

function byUid(stored: StoredResource, namespace: string, { name, uid }: Named): Reference {
  const place = placeOf(stored, namespace, name);
  return { ...place, id: `${place.key}#${uid}`, isMeant: (object) => uidOf(object) === uid };
}

/** Whether a Secret of the type holds the token with the digest. Each version of one is decoded once. */
function holder(type: string): (object: CachedObject, digest: Buffer) => boolean {
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
