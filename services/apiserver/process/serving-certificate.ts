import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory, writeFileAtomically } from '../../machinery/files/write-file.js';
import { machineHosts } from '../../machinery/pki/hosts.js';
import { localHost } from '../../machinery/process/address.js';
import { selfMadePair } from '../../machinery/process/self-made-pair.js';
import { vocabulary as vocabularyOf, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { advertisedAddress } from '../endpoints/advertise.js';
import { serviceHosts } from '../endpoints/service-hosts.js';
import type { ApiServerOptions } from '../options/flags.js';

const FILES = { tlsCertFile: 'apiserver.crt', tlsKeyFile: 'apiserver.key' } as const;

export type ServingFiles = Pick<ApiServerOptions, keyof typeof FILES>;

type ServingOptions = Pick<
  ApiServerOptions,
  'certDir' | 'tlsCertFile' | 'tlsKeyFile' | 'vocabulary' | 'bindAddress' | 'advertiseAddress' | 'serviceClusterIpRange'
>;

/**
 * The files of the serving certificate: those that flags name, else those in `--cert-dir`. When both of these are missing
 * they are made, by an authority whose key is kept nowhere; the certificate's file holds the authority, too, so that
 * clients can trust it. The directory is one server's alone.
 *
 * @throws {Error} In one line, when one of the two is missing or they cannot be written.
 */
export async function servingFiles(o: ServingOptions, now = new Date()): Promise<ServingFiles> {
  if (o.certDir === '' || o.tlsCertFile !== '') return { tlsCertFile: o.tlsCertFile, tlsKeyFile: o.tlsKeyFile };
  const files = { tlsCertFile: join(o.certDir, FILES.tlsCertFile), tlsKeyFile: join(o.certDir, FILES.tlsKeyFile) };
  const [cert, key] = [existsSync(files.tlsCertFile), existsSync(files.tlsKeyFile)];
  if (cert !== key) {
    const [there, missing] = cert ? [FILES.tlsCertFile, FILES.tlsKeyFile] : [FILES.tlsKeyFile, FILES.tlsCertFile];
    throw new Error(`${o.certDir} has ${there} without ${missing}: both are needed, or neither`);
  }
  if (!cert) await makePair(o, files, now);
  return files;
}

/** The key before the certificate: what a crash leaves behind is told at the next start. */
async function makePair(o: ServingOptions, files: ServingFiles, now: Date): Promise<void> {
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const { serverName: commonName } = vocabulary;
  const hosts = [
    ...machineHosts(),
    localHost(o.bindAddress),
    advertisedAddress(o),
    ...serviceHosts(vocabulary, o.serviceClusterIpRange),
  ];
  const { cert, key } = await selfMadePair({ commonName, hosts }, now);
  mkdirSync(o.certDir, { recursive: true, mode: 0o700 });
  writeFileAtomically(files.tlsKeyFile, key, 0o600);
  writeFileAtomically(files.tlsCertFile, cert, 0o644);
  syncDirectory(o.certDir);
}
