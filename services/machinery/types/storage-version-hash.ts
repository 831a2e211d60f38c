import { createHash } from 'node:crypto';

/**
 * Opaque mark of the version a resource is stored in, for discovery: storage migrators compare it for equality. The
 * group is '' for core; it is hashed in the words of the vocabulary that is served.
 */
export function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}
