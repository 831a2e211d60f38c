import { randomUUID } from 'node:crypto';
import { lead, type Leadership } from '../../client/election/leader-election.js';
import type { ApiClient, ResourceClient } from '../../client/rest/client.js';
import type { Live } from '../../client/rest/resource-type.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import type { Random } from '../random/random.js';
import { TRANSITIONS } from '../validators/leaders.js';
import { recorded } from './record.js';
import { configMapsOf, openClient, type Scene } from './scene.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
/** How often a leader writes, and looks whether it leads still. */
const EVERY_MS = 25;
const WRITE_EVERY = 6;
/** Longest that it leads before it lets another one. */
const MOST_TURN_MS = 6_000;

/** Takes a lease when it can, writes under it for a while, and gives it back. */
export class Contender {
  readonly #scene: Scene;
  readonly #index: number;
  readonly #lease: string;
  readonly #random: Random;
  readonly #client: ApiClient;
  readonly #maps: ResourceClient<ConfigMap>;
  #tokens = 0;

  constructor(scene: Scene, index: number, o: { readonly lease: string; readonly random: Random }) {
    this.#scene = scene;
    this.#index = index;
    this.#lease = o.lease;
    this.#random = o.random;
    this.#client = openClient(scene, index);
    this.#maps = configMapsOf(this.#client, scene);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!hasFired(signal)) await this.#turn(signal);
    } finally {
      this.#client.close();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { installation, namespaces, log } = this.#scene;
    const holder = `${this.#index}-${randomUUID().slice(0, 8)}`;
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end);
    const lease = { namespace: namespaces.fence, name: this.#lease };
    const quiet = { ...log, info: () => undefined, warn: () => undefined };
    const election = { client: this.#client, vocabulary: installation.vocabulary, lease, identity: holder, ...TIMES };
    const turnMs = this.#random.next() * MOST_TURN_MS;
    const work = async (leadership: Leadership): Promise<void> => {
      await this.#work(holder, turnMs, leadership);
      end();
    };
    try {
      await lead({ ...election, log: quiet }, work, over.signal);
    } finally {
      signal.removeEventListener('abort', end);
    }
    await rest(this.#random.next() * TIMES.retryPeriodMs, signal); // others have their turn
  }

  async #work(holder: string, turnMs: number, leadership: Leadership): Promise<void> {
    const { recorder } = this.#scene;
    const from = recorder.now();
    let to = from;
    for (let i = 0; recorder.now() - from < turnMs && !leadership.signal.aborted; i++) {
      const now = recorder.now();
      if (!leadership.isHeld()) break;
      to = now;
      if (i % WRITE_EVERY === 0) await this.#write(leadership);
      else await rest(EVERY_MS, leadership.signal);
    }
    const { transitions } = leadership;
    recorder.write({ t: 'turn', lease: this.#lease, holder, transitions, from, to });
  }

  /** Reads what leaders before have left, and writes over it: what comes late from a leader of the past is refused. */
  async #write(leadership: Leadership): Promise<void> {
    const { namespaces, pace } = this.#scene;
    const at = { client: -1 - this.#index, ns: namespaces.fence, name: `fence-${this.#lease}` };
    const name = { namespace: at.ns, name: at.name };
    const signal = leadership.lost;
    const read = { ...at, id: pace.take(), verb: 'get', read: 'newest' } as const;
    const { object, code } = await recorded(this.#scene, read, async () => ({
      code: 200,
      object: await this.#maps.get(name, signal),
    }));
    const mayWrite = leadership.isHeld() && (object !== undefined || code === 404);
    if (!mayWrite || Number(object?.data?.[TRANSITIONS] ?? 0) > leadership.transitions) return;
    await this.#put(at, object, leadership);
  }

  async #put(
    at: { readonly client: number; readonly ns: string; readonly name: string },
    before: Live<ConfigMap> | undefined,
    { transitions, lost }: Leadership,
  ): Promise<void> {
    const token = `${this.#index}.${this.#tokens++}`;
    const sent = { labels: {}, data: { v: token, [TRANSITIONS]: String(transitions) } };
    const about = { ...at, id: this.#scene.pace.take(), sent, token };
    const { resourceVersion } = before?.metadata ?? {};
    const metadata = { namespace: at.ns, name: at.name, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const object = { metadata, data: sent.data };
    const asked =
      resourceVersion === undefined
        ? ({ ...about, verb: 'create' } as const)
        : ({ ...about, verb: 'update', ifRv: Number(resourceVersion) } as const);
    await recorded(this.#scene, asked, async () => ({
      code: 200,
      object:
        asked.verb === 'create' ? await this.#maps.create(object, {}, lost) : await this.#maps.update(object, {}, lost),
    }));
  }
}
