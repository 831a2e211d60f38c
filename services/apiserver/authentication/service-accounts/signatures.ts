import { signerOf, type VerifyingKey } from '../jwt/signatures.js';

/** Checks signatures of tokens. */
export class Signatures {
  readonly keys: readonly VerifyingKey[];
  readonly #byId: ReadonlyMap<string, VerifyingKey>;

  constructor(keys: readonly VerifyingKey[]) {
    this.keys = keys;
    this.#byId = new Map(keys.map((key) => [key.id, key]));
  }

  /** Whether one of the keys has signed the token: the one that its header names, when that is known, else any. */
  async hold(token: string, { kid, alg }: Readonly<Record<string, unknown>>): Promise<boolean> {
    const named = typeof kid === 'string' ? this.#byId.get(kid) : undefined;
    return (await signerOf(token, alg, named === undefined ? this.keys : [named])) !== undefined;
  }
}
