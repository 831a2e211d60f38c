import { issueAuthority, issueLeaf, newKey } from '../pki/issue.js';

/** PEM of a serving certificate, with that of its authority behind it, and of its key. */
export interface ServingPair {
  readonly cert: string;
  readonly key: string;
}

/** A serving certificate by an authority of its own, whose key is kept nowhere. */
export async function selfMadePair(
  { commonName, hosts }: { readonly commonName: string; readonly hosts: readonly string[] },
  now = new Date(),
): Promise<ServingPair> {
  const authorityKey = await newKey();
  const authority = issueAuthority({ key: authorityKey, commonName: `${commonName}-ca`, previous: undefined }, now);
  const key = await newKey();
  const leaf = issueLeaf(
    { key, commonName, hosts: [...new Set(hosts)], usage: 'serverAuth' },
    { cert: authority, key: authorityKey },
    now,
  );
  return { cert: `${leaf}${authority}`, key };
}
