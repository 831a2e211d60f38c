import { isApiError, type ApiClient, type ResourceClient, type WatchEvent } from '../../client/rest/client.js';
import type { Live } from '../../client/rest/resource-type.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import type { EventType } from '../history/lines.js';
import { recorded } from './record.js';
import { bodyOf, configMapsOf, isOurs, openClient, versionOf, type Scene } from './scene.js';

const GONE = 410;
const PAUSE_MS = 100;
/** Each stream is ended and resumed after a while, as those of informers are. */
const STREAM_SECONDS = 45;
const TYPES: Readonly<Record<'ADDED' | 'MODIFIED' | 'DELETED', EventType>> = {
  ADDED: 'A',
  MODIFIED: 'M',
  DELETED: 'D',
};

let streams = 0;

/** Watches a namespace from a list on, goes on where it was cut, and begins anew when the server has forgotten that. */
export class Watcher {
  readonly #scene: Scene;
  readonly #index: number;
  readonly #ns: string;
  readonly #selector: string;
  readonly #client: ApiClient;
  readonly #maps: ResourceClient<ConfigMap>;
  /** The last version it has seen; 0: it has to list. */
  #seenTo = 0;
  #listId: number | undefined;

  constructor(scene: Scene, index: number, o: { readonly ns: string; readonly selector: string }) {
    this.#scene = scene;
    this.#index = index;
    this.#ns = o.ns;
    this.#selector = o.selector;
    this.#client = openClient(scene, index);
    this.#maps = configMapsOf(this.#client, scene);
  }

  /** The last version that it has seen. */
  get seenTo(): number {
    return this.#seenTo;
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!hasFired(signal)) {
        if (this.#seenTo === 0 && !(await this.#list(signal))) {
          await rest(PAUSE_MS, signal);
          continue;
        }
        await this.#stream(signal);
      }
    } finally {
      this.#client.close();
    }
  }

  async #list(signal: AbortSignal): Promise<boolean> {
    const id = this.#scene.pace.take();
    const about = { id, client: -1 - this.#index, verb: 'list', ns: this.#ns, name: '' } as const;
    const { rv = 0 } = await recorded(this.#scene, { ...about, read: 'newest', selector: this.#selector }, async () => {
      const { items, resourceVersion } = await this.#maps.list(this.#scope, signal);
      return { code: 200, items, rv: Number(resourceVersion) };
    });
    this.#seenTo = rv;
    this.#listId = id;
    return rv > 0;
  }

  get #scope(): { namespace: string; labelSelector: string } {
    return { namespace: this.#ns, labelSelector: this.#selector };
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const { recorder } = this.#scene;
    const stream = streams++;
    const list = this.#listId;
    this.#listId = undefined;
    const about = { t: 'watch', stream, watcher: this.#index, ns: this.#ns, selector: this.#selector } as const;
    recorder.write({ ...about, from: this.#seenTo, ...(list === undefined ? {} : { list }), at: recorder.now() });
    const why = await this.#follow(stream, signal);
    recorder.write({ t: 'cut', stream, at: recorder.now(), why });
    if (why !== 'end') await rest(PAUSE_MS, signal);
  }

  /** @returns Why it ended. */
  async #follow(stream: number, signal: AbortSignal): Promise<string> {
    const from = { resourceVersion: String(this.#seenTo), allowWatchBookmarks: true, timeoutSeconds: STREAM_SECONDS };
    try {
      for await (const event of this.#maps.watch({ ...this.#scope, ...from }, signal)) this.#event(stream, event);
      return 'end';
    } catch (err) {
      if (isApiError(err) && err.code === GONE) this.#seenTo = 0;
      return isApiError(err) ? String(err.code) : 'no answer';
    }
  }

  #event(stream: number, event: WatchEvent<Live<ConfigMap>>): void {
    const { recorder } = this.#scene;
    const at = recorder.now();
    if (event.type === 'BOOKMARK') {
      this.#seenTo = Number(event.resourceVersion);
      recorder.write({ t: 'ev', stream, type: 'B', at, seen: ['', this.#seenTo, ''] });
      return;
    }
    const { object } = event;
    const rv = versionOf(object);
    this.#seenTo = rv;
    if (!isOurs(object)) return;
    const seen = recorder.seen(this.#ns, object.metadata.name, rv, bodyOf(object));
    recorder.write({ t: 'ev', stream, type: TYPES[event.type], at, seen });
  }
}
