import { readFileSync } from 'node:fs';
import { request as get } from 'node:https';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
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
import { residentBytes } from './processes.js';
import { row, type Row, type SuiteOptions } from './rows.js';
import { populate } from './scenarios.js';
import { startServer } from './server.js';

interface ControllerFigures {
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
export async function controllerRows(o: SuiteOptions): Promise<Row[]> {
  const { signedPerSecond, signaturesPerSecond, idleRequestsPerMinute, addedMb } = await figures(o);
  const { store } = o;
  const alone = { value: signaturesPerSecond, by: 'signing alone' };
  return [
    row(store, 'controllers, certificates from request to signature', '/s', signedPerSecond, alone),
    row(store, 'controllers, requests while idle', '/min', idleRequestsPerMinute),
    row(store, 'controllers, memory added to up, 5,000 objects', 'MB', addedMb, { value: MOST_ADDED_MB, by: 'aim' }),
  ];
}

const MOST_ADDED_MB = 60;

async function figures({ store, etcdUrl, seconds }: SuiteOptions): Promise<ControllerFigures> {
  const first = await startServer({ store, etcdUrl });
  const second = await startServer({ store, etcdUrl, flags: ['--controllers=-*'] });
  try {
    for (const { target } of [first, second]) await populate(target);
    await sleep(SETTLE_MS);
    const before = await requestsOf(first.target);
    await sleep(IDLE_MS);
    const idle = (await requestsOf(first.target)) - before - 1; // the question itself
    const addedMb = (residentBytes(first.process.pid) - residentBytes(second.process.pid)) / 1e6;
    const signing = await signed(first.directory, seconds);
    return { ...signing, idleRequestsPerMinute: (idle * 60_000) / IDLE_MS, addedMb };
  } finally {
    for (const server of [first, second]) await server.stop();
  }
}

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
