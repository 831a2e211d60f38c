import { groupVersionPath } from '../../machinery/meta/gvk.js';
import { apiVersionOf } from '../../machinery/meta/object.js';
import type { Log } from '../../machinery/log/log.js';
import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { unlessAborted } from '../deadline/deadline.js';
import type { Informers } from '../informer/informer.js';
import { builtInTypes } from '../rest/built-in-types.js';
import { ApiError, type ApiClient } from '../rest/client.js';
import type { DiscoveredResource, Discovery, Served } from './discovery.js';
import { preferring, resourcesOf, versionsOf, type GroupsDocument, type VersionDocument } from './documents.js';

export interface DiscoveryOptions {
  readonly vocabulary: Vocabulary;
  readonly log: Log;
  /** Tell of definitions and of servers of groups that come and go. Absent: only `run`'s rounds do. */
  readonly informers?: Informers;
  /** Milliseconds that only rise. */
  readonly now?: () => number;
}

/** A discovery that is kept up to date while `run` goes on. */
export interface RunningDiscovery extends Discovery {
  /** Asks again when definitions change, and now and then. Resolves when `signal` fires. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Changes that come together are asked about together. */
const SETTLE_MS = 300;
const ROUND_MS = 120_000;
/** The same while some groups could not be asked. */
const FAILED_ROUND_MS = 15_000;
/** Kinds that were not found, and how long that is believed. */
const MOST_MISSES = 1_024;
const MISS_MS = 10_000;

export const openDiscovery = (client: Pick<ApiClient, 'raw'>, o: DiscoveryOptions): RunningDiscovery =>
  new ClientDiscovery(client, o);

class ClientDiscovery implements RunningDiscovery {
  readonly #client: Pick<ApiClient, 'raw'>;
  readonly #o: DiscoveryOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  /** What was served when it was last asked, unless that has changed since. */
  #known: Served | undefined;
  /** Changes that were heard of. An answer that was asked for before the last one does not count. */
  #changes = 0;
  #told = '';
  #asking: Promise<Served> | undefined;
  /** Changes that were heard of when that began. */
  #changesBefore = 0;
  /** Begins when the present one has ended. */
  #next: Promise<Served> | undefined;
  readonly #misses = new Map<string, number>();
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(client: Pick<ApiClient, 'raw'>, o: DiscoveryOptions) {
    this.#client = client;
    this.#o = o;
    this.#now = o.now ?? (() => performance.now());
    const { customResourceDefinitions, apiServices } = builtInTypes(o.vocabulary);
    const changed = (): void => this.#changed();
    for (const type of [customResourceDefinitions, apiServices]) {
      o.informers?.metadataOf(type).handle({ added: changed, updated: changed, deleted: changed });
    }
  }

  served({ fresh = false }: { readonly fresh?: boolean }, signal: AbortSignal): Promise<Served> {
    if (!fresh && this.#known !== undefined) return Promise.resolve(this.#known);
    const present = this.#changesBefore === this.#changes && !fresh ? this.#asking : undefined;
    return unlessAborted(present ?? this.#ask(), signal);
  }

  async resourceOf(
    { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
    signal: AbortSignal,
  ): Promise<DiscoveredResource | undefined> {
    const find = ({ resources }: Served): DiscoveredResource | undefined =>
      resources.find((it) => it.kind === kind && apiVersionOf(it) === apiVersion);
    const found = find(await this.served({}, signal));
    const name = `${apiVersion} ${kind}`;
    if (found !== undefined || this.#isMissed(name)) return found;
    const fresh = await this.served({ fresh: true }, signal);
    const foundNow = find(fresh);
    if (foundNow === undefined) {
      if (fresh.failed.includes(apiVersion)) throw new Error(`The resources of ${apiVersion} cannot be asked for`);
      this.#miss(name);
    }
    return foundNow;
  }

  listen(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => void this.#listeners.delete(changed);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!hasFired(signal)) {
      try {
        await this.served({ fresh: true }, signal);
      } catch (err) {
        if (hasFired(signal)) return;
        this.#o.log.warn('What is served cannot be asked for', { err });
      }
      await this.#woken(this.#known?.failed.length === 0 ? ROUND_MS : FAILED_ROUND_MS, signal);
      await rest(SETTLE_MS, signal);
    }
  }

  /** Something is served, or not any more: what is known does not count. */
  #changed(): void {
    this.#known = undefined;
    this.#changes++;
    this.#misses.clear();
    this.#isWoken = true;
    this.#wake();
  }

  async #woken(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken) {
      const early = new AbortController();
      const end = (): void => early.abort();
      this.#wake = end;
      signal.addEventListener('abort', end, { once: true });
      await rest(ms, early.signal);
      signal.removeEventListener('abort', end);
    }
    this.#isWoken = false;
  }

  #ask(): Promise<Served> {
    const present = this.#asking;
    if (present === undefined) return this.#begin();
    const begin = (): Promise<Served> => {
      this.#next = undefined;
      return this.#ask();
    };
    return (this.#next ??= present.then(begin, begin));
  }

  #begin(): Promise<Served> {
    const changes = this.#changes;
    this.#changesBefore = changes;
    const asking = this.#askServer()
      .then((served) => this.#note(served, changes === this.#changes))
      .finally(() => (this.#asking = undefined));
    this.#asking = asking;
    return asking;
  }

  #note(served: Served, isCurrent: boolean): Served {
    if (isCurrent) this.#known = served;
    const form = JSON.stringify(served, (_, value: unknown) => (value instanceof Set ? [...value] : value));
    if (form === this.#told) return served;
    this.#told = form;
    for (const listener of [...this.#listeners]) listener();
    return served;
  }

  async #askServer(): Promise<Served> {
    const documents = await Promise.all([this.#get('/api'), this.#get('/apis')]);
    const versions = documents.flatMap((document) => versionsOf(document as GroupsDocument));
    const whole = await Promise.all(versions.map((version) => this.#whole(version)));
    return {
      resources: preferring(whole),
      failed: whole.filter(({ isStale }) => isStale).map((version) => apiVersionOf(version)),
    };
  }

  async #whole(version: VersionDocument): Promise<VersionDocument> {
    if (version.resources !== undefined) return version;
    try {
      return { ...version, resources: resourcesOf(await this.#get(groupVersionPath(version))) };
    } catch (err) {
      this.#o.log.warn('The resources of a group cannot be asked for', { group: apiVersionOf(version), err });
      return { ...version, isStale: true };
    }
  }

  async #get(path: string): Promise<object> {
    const { status, body } = await this.#client.raw({ method: 'GET', path, headers: { accept: this.#accept } }, NEVER);
    if (status !== 200) throw new ApiError(status, `GET ${path}: the server answered with the status ${status}`);
    return JSON.parse(body.toString('utf8')) as object;
  }

  get #accept(): string {
    const group = this.#o.vocabulary.apiDiscoveryGroup;
    const form = (version: string): string => `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    return [form('v2'), form('v2beta1'), 'application/json'].join(', ');
  }

  #isMissed(name: string): boolean {
    return this.#now() - (this.#misses.get(name) ?? -Infinity) < MISS_MS;
  }

  #miss(name: string): void {
    if (this.#misses.size >= MOST_MISSES) this.#misses.clear();
    this.#misses.set(name, this.#now());
  }
}

/** Those who wait may leave; the client has bounds of its own. */
const NEVER = new AbortController().signal;
