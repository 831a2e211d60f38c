import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { isReadable, type CachedObject } from '../cache/cached-object.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import { prepareForCreate } from '../registry/prepare.js';
import { declaredResource, keyOf, type ResourceTable, type StoredResource } from '../registry/resources.js';
import type { WriteDecision, Writer } from '../registry/writer.js';
import { THE_SERVER } from '../request/users.js';
import { apiServiceOf, withAvailability, type ApiService } from './api-service.js';
import { judgeLocal, localServices, LOCAL, type LocalService } from './local-services.js';

export interface LocalUpkeepDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
  /** Built-in types and resources. */
  readonly catalog: Pick<Catalog, 'resources'>;
  readonly live: Pick<LiveCatalog, 'current'>;
}

const NOTHING: WriteDecision = { do: 'nothing' };
/** Writes at once: a first start has some thirty to do, and clients theirs meanwhile. */
const AT_ONCE = 4;

/**
 * Keeps the objects that stand for what this server serves itself. Every server does; what one has written, the others
 * find in place.
 */
export class LocalUpkeep {
  readonly #d: LocalUpkeepDeps;
  readonly #builtIn: ReadonlySet<string>;
  readonly #label: string;
  readonly stored: StoredResource;
  /** Those kept at the start that were looked at: from then on they are their owner's. */
  readonly #handled = new Set<string>();
  /** Those that were there at the start, until they have been looked at. */
  #atStart: Set<string> | undefined;
  /** What there should be, of the API that was served last. */
  #wanted: { readonly generation: number; readonly all: ReadonlyMap<string, LocalService> } | undefined;
  /** Objects that were found in order, as long as the API is the same. */
  #inOrder = new WeakSet<CachedObject>();

  constructor(d: LocalUpkeepDeps) {
    this.#d = d;
    this.#builtIn = new Set(d.catalog.resources.map(({ group, version }) => `${group}/${version}`));
    this.#label = d.vocabulary.labels.apiServiceAutomanaged;
    this.stored = declaredResource(d.resources, d.vocabulary.groups.apiregistration, 'apiservices');
  }

  /** Looks at every object; what is in order is only read. @throws {StatusError} When one could not be written. */
  async pass(signal: AbortSignal): Promise<void> {
    const wanted = this.#wantedNow();
    const { cache } = this.stored;
    const present = [...cache.objects()].filter(isReadable);
    this.#atStart ??= new Set(present.map(({ name }) => name));
    const names = new Set([
      ...present.filter((object) => !this.#inOrder.has(object)).map(({ name }) => name),
      ...[...wanted.keys()].filter((name) => cache.newest(keyOf(this.stored, '', name)) === undefined),
    ]);
    const rest = names.values();
    const work = async (): Promise<void> => {
      for (const name of rest) if (!signal.aborted) await this.#look(name, wanted.get(name));
    };
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  #wantedNow(): ReadonlyMap<string, LocalService> {
    const { api } = this.#d.live.current;
    if (this.#wanted?.generation === api.generation) return this.#wanted.all;
    const all = localServices(api, this.#builtIn);
    this.#wanted = { generation: api.generation, all };
    this.#inOrder = new WeakSet();
    return all;
  }

  async #look(name: string, wanted: LocalService | undefined): Promise<void> {
    const isAtStart = !this.#handled.has(name);
    const decide = (current: CachedObject | undefined): WriteDecision => {
      if (current === undefined) return this.#made(wanted, isAtStart);
      const atStart = isAtStart && (this.#atStart?.has(name) === true || wanted !== undefined);
      const verdict = judgeLocal(apiServiceOf(current), { wanted, atStart, label: this.#label });
      if (verdict === undefined) return NOTHING;
      return verdict === 'delete' ? { do: 'delete' } : { do: 'put', object: verdict };
    };
    const seen = this.stored.cache.newest(keyOf(this.stored, '', name));
    if (seen !== undefined && !isReadable(seen)) return;
    if (decide(seen).do === 'nothing') {
      if (seen !== undefined) this.#inOrder.add(seen);
    } else {
      await this.#d.writer.write({ stored: this.stored, namespace: '', name }, decide);
    }
    if (wanted !== undefined || this.#atStart?.has(name) === true) this.#handled.add(name);
  }

  /** One that is kept at the start alone is made once: who deletes it has his will until the next start. */
  #made(wanted: LocalService | undefined, isAtStart: boolean): WriteDecision {
    if (wanted === undefined || (wanted.upkept === 'onstart' && !isAtStart)) return NOTHING;
    const { hub } = this.stored;
    const object: ApiObject = {
      kind: hub.kind,
      apiVersion: apiVersionOf(hub),
      metadata: { name: wanted.name, labels: { [this.#label]: wanted.upkept } },
      spec: wanted.spec,
    };
    prepareForCreate(this.stored, object, THE_SERVER);
    return { do: 'put', object: withAvailability(object as ApiService, LOCAL) ?? object };
  }
}
