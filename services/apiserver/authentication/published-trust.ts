import { repeat } from '../../machinery/loop/repeat.js';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isJsonObject } from '../../machinery/meta/own.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Log } from '../../machinery/log/log.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { ResourceTable } from '../registry/resources.js';
import { settle } from '../registry/settle.js';
import type { WriteDecision, Writer } from '../registry/writer.js';

/** Servers that stand behind this one read here whose clients and proxies to trust. */
const NAME = 'extension-apiserver-authentication';
/** How often it is held against the files, and against what others made of it. */
const EVERY_MS = 60_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export interface TrustDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
}

type Data = Readonly<Record<string, string>>;

/**
 * Keeps a config map of the system namespace that tells other servers which authorities this one takes clients and proxies
 * from. Servers may have different files while these are being changed: what one has published, another one adds to.
 */
export async function publishTrust(o: ApiServerOptions, d: TrustDeps, log: Log, signal: AbortSignal): Promise<void> {
  if (o.clientCaFile === '' && o.requestHeaderClientCaFile === '') return;
  const round = async (): Promise<number> => {
    await publish(d, await trustOf(o));
    return EVERY_MS;
  };
  const onFailure = (err: unknown): void => log.warn('Authorities of clients could not be published', { err });
  await repeat({ round, onFailure, retry: { leastMs: 1_000, mostMs: EVERY_MS } }, signal);
}

/** @throws {Error} for a file that cannot be read */
async function trustOf(o: ApiServerOptions): Promise<Data> {
  const { clientCaFile, requestHeaderClientCaFile } = o;
  const clients: Data = clientCaFile === '' ? {} : { 'client-ca-file': await readFile(clientCaFile, 'utf8') };
  if (requestHeaderClientCaFile === '') return clients;
  return {
    ...clients,
    'requestheader-client-ca-file': await readFile(requestHeaderClientCaFile, 'utf8'),
    'requestheader-allowed-names': JSON.stringify(o.requestHeaderAllowedNames),
    'requestheader-username-headers': JSON.stringify(o.requestHeaderUsernameHeaders),
    'requestheader-group-headers': JSON.stringify(o.requestHeaderGroupHeaders),
    'requestheader-extra-headers-prefix': JSON.stringify(o.requestHeaderExtraHeadersPrefix),
  };
}

async function publish({ resources, writer, vocabulary }: TrustDeps, trust: Data): Promise<void> {
  const stored = resources.stored('', 'configmaps');
  if (stored === undefined) return;
  const { system } = vocabulary.namespaces;
  const wanted: ApiObject = {
    kind: stored.hub.kind,
    apiVersion: stored.hub.version,
    metadata: { name: NAME, namespace: system },
    data: withPresent({}, trust),
  };
  const judge = (current: CachedObject): WriteDecision => {
    const present = current.parse() as ApiObject; // we encoded it
    const data = isJsonObject(present['data']) ? (present['data'] as Data) : {};
    const next = withPresent(data, trust);
    if (Object.keys(next).every((key) => next[key] === data[key])) return { do: 'nothing' };
    return { do: 'put', object: { ...present, data: next } };
  };
  await settle(writer, stored, wanted, judge);
}

/** Bundles hold the certificates of both that are still good, each once; the rest is as this server has it. */
export function withPresent(present: Data, own: Data, nowMs = Date.now()): Data {
  const merged = Object.entries(own).map(([key, value]) => {
    if (!key.endsWith('-ca-file')) return [key, value] as const;
    const all = new Set(
      [...(present[key] ?? '').matchAll(CERTIFICATE), ...value.matchAll(CERTIFICATE)].map(([c]) => c),
    );
    const good = [...all].filter((pem) => endsAtMs(pem) > nowMs);
    return [key, `${good.join('\n')}\n`] as const;
  });
  return { ...present, ...Object.fromEntries(merged) };
}

/** 0 for what is no certificate. */
function endsAtMs(pem: string): number {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return 0;
  }
}
