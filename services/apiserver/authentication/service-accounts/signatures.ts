import type { VerifyingKey } from './key-files.js';

/** Checks signatures of tokens. */
export class Signatures {
  readonly #keys: readonly VerifyingKey[];
  readonly #byId: ReadonlyMap<string, VerifyingKey>;

  constructor(keys: readonly VerifyingKey[]) {
    this.#keys = keys;
    this.#byId = new Map(keys.map((key) => [key.id, key]));
  }

  /**
   * Whether one of the keys has signed the token: the one that its header names, when that is known, else any. What the
   * header calls the algorithm has to be one of the key's own, so a public key never serves as a shared secret.
   */
  async hold(token: string, { kid, alg }: Readonly<Record<string, unknown>>): Promise<boolean> {
    const named = typeof kid === 'string' ? this.#byId.get(kid) : undefined;
    const candidates = named === undefined ? this.#keys : [named];
    const fitting = candidates.filter(({ algorithms }) => typeof alg === 'string' && algorithms.includes(alg));
    if (fitting.length === 0) return false;
    const { compactVerify, errors } = await import('jose'); // slow to load, and only needed once there is a token
    for (const { key, algorithms } of fitting) {
      try {
        await compactVerify(token, key, { algorithms: [...algorithms] });
        return true;
      } catch (err) {
        if (!(err instanceof errors.JOSEError)) throw err; // says nothing about the token
      }
    }
    return false;
  }
}
