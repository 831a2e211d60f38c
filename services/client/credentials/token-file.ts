import { RereadFile } from './reread-file.js';
import type { Credential, Credentials } from './credential.js';
import { CredentialError, bearerHeader } from './credential.js';

/** Headers are bound to less. */
const MAX_TOKEN_BYTES = 64 * 1024;

export interface TokenFileOptions {
  /** Told when the file cannot be read any more; the last token goes on being used. */
  readonly warn: (message: string, keys: object) => void;
  readonly now?: () => number;
}

/**
 * A bearer token in a file that others may replace.
 *
 * @throws {ClientConfigError} When the file cannot be read. @throws {CredentialError} When it holds no usable token.
 */
export function tokenFileCredentials(path: string, o: TokenFileOptions): Credentials {
  const file = new RereadFile(path, { maxBytes: MAX_TOKEN_BYTES, ...(o.now === undefined ? {} : { now: o.now }) });
  let text = file.text;
  let last = credentialOf(text, path);
  return {
    async current() {
      try {
        const now = await file.current();
        if (now !== text) last = credentialOf((text = now), path); // a useless one is told of once
      } catch (err) {
        o.warn('Token file cannot be used, the last token goes on being used', { file: path, err });
      }
      return last;
    },
    refused() {
      file.expire();
      return true;
    },
    close: () => undefined,
  };
}

function credentialOf(text: string, path: string): Credential {
  const headers = bearerHeader(text.trim());
  if (headers === undefined) throw new CredentialError(`${path}: holds no usable token`);
  return { headers, certificateVersion: 0 };
}
