import type { Log } from '../../machinery/log/log.js';
import { rest } from '../../machinery/loop/repeat.js';
import { firstOf } from '../deadline/deadline.js';
import type { ApiClient, ResourceClient } from '../rest/client.js';
import type { AnyObject, Live, ResourceType } from '../rest/resource-type.js';
import type { Informer, Informers, Selection } from './informer.js';
import { Reflector, type Server } from './reflector.js';
import { SharedInformer } from './shared-informer.js';

export interface InformersOptions {
  readonly log: Log;
  /**
   * Makes of each object what is kept and handed on of it, e.g. without parts that nobody looks at. Keeps name, namespace,
   * uid and resourceVersion, and may be given what it made.
   *
   * @default Objects are kept as they came.
   */
  readonly transform?: <T extends AnyObject>(object: Live<T>, of: 'object' | 'metadata') => Live<T>;
  /** How often handlers are told of all that is there, changed or not. Absent: never. */
  readonly resyncMs?: number;
  /** How long an informer waits that was interrupted. @default 100 ms to 30 s, with jitter */
  readonly retry?: { readonly leastMs: number; readonly mostMs: number };
}

/** Informers that a client feeds, for one process. */
export const openInformers = (client: Pick<ApiClient, 'resource' | 'metadata'>, o: InformersOptions): Informers =>
  new ClientInformers(client, o);

interface Entry {
  readonly informer: Informer<AnyObject>;
  /** Runs until the signal fires. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly dropped: AbortController;
}

class ClientInformers implements Informers {
  readonly #client: Pick<ApiClient, 'resource' | 'metadata'>;
  readonly #o: InformersOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #server: Server = { streamsState: true };
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(client: Pick<ApiClient, 'resource' | 'metadata'>, o: InformersOptions) {
    this.#client = client;
    this.#o = o;
  }

  of<T extends AnyObject>(type: ResourceType<T>, selection: Selection = {}): Informer<T> {
    const open = (): Entry => this.#open(this.#client.resource(type), 'object', selection);
    // Of this type, for the name holds it.
    return this.#entry(`${nameOf(type)} object ${nameOfSelection(selection)}`, open) as Informer<T>;
  }

  metadataOf(type: ResourceType, selection: Selection = {}): Informer<AnyObject> {
    const open = (): Entry => this.#open(this.#client.metadata(type), 'metadata', selection);
    return this.#entry(`${nameOf(type)} metadata ${nameOfSelection(selection)}`, open);
  }

  drop(type: ResourceType): void {
    for (const [name, { dropped }] of this.#entries) {
      if (!name.startsWith(`${nameOf(type)} `)) continue;
      dropped.abort();
      this.#entries.delete(name);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const entry of this.#entries.values()) this.#start(entry, signal);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all(this.#running);
  }

  #entry(name: string, open: () => Entry): Informer<AnyObject> {
    const known = this.#entries.get(name);
    if (known !== undefined) return known.informer;
    const entry = open();
    this.#entries.set(name, entry);
    if (this.#signal !== undefined) this.#start(entry, this.#signal);
    return entry.informer;
  }

  #open<T extends AnyObject>(client: ResourceClient<T>, of: 'object' | 'metadata', selection: Selection): Entry {
    const { resyncMs, transform, ...o } = this.#o;
    const informer = new SharedInformer<T>(client.type, o.log, (object) => transform?.(object, of) ?? object);
    const reflector = new Reflector({ client, selection, sink: informer, server: this.#server, ...o });
    const run = async (signal: AbortSignal): Promise<void> => {
      await Promise.all([
        reflector.run(signal),
        resyncMs === undefined ? undefined : resync(informer, resyncMs, signal),
      ]);
    };
    return { informer, run, dropped: new AbortController() };
  }

  #start({ run, dropped }: Entry, signal: AbortSignal): void {
    const either = firstOf(signal, dropped.signal);
    const running = run(either.signal).finally(() => {
      either.end();
      this.#running.delete(running);
    });
    this.#running.add(running);
  }
}

async function resync(informer: { resync(): void }, everyMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await rest(everyMs, signal);
    if (signal.aborted) return;
    informer.resync();
  }
}

const nameOf = ({ group, version, resource }: ResourceType): string => `${group}/${version}/${resource}`;

const nameOfSelection = ({ namespace = '', labelSelector = '', fieldSelector = '' }: Selection): string =>
  JSON.stringify([namespace, labelSelector, fieldSelector]);
