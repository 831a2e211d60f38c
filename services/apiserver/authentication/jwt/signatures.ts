import type { KeyObject } from 'node:crypto';

/** A key that tokens are verified with. */
export interface VerifyingKey {
  /** Of the key itself, whatever others call it. */
  readonly id: string;
  /** The public half. */
  readonly key: KeyObject;
  readonly algorithms: readonly [string, ...string[]];
}

/**
 * Which of the keys has signed the token. What its header calls the algorithm has to be one of the key's own, so a public
 * key never serves as a shared secret.
 *
 * @param alg As the header says it. @returns undefined: none of them.
 */
export async function signerOf<K extends VerifyingKey>(
  token: string,
  alg: unknown,
  keys: readonly K[],
): Promise<K | undefined> {
  const fitting = keys.filter(({ algorithms }) => typeof alg === 'string' && algorithms.includes(alg));
  if (fitting.length === 0) return undefined;
  const { compactVerify, errors } = await import('jose'); // slow to load, and only needed once there is a token
  for (const candidate of fitting) {
    try {
      await compactVerify(token, candidate.key, { algorithms: [...candidate.algorithms] });
      return candidate;
    } catch (err) {
      if (!(err instanceof errors.JOSEError)) throw err; // says nothing about the token
    }
  }
  return undefined;
}
