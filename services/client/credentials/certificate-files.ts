import { checkKeyPair } from '../kubeconfig/source.js';
import { RereadFile } from './reread-file.js';
import type { Credential, Credentials } from './credential.js';

const MAX_PEM_BYTES = 1024 * 1024;

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface CertificateFilesOptions {
  /** Told when the files cannot be used any more; the last certificate goes on being used. */
  readonly warn: (message: string, keys: object) => void;
  readonly now?: () => number;
}

/**
 * A certificate and its key in files that others may replace. Between the replacement of the one and of the other they do
 * not belong together, and the last pair that did is used.
 *
 * @throws {ClientConfigError} When they cannot be read, or do not belong together.
 */
export function certificateFileCredentials(files: CertificateFiles, o: CertificateFilesOptions): Credentials {
  const bound = { maxBytes: MAX_PEM_BYTES, ...(o.now === undefined ? {} : { now: o.now }) };
  const [certFile, keyFile] = [new RereadFile(files.certFile, bound), new RereadFile(files.keyFile, bound)];
  const pair = (cert: string, key: string, certificateVersion: number): Credential => {
    checkKeyPair(cert, key, files.certFile);
    return { headers: {}, cert, key, certificateVersion };
  };
  let last = pair(certFile.text, keyFile.text, 0);
  let seen: readonly string[] = [certFile.text, keyFile.text];
  return {
    async current() {
      try {
        const [cert, key] = await Promise.all([certFile.current(), keyFile.current()]);
        if (cert === seen[0] && key === seen[1]) return last;
        seen = [cert, key]; // what cannot be used is told of once
        last = pair(cert, key, last.certificateVersion + 1);
      } catch (err) {
        o.warn('Certificate files cannot be used, the last certificate goes on being used', { ...files, err });
      }
      return last;
    },
    refused() {
      certFile.expire();
      keyFile.expire();
      return true;
    },
    close: () => undefined,
  };
}
