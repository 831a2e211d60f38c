/** Headers and certificate by which a client authenticates at one time. */
export interface Credential {
  /** For every request; empty when only a certificate says who it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM, with the intermediate certificates. */
  readonly cert?: string;
  /** PEM */
  readonly key?: string;
  /** Another number than before means another certificate: connections made with the old one are not used for it. */
  readonly certificateVersion: number;
}

/**
 * The credentials of a client. They are remembered as long as they are valid, so they may be asked for each request.
 */
export interface Credentials {
  /**
   * @param signal Ends the wait; work that others wait for goes on.
   * @throws {CredentialError} @throws `signal.reason` if it fires first.
   */
  current(signal: AbortSignal): Promise<Credential>;
  /**
   * The server refused this credential (a 401): it is not given out again where another one may be had.
   *
   * @returns Whether `current()` may give another one now.
   */
  refused(used: Credential): boolean;
  /** Ends what is running. */
  close(): void;
}

/** There is no credential to be had. One line that holds none. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

const USABLE_TOKEN = /^[\x21-\x7e]+$/;

/** The header of a bearer token, undefined for one that no header can hold. */
export const bearerHeader = (token: string): { readonly authorization: string } | undefined =>
  USABLE_TOKEN.test(token) ? { authorization: `Bearer ${token}` } : undefined;
