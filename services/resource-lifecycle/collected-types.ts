import type { DiscoveredResource, Discovery } from '../client/discovery/discovery.js';
import type { Informers } from '../client/informer/informer.js';
import type { Metadata, ResourceType } from '../client/rest/resource-type.js';
import type { Log } from '../machinery/log/log.js';
import { rest, repeat } from '../machinery/loop/repeat.js';

/** Told of the objects of all types that are followed. */
export interface MetadataSink {
  readonly observe: (type: ResourceType, object: Metadata) => void;
  readonly remove: (type: ResourceType, last: Metadata) => void;
  /** Nothing will be known of an object any more, whether it is there or not. */
  readonly lose: (type: ResourceType, last: Metadata) => void;
}

export interface CollectedTypesDeps {
  readonly discovery: Discovery;
  readonly informers: Pick<Informers, 'metadataOf' | 'drop'>;
  readonly log: Log;
  readonly isFollowed: (type: DiscoveredResource) => boolean;
  readonly sink: MetadataSink;
  /** Told when more is known of types than before. */
  readonly changed: () => void;
}

interface Followed {
  readonly type: DiscoveredResource;
  readonly isSynced: () => boolean;
  readonly synced: (signal: AbortSignal) => Promise<void>;
  readonly end: () => void;
}

/** How often a server is asked again that could not tell all of its types. */
const AGAIN_MS = 30_000;

/** Follows the metadata of the objects of all types that a server serves, as types come and go. */
export class CollectedTypes {
  readonly #d: CollectedTypesDeps;
  /** By group and resource: one version of each. */
  readonly #followed = new Map<string, Followed>();
  #kinds: ReadonlyMap<string, DiscoveredResource> = new Map();
  #failed: readonly string[] = [];
  #wake: () => void = () => undefined;

  constructor(d: CollectedTypesDeps) {
    this.#d = d;
  }

  /** undefined: there is no such kind, or its group could not be asked. */
  ofKind(apiVersion = '', kind = ''): DiscoveredResource | undefined {
    return this.#kinds.get(nameOfKind(apiVersion, kind));
  }

  /** All types that are followed. */
  get all(): readonly ResourceType[] {
    return [...this.#followed.values()].map(({ type }) => type);
  }

  /** Whether all objects of a type were seen, if it is one that is followed. */
  isSynced(type: ResourceType): boolean {
    return this.#followed.get(nameOf(type))?.isSynced() ?? true;
  }

  /** Whether all objects of all types that are known were seen. */
  get areSynced(): boolean {
    return [...this.#followed.values()].every(({ isSynced }) => isSynced());
  }

  /** Whether there may be objects of types that could not be asked for. */
  get isPartial(): boolean {
    const known = new Set([...this.#followed.values()].map(({ type }) => groupVersionOf(type)));
    return this.#failed.some((groupVersion) => !known.has(groupVersion));
  }

  /** Finds the types and waits for their objects. @throws `signal.reason` */
  async synced(signal: AbortSignal): Promise<void> {
    const round = async (): Promise<'finished'> => {
      await this.#follow({}, signal);
      return 'finished';
    };
    await repeat({ round, onFailure: (err) => this.#failedWith(err) }, signal);
    signal.throwIfAborted();
    await Promise.all([...this.#followed.values()].map((one) => one.synced(signal)));
  }

  /**
   * Follows types as they come and go. Never throws.
   *
   * @param isWaiting Whether something waits for types that are not known.
   */
  async run(isWaiting: () => boolean, signal: AbortSignal): Promise<void> {
    let isDue = true;
    const unlisten = this.#d.discovery.listen(() => {
      isDue = true;
      this.#wake();
    });
    const round = async (): Promise<number> => {
      const fresh = !isDue;
      if (!fresh || isWaiting() || this.#failed.length > 0) {
        isDue = false;
        const before = this.#known;
        await this.#follow({ fresh }, signal);
        if (this.#known !== before) this.#d.changed();
      }
      if (!isDue) await this.#woken(signal);
      return 0;
    };
    const onFailure = (err: unknown): void => {
      isDue = true;
      this.#failedWith(err);
    };
    await repeat({ round, onFailure }, signal);
    unlisten();
  }

  get #known(): string {
    return [...this.#kinds.keys(), ...this.#failed].join();
  }

  #failedWith(err: unknown): void {
    this.#d.log.warn('The types of the server cannot be found', { err });
  }

  /** Resolves when types may have changed, and from time to time. */
  async #woken(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#wake = () => over.abort();
    await rest(AGAIN_MS, AbortSignal.any([signal, over.signal]));
  }

  async #follow(o: { readonly fresh?: boolean }, signal: AbortSignal): Promise<void> {
    const { resources, failed } = await this.#d.discovery.served(o, signal);
    if (resources.length === 0) throw new Error('The server tells of no types');
    const unasked = new Set(failed);
    const before = [...this.#kinds.values()].filter((type) => unasked.has(groupVersionOf(type)));
    this.#kinds = new Map([...before, ...resources].map((type) => [nameOfKind(groupVersionOf(type), type.kind), type]));
    this.#failed = failed;
    const wanted = chosen(resources.filter(this.#d.isFollowed), (name) => this.#followed.get(name)?.type);
    for (const [name, { type, end }] of this.#followed) {
      const now = wanted.get(name);
      if (now?.version === type.version || (now === undefined && unasked.has(groupVersionOf(type)))) continue;
      this.#followed.delete(name);
      end();
    }
    for (const [name, type] of wanted) if (!this.#followed.has(name)) this.#begin(name, type, signal);
  }

  #begin(name: string, type: DiscoveredResource, signal: AbortSignal): void {
    const { sink, informers, changed } = this.#d;
    const informer = informers.metadataOf(type);
    const observe = (object: Metadata): void => sink.observe(type, object);
    const unhandle = informer.handle({ added: observe, updated: observe, deleted: (last) => sink.remove(type, last) });
    const end = (): void => {
      unhandle();
      informers.drop(type);
      for (const object of informer.store.list()) sink.lose(type, object);
    };
    const synced = (until: AbortSignal): Promise<void> => informer.synced(until);
    this.#followed.set(name, { type, isSynced: () => informer.isSynced, synced, end });
    if (!informer.isSynced) void synced(signal).then(changed, () => undefined); // it ends
  }
}

/** One version of each resource: the one that is followed already, or else the preferred one. */
function chosen(
  resources: readonly DiscoveredResource[],
  followed: (name: string) => DiscoveredResource | undefined,
): ReadonlyMap<string, DiscoveredResource> {
  const wanted = new Map<string, DiscoveredResource>();
  for (const type of resources) {
    const name = nameOf(type);
    const rank = ({ version, isPreferred }: DiscoveredResource): number =>
      version === followed(name)?.version ? 2 : Number(isPreferred);
    const other = wanted.get(name);
    if (other === undefined || rank(type) > rank(other)) wanted.set(name, type);
  }
  return wanted;
}

const nameOf = ({ group, resource }: ResourceType): string => `${group}/${resource}`;

const groupVersionOf = ({ group, version }: ResourceType): string => (group === '' ? version : `${group}/${version}`);

const nameOfKind = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`;
