// A process of its own: node --expose-gc informer-process.js KUBECONFIG. Fills a server with objects, follows them with an
// informer, and prints one line with what that took.
import { openInformers } from '../../services/client/informer/open-informers.js';
import type { Informer } from '../../services/client/informer/informer.js';
import { readClientConfig } from '../../services/client/kubeconfig/config.js';
import { connectionOf } from '../../services/client/kubeconfig/connection.js';
import { builtInTypes } from '../../services/client/rest/built-in-types.js';
import type { ApiClient } from '../../services/client/rest/client.js';
import { clientOf } from '../../services/client/rest/open-client.js';
import type { AnyObject } from '../../services/client/rest/resource-type.js';
import { createLog } from '../../services/machinery/log/log.js';
import { tcpProxy } from '../../services/machinery/testing/tcp-proxy.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { InformerFigures } from './clients.js';

const OBJECTS = 10_000;
const AT_ONCE = 32;
const NAMESPACE = 'default';
const words = vocabulary('platform');
const { configMaps } = builtInTypes(words);
const never = new AbortController().signal;
const log = createLog({ logLevel: 'error' });

const connection = connectionOf(readClientConfig(process.argv[2] ?? ''), {
  vocabulary: words,
  interactive: false,
  warn: (message, keys) => log.warn(message, keys),
});
const open = (server: URL): ApiClient =>
  clientOf({ ...connection, server }, { vocabulary: words, userAgent: 'bench', qps: Infinity });
const collect = (): void => (globalThis as { gc?: () => void }).gc?.();
const heapMb = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1e6;
};

async function writeAll(client: ApiClient, text: string, isNew: boolean): Promise<void> {
  const requests = client.resource(configMaps);
  const left = Array.from({ length: OBJECTS }, (_, i) => i).values();
  const writer = async (): Promise<void> => {
    for (const i of left) {
      const metadata = { namespace: NAMESPACE, name: `c-${i}`, labels: { app: `app-${i % 10}` } };
      const object = { metadata, data: { value: text.repeat(900) } };
      await (isNew ? requests.create(object, {}, never) : requests.update(object, {}, never));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
}

/** The heap that the parsed objects take by themselves. */
async function parsedMb(client: ApiClient): Promise<number> {
  const { body } = await client.raw({ method: 'GET', path: `/api/v1/configmaps?resourceVersion=0` }, never);
  const text = body.toString('utf8');
  const before = heapMb();
  const parsed: unknown = JSON.parse(text);
  const after = heapMb();
  return parsed === undefined ? 0 : after - before;
}

/** Changes that an informer missed, and how fast they come to its handlers when it is connected again. */
async function eventsPerSecond(
  client: ApiClient,
  informer: Informer<AnyObject>,
  admit: () => Promise<void>,
): Promise<number> {
  let [seen, firstAt, lastAt] = [0, 0, 0];
  let end = (): void => undefined;
  const all = new Promise<void>((resolve) => (end = resolve));
  const forget = informer.handle({
    updated: () => {
      if (++seen === 1) firstAt = performance.now(); // until then it waits before it connects again
      if (seen < OBJECTS) return;
      lastAt = performance.now();
      end();
    },
  });
  await writeAll(client, 'w', false);
  await admit();
  await all;
  forget();
  return (OBJECTS / (lastAt - firstAt)) * 1000;
}

async function measure(): Promise<InformerFigures> {
  const wire = await tcpProxy(Number(connection.server.port));
  const [direct, cuttable] = [open(connection.server), open(new URL(`https://127.0.0.1:${wire.port}`))];
  const stop = new AbortController();
  await writeAll(direct, 'v', true);
  const objectsMb = await parsedMb(direct);
  const before = heapMb();
  const from = performance.now();
  const informers = openInformers(cuttable, { log });
  const running = informers.run(stop.signal);
  const informer = informers.of(configMaps);
  await informer.synced(never);
  const startMs = performance.now() - from;
  const heldMb = heapMb() - before;
  await wire.refuse();
  const perSecond = await eventsPerSecond(direct, informer, () => wire.admit());
  stop.abort();
  await running;
  for (const client of [direct, cuttable]) client.close();
  await wire.close();
  return { objects: OBJECTS, startMs, heldMb, objectsMb, eventsPerSecond: perSecond };
}

process.stdout.write(`${JSON.stringify(await measure())}\n`);
