import { readFile } from 'node:fs/promises';

/** One address of etcd, as `http://host:port` or `https://host:port`. */
export interface Endpoint {
  readonly url: string;
  readonly secure: boolean;
}

/** @throws {Error} naming the address that cannot be used */
export function parseEndpoints(urls: readonly string[]): readonly Endpoint[] {
  if (urls.length === 0) throw new Error('Cannot open an etcd store: no endpoint is given');
  return urls.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.host === '') {
      throw new Error(`Cannot use the etcd endpoint "${text}": it is not http://host:port or https://host:port`);
    }
    return { url: url.origin, secure: url.protocol === 'https:' };
  });
}

/** Paths of PEM files. */
export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** Contents of the files. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  /** Each certificate of the bundle is trusted, also that of an intermediate authority. */
  readonly allowPartialTrustChain?: true;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Read for each new connection, so that a renewed certificate is in use without a restart. */
export async function readTls(files: TlsFiles): Promise<TlsMaterial> {
  const read = async (path: string | undefined): Promise<Buffer | undefined> =>
    path === undefined ? undefined : await readFile(path);
  const [ca, cert, key] = await Promise.all([read(files.caFile), read(files.certFile), read(files.keyFile)]);
  return {
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
