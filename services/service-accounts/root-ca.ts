import { RereadFile } from '../client/credentials/reread-file.js';
import type { ControllerDeps } from '../controllers/controller.js';
import { rest } from '../machinery/loop/repeat.js';

/** The certificates of all authorities that a cluster may have. */
const MAX_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 15_000;

export interface RootCaOptions {
  readonly rootCaFile: string;
}

/** The certificates by which programs verify the server. */
export interface RootCa {
  /** Of one or more authorities, as they are in the file. */
  readonly pem: string;
  /** Calls `changed` each time after the file has another content, until `signal` fires. Never rejects. */
  follow(changed: () => void, signal: AbortSignal): Promise<void>;
}

/**
 * The file of `--root-ca-file`, else what the client of this process verifies the server by. undefined where that is what the
 * machine trusts: nothing is worth publishing.
 *
 * @throws {Error} in one line, for a file that cannot be read or holds no certificate
 */
export function followRootCa(o: RootCaOptions, { log, authorities }: ControllerDeps): RootCa | undefined {
  if (o.rootCaFile === '') {
    if (authorities === undefined) log.warn('Nothing says which authorities to publish: --root-ca-file is not given');
    return authorities === undefined ? undefined : { pem: authorities, follow: () => Promise.resolve() };
  }
  const file = new RereadFile(o.rootCaFile, { maxBytes: MAX_BYTES });
  if (!isCertificate(file.text)) throw new Error(`${o.rootCaFile} holds no certificate in PEM`);
  let pem = file.text;
  return {
    get pem() {
      return pem;
    },
    follow: async (changed, signal) => {
      while (!signal.aborted) {
        await rest(LOOK_EVERY_MS, signal);
        const text = await file.current().catch((err: unknown) => {
          log.warn('The file of authorities cannot be read; the last ones stay published', { err });
          return pem;
        });
        if (text === pem || !isCertificate(text)) continue; // it may be half written
        pem = text;
        changed();
      }
    },
  };
}

const isCertificate = (text: string): boolean => /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(text);
