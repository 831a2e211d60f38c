import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { repeat } from '../../machinery/loop/repeat.js';
import { labelValue } from '../../machinery/meta/metadata.js';
import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { isReadable, type CachedObject } from '../cache/cached-object.js';
import type { Log } from '../../machinery/log/log.js';
import type { ResourceTable, StoredResource } from '../registry/resources.js';
import { settle } from '../registry/settle.js';
import type { Writer } from '../registry/writer.js';

export interface IdentityDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
}

const DURATION_SECONDS = 3_600;
const RENEW_EVERY_MS = 10_000;
/** How often leases are looked for whose time is over. */
const CLEAN_EVERY_MS = DURATION_SECONDS * 1_000;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Keeps a Lease in the system namespace that tells of this server: who it is, and that it lives. A server that ends leaves its
 * Lease, and takes it up again when it starts on the same host; what nobody takes up again goes when its time is over.
 * Servers on one host share a name, so hosts need names of their own. Never throws; ends when `signal` fires.
 */
export async function keepIdentity(d: IdentityDeps, signal: AbortSignal): Promise<void> {
  const stored = d.resources.stored(d.vocabulary.groups.coordination, 'leases');
  if (stored === undefined) return;
  const name = identityOf(hostname());
  const holder = `${name}_${randomUUID()}`;
  const loop = async (what: string, everyMs: number, work: () => Promise<void>): Promise<void> => {
    const round = async (): Promise<number> => {
      await work();
      return everyMs;
    };
    const onFailure = (err: unknown): void => d.log.warn(what, { err });
    await repeat({ round, onFailure, retry: { leastMs: 1_000, mostMs: RENEW_EVERY_MS } }, signal);
  };
  await Promise.all([
    loop('The Lease of this server could not be renewed', RENEW_EVERY_MS, () => renew(d, stored, name, holder)),
    loop('Leases of servers that are gone could not be deleted', CLEAN_EVERY_MS, () => clean(d, stored)),
  ]);
}

/** The same for each start on a host, and fit for the name of an object. */
export function identityOf(host: string): string {
  const digest = createHash('sha256').update(host).digest().subarray(0, 16);
  let bits = '';
  for (const byte of digest) bits += byte.toString(2).padStart(8, '0');
  const letters = (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[parseInt(five.padEnd(5, '0'), 2)]);
  return `apiserver-${letters.join('')}`;
}

async function renew(
  { writer, vocabulary }: IdentityDeps,
  stored: StoredResource,
  name: string,
  holderIdentity: string,
): Promise<void> {
  const { labels, serverName, namespaces } = vocabulary;
  const host = hostname(); // of 64 characters at most, which is one too many
  const own = {
    [labels.apiServerIdentity]: serverName,
    ...(labelValue(host).length === 0 ? { [labels.hostname]: host } : {}),
  };
  const spec = { holderIdentity, leaseDurationSeconds: DURATION_SECONDS, renewTime: microTime(Date.now()) };
  const wanted: ApiObject = {
    kind: stored.hub.kind,
    apiVersion: apiVersionOf(stored.hub),
    metadata: { name, namespace: namespaces.system, labels: own },
    spec,
  };
  await settle(writer, stored, wanted, (current) => {
    const present = current.parse() as ApiObject; // we encoded it
    const metadata = { ...present.metadata, labels: { ...present.metadata.labels, ...own } };
    return { do: 'put', object: { ...present, metadata, spec: { ...(present['spec'] as object), ...spec } } };
  });
}

/** Deletes the Leases of servers that have not renewed them in time. Every server does so for all. */
async function clean({ writer, vocabulary }: IdentityDeps, stored: StoredResource): Promise<void> {
  const { labels, serverName, namespaces } = vocabulary;
  const isToGo = (lease: CachedObject): boolean =>
    lease.selectables.labels?.[labels.apiServerIdentity] === serverName && isOver(lease.parse(), Date.now());
  for (const lease of [...stored.cache.objects()]) {
    if (lease.namespace !== namespaces.system || !isReadable(lease) || !isToGo(lease)) continue;
    await writer.write({ stored, namespace: lease.namespace, name: lease.name }, (current) =>
      current !== undefined && isToGo(current) ? { do: 'delete' } : { do: 'nothing' },
    );
  }
}

/** Whether a Lease's time is over; one that does not say how long it is good is good no longer. */
export function isOver(lease: unknown, nowMs: number): boolean {
  const { spec } = lease as { spec?: unknown };
  if (!isJsonObject(spec)) return true;
  const { renewTime, leaseDurationSeconds } = spec;
  if (typeof renewTime !== 'string' || typeof leaseDurationSeconds !== 'number') return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1_000 < nowMs;
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
