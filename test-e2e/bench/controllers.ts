import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as get } from 'node:https';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestText, signingRequest } from '../../services/certificate-signer/testing/signing-requests.js';
import { openInformers } from '../../services/client/informer/open-informers.js';
import { readClientConfig } from '../../services/client/kubeconfig/config.js';
import { connectionOf } from '../../services/client/kubeconfig/connection.js';
import { builtInTypes } from '../../services/client/rest/built-in-types.js';
import { clientOf } from '../../services/client/rest/open-client.js';
import { createLog } from '../../services/machinery/log/log.js';
import { issueRequested } from '../../services/machinery/pki/issue.js';
import { readSigningRequest } from '../../services/machinery/pki/signing-request.js';
import { OpenSsl } from '../../services/machinery/pki/testing/openssl.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Target } from './connection.js';
import { residentBytes, start, type Started } from './processes.js';
import { populate } from './scenarios.js';

export interface ControllerFigures {
  /** Requests for certificates from their creation, by way of their approval, to the certificate. */
  readonly signedPerSecond: number;
  /** Reading a request and signing it, and nothing else. */
  readonly signaturesPerSecond: number;
  /** Of all controllers of `up`, when nothing happens. */
  readonly idleRequestsPerMinute: number;
  /** Resident memory that they add to `up`. */
  readonly addedMb: number;
}

const words = vocabulary('platform');
const { certificateSigningRequests } = builtInTypes(words);
const never = new AbortController().signal;
/** People who ask for certificates at once. */
const ASKING = 16;
/** Until what was made at the start, and what was written, is forgotten. */
const SETTLE_MS = 20_000;
const IDLE_MS = 60_000;

/** What controllers take, on a server of their own, beside one that has none. */
export async function controllerFigures(
  store: string,
  etcdUrl: string | undefined,
  seconds: number,
): Promise<ControllerFigures> {
  const dirs = ['with', 'without'].map((name) => mkdtempSync(join(tmpdir(), `bench-${name}-`)));
  const servers: Started[] = [];
  try {
    for (const [i, dir] of dirs.entries()) {
      const args = ['up', '--data-dir', dir, '--secure-port=0', '--log-level=error', `--store=${store}`];
      if (etcdUrl !== undefined) args.push(`--etcd-servers=${etcdUrl}`, `--etcd-prefix=/${dir.replaceAll('/', '-')}`);
      if (i === 1) args.push('--controllers=-*');
      servers.push(await start(join(import.meta.dirname, '../../../bin/platform'), args));
    }
    const [first, second] = servers as [Started, Started];
    const [dir = '', other = ''] = dirs;
    for (const [server, of] of [[first, dir], [second, other]] as const) await populate(targetOf(server, of)); // prettier-ignore
    await sleep(SETTLE_MS);
    const before = await requestsOf(targetOf(first, dir));
    await sleep(IDLE_MS);
    const idle = (await requestsOf(targetOf(first, dir))) - before - 1; // the question itself
    const addedMb = (residentBytes(first.pid) - residentBytes(second.pid)) / 1e6;
    const signing = await signed(dir, seconds);
    return { ...signing, idleRequestsPerMinute: (idle * 60_000) / IDLE_MS, addedMb };
  } finally {
    for (const server of servers) await server.stop();
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
}

const targetOf = ({ line }: Started, dir: string): Target => ({
  host: '127.0.0.1',
  port: Number(/https:\/\/[^\s]*:(\d+)/.exec(line)?.[1]),
  cert: readFileSync(join(dir, 'admin.crt')),
  key: readFileSync(join(dir, 'admin.key')),
});

/** Requests that a server has answered, watches that ended included. */
async function requestsOf(target: Target): Promise<number> {
  const asked = get({ ...target, path: '/metrics', rejectUnauthorized: false, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const counts = (await text(answer)).matchAll(/^apiserver_request_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, n]) => sum + Number(n), 0);
}

async function signed(
  dir: string,
  seconds: number,
): Promise<Pick<ControllerFigures, 'signedPerSecond' | 'signaturesPerSecond'>> {
  const openssl = new OpenSsl();
  const pem = requestText(openssl);
  openssl.remove();
  const log = createLog({ logLevel: 'error' });
  const warn = (message: string, keys: object): void => log.warn(message, keys);
  const connection = connectionOf(readClientConfig(join(dir, 'admin.kubeconfig')), { vocabulary: words, interactive: false, warn }); // prettier-ignore
  const client = clientOf(connection, { vocabulary: words, userAgent: 'bench', qps: Infinity });
  const stop = new AbortController();
  const informers = openInformers(client, { log });
  const running = informers.run(stop.signal);
  const informer = informers.of(certificateSigningRequests);
  const waiting = new Map<string, () => void>();
  informer.handle({
    updated: ({ metadata, status }) => {
      if (status?.certificate !== undefined) waiting.get(metadata.name)?.();
    },
  });
  await informer.synced(never);
  const requests = client.resource(certificateSigningRequests);
  const spec = { signerName: words.signers.apiServerClient };
  const approved = { conditions: [{ type: 'Approved', status: 'True', reason: 'Bench', message: '' }] };
  const from = performance.now();
  let count = 0;
  const ask = async (who: number): Promise<void> => {
    for (let n = 0; performance.now() - from < seconds * 1_000; n++) {
      const name = `bench-${who}-${n}`;
      const { status: _, ...asked } = signingRequest(name, pem, { spec });
      const has = new Promise<void>((resolve) => waiting.set(name, resolve));
      const made = await requests.create(asked, {}, never);
      await requests.update({ ...made, status: approved }, { subresource: 'approval' }, never);
      await has;
      waiting.delete(name);
      count++;
    }
  };
  await Promise.all(Array.from({ length: ASKING }, (_, who) => ask(who)));
  const signedPerSecond = (count / (performance.now() - from)) * 1_000;
  stop.abort();
  await running;
  client.close();
  return { signedPerSecond, signaturesPerSecond: signaturesPerSecond(dir, pem, seconds) };
}

function signaturesPerSecond(dir: string, pem: string, seconds: number): number {
  const authority = { cert: readFileSync(join(dir, 'ca.crt'), 'utf8'), key: readFileSync(join(dir, 'ca.key'), 'utf8') };
  const from = performance.now();
  let count = 0;
  for (; performance.now() - from < seconds * 1_000; count++) {
    const times = { from: new Date(), to: new Date(Date.now() + 3_600_000) };
    issueRequested({ ...readSigningRequest(pem), ...times, usages: ['client auth'] }, authority);
  }
  return (count / (performance.now() - from)) * 1_000;
}
