import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type * as PromClient from 'prom-client';
import { unusableFiles } from '../files/unusable-files.js';

/** A certificate that a process has: the text of its PEM, read anew at each scrape; undefined where there is none. */
export type CertificateSource = () => Promise<string | undefined>;

/** Reads a file that a flag names. */
export const certificateFile =
  (path: string): CertificateSource =>
  () =>
    readFile(path, 'utf8');

/**
 * Shows when certificates end, and which files could not be read again.
 *
 * @param certificates By what they are for, e.g. `serving`.
 */
export function registerFileMetrics(
  prom: Pick<typeof PromClient, 'Gauge'>,
  registry: PromClient.Registry,
  certificates: ReadonlyMap<string, CertificateSource>,
): void {
  new prom.Gauge({
    name: 'certificate_not_after_timestamp_seconds',
    help: 'When the first of the certificates of a file ends, by what they are for',
    labelNames: ['certificate'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [certificate, source] of certificates) {
        const endsAt = endOf(await source().catch(() => undefined));
        if (endsAt !== undefined) this.set({ certificate }, endsAt);
      }
    },
  });
  new prom.Gauge({
    name: 'files_unusable',
    help: 'Whether a file that changed cannot be used (1), so that what was read before stays in use',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [what, isUnusable] of unusableFiles) this.set({ what }, isUnusable ? 1 : 0);
    },
  });
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** In seconds since 1970; undefined: there is none that can be read. */
function endOf(pem: string | undefined): number | undefined {
  const ends = [...(pem?.match(CERTIFICATE) ?? [])].flatMap((block) => {
    try {
      return [Date.parse(new X509Certificate(block).validTo) / 1000];
    } catch {
      return [];
    }
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}
