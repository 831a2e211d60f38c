import { setTimeout as delay } from 'node:timers/promises';

import { backoffMs } from '../../machinery/loop/backoff.js';
import { Channel, type ChannelOptions } from './channel.js';
import type { Deadlines } from './deadlines.js';
import type { Endpoint } from './endpoints.js';
import { messageOf, unavailable } from './errors.js';
import { decodeVersion } from './messages.js';
import { Http2Unary, type Method } from './unary.js';

export const STATUS: Method = { path: '/etcdserverpb.Maintenance/Status', name: 'Status', repeatable: true };

/** How long slower members are waited for when one has answered. */
const STRAGGLERS_MS = 1000;
const RETRY = { leastMs: 100, mostMs: 1000 };

export interface MembersOptions extends ChannelOptions {
  readonly deadlines: Deadlines;
  readonly openTimeoutMs: number;
}

/**
 * The versions of the members that answer. Waits until one does.
 * @throws {StoreError} `unavailable` when none does within `openTimeoutMs`
 */
export async function readVersions(o: MembersOptions): Promise<readonly string[]> {
  const end = performance.now() + o.openTimeoutMs;
  for (let attempt = 0; ; attempt++) {
    const limitMs = Math.max(1, end - performance.now());
    const { versions, failures } = await askAll(o, limitMs);
    if (versions.length > 0) return versions;
    const pauseMs = backoffMs(attempt, RETRY);
    if (performance.now() + pauseMs >= end) {
      throw unavailable(`Cannot reach the store within ${o.openTimeoutMs} ms: ${failures.join('; ')}`);
    }
    await delay(pauseMs);
  }
}

async function askAll(o: MembersOptions, limitMs: number): Promise<{ versions: string[]; failures: string[] }> {
  const stop = new AbortController();
  const versions: string[] = [];
  const failures: string[] = [];
  let straggling: NodeJS.Timeout | undefined;
  const ask = async (endpoint: Endpoint): Promise<void> => {
    try {
      versions.push(await versionOf(o, endpoint, limitMs, stop.signal));
      straggling ??= setTimeout(() => stop.abort(unavailable('slower than the others')), STRAGGLERS_MS);
    } catch (err) {
      failures.push(messageOf(err));
      if (versions.length > 0)
        o.log.warn('Store member not reached', { endpoint: endpoint.url, reason: messageOf(err) });
    }
  };
  await Promise.all(o.endpoints.map(ask));
  clearTimeout(straggling);
  return { versions, failures };
}

/** Over a connection of its own: a shared one goes to whichever member serves. */
async function versionOf(o: MembersOptions, endpoint: Endpoint, limitMs: number, signal: AbortSignal): Promise<string> {
  const transport = new Http2Unary(new Channel({ ...o, endpoints: [endpoint] }), o.deadlines);
  try {
    return decodeVersion(await transport.call(STATUS, Buffer.alloc(0), limitMs, signal));
  } finally {
    transport.close();
  }
}
