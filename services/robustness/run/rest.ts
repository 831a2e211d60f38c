import { hasFired, rest } from '../../machinery/loop/repeat.js';
import { openClient, bodyOf, configMapsOf, isOurs, type Scene } from '../clients/scene.js';
import { recorded } from '../clients/record.js';
import type { Live } from '../../client/rest/resource-type.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import type { Watcher } from '../clients/watcher.js';
import type { FinalLine, Sent } from '../history/lines.js';
import { matches } from '../history/matches.js';

/** Longest that watchers may take to see the last writes, and collectors to remove what has no owner. */
const CATCH_UP_MS = 60_000;
const COLLECT_MS = 120_000;
const LOOK_EVERY_MS = 250;
/** Of the client that does this. */
const LAST = 1_000_000;
/** Each selector that clients use matches one of these. */
const ENDS: readonly Sent['labels'][] = [{ color: 'red' }, { color: 'green' }, {}];

interface Watching {
  readonly watcher: Watcher;
  readonly ns: string;
  readonly selector: string;
}

/** Lets everything come to rest: watchers see the last writes, lists show what is left, and what has no owner goes. */
export async function comeToRest(scene: Scene, watching: readonly Watching[], signal: AbortSignal): Promise<void> {
  const client = openClient(scene, LAST);
  try {
    for (const ns of new Set([scene.namespaces.main, ...watching.map((it) => it.ns)])) {
      const ends = await writeEnds(scene, client, ns, signal);
      await caughtUp(watching.filter((it) => it.ns === ns), ends, signal); // prettier-ignore
    }
    for (const ns of Object.values(scene.namespaces)) await listed(scene, client, ns, signal);
    scene.recorder.write(await collected(scene, client, signal));
  } finally {
    client.close();
  }
}

type Client = ReturnType<typeof openClient>;

interface End {
  readonly labels: Sent['labels'];
  readonly rv: number;
}

/** A last object whose labels change, so that every watcher has something to see. */
async function writeEnds(scene: Scene, client: Client, ns: string, signal: AbortSignal): Promise<End[]> {
  if (ns === scene.namespaces.quota) await makeRoom(scene, client, ns, signal);
  const ends: End[] = [];
  let resourceVersion: string | undefined;
  for (const [i, labels = {}] of ENDS.entries()) {
    const until = performance.now() + CATCH_UP_MS;
    let object = await writeEnd(scene, client, { ns, i, labels, resourceVersion }, signal);
    while (object === undefined && performance.now() < until && !hasFired(signal)) {
      await rest(LOOK_EVERY_MS, signal); // a quota is counted again when a controller has seen that there is room
      object = await writeEnd(scene, client, { ns, i, labels, resourceVersion }, signal);
    }
    if (object === undefined) throw new Error(`The last writes in ${ns} failed, when all faults were over`);
    ({ resourceVersion } = object.metadata);
    ends.push({ labels, rv: Number(resourceVersion) });
  }
  return ends;
}

interface EndWrite {
  readonly ns: string;
  readonly i: number;
  readonly labels: Record<string, string>;
  readonly resourceVersion: string | undefined;
}

async function writeEnd(
  scene: Scene,
  client: Client,
  { ns, i, labels, resourceVersion }: EndWrite,
  signal: AbortSignal,
): Promise<Live<ConfigMap> | undefined> {
  const maps = configMapsOf(client, scene);
  const name = 'o-end';
  const id = scene.pace.take();
  const sent = { labels, data: { v: `end.${id}` } };
  const metadata = { namespace: ns, name, labels, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const body = { metadata, data: sent.data };
  const about = { id, client: LAST, ns, name, sent, token: sent.data.v };
  const ifRv = resourceVersion === undefined ? {} : { ifRv: Number(resourceVersion) };
  const { object } = await recorded(scene, { ...about, ...ifRv, verb: i === 0 ? 'create' : 'update' }, async () => ({
    code: 200,
    object: await (i === 0 ? maps.create(body, {}, signal) : maps.update(body, {}, signal)),
  }));
  return object;
}

async function makeRoom(scene: Scene, client: Client, ns: string, signal: AbortSignal): Promise<void> {
  const maps = configMapsOf(client, scene);
  const { items } = await maps.list({ namespace: ns, limit: 0 }, signal);
  for (const { metadata } of items.filter(isOurs)) {
    const { name, uid } = metadata;
    const about = { id: scene.pace.take(), client: LAST, verb: 'delete', ns, name, ifUid: uid } as const;
    await recorded(scene, about, async () => {
      await maps.delete({ namespace: ns, name }, { preconditions: { uid } }, signal);
      return { code: 200 };
    });
  }
}

/** @throws {Error} When a watcher does not see what it should: the history would not tell of it. */
async function caughtUp(watching: readonly Watching[], ends: readonly End[], signal: AbortSignal): Promise<void> {
  const until = performance.now() + CATCH_UP_MS;
  for (const { watcher, selector } of watching) {
    const last = ends.findLast(({ labels = {} }) => matches(selector, labels))?.rv ?? 0;
    while (watcher.seenTo < last && !hasFired(signal)) {
      if (performance.now() > until) throw new Error(`A watcher does not see version ${last} within ${CATCH_UP_MS} ms`);
      await rest(LOOK_EVERY_MS, signal);
    }
  }
}

async function listed(scene: Scene, client: Client, ns: string, signal: AbortSignal): Promise<void> {
  const about = {
    id: scene.pace.take(),
    client: LAST,
    verb: 'list',
    ns,
    name: '',
    read: 'newest',
    selector: '',
  } as const;
  await recorded(scene, about, async () => {
    const { items, resourceVersion } = await configMapsOf(client, scene).list({ namespace: ns, limit: 0 }, signal);
    return { code: 200, items, rv: Number(resourceVersion) };
  });
}

/** What is left of families when nothing dangles any more, or when there was time enough. */
async function collected(scene: Scene, client: Client, signal: AbortSignal): Promise<FinalLine> {
  const ns = scene.namespaces.family;
  const until = performance.now() + COLLECT_MS;
  for (;;) {
    const { items } = await configMapsOf(client, scene).list({ namespace: ns, limit: 0 }, signal);
    const left = items.filter(isOurs).map((it) => {
      const { uid, owner } = bodyOf(it);
      return { name: it.metadata.name, uid, ...(owner === undefined ? {} : { owner }) };
    });
    const there = new Set(left.map(({ uid }) => uid));
    const isClean = left.every(({ owner }) => owner === undefined || there.has(owner));
    if (isClean || performance.now() > until || hasFired(signal)) return { t: 'final', ns, items: left };
    await rest(LOOK_EVERY_MS, signal);
  }
}
