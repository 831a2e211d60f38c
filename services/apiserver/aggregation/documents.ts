import { isDeepStrictEqual } from 'node:util';
import { workOff } from '../../client/queue/work-off.js';
import { WorkQueue } from '../../client/queue/work-queue.js';
import type { Log } from '../../machinery/log/log.js';
import { NOTHING_REMOTE, type RemoteApi, type RemoteSchemas, type RemoteSpec } from '../registry/remote-api.js';
import type { UserInfo } from '../request/request.js';
import { PeerError, type PeerAnswer, type Peers } from './peers.js';
import { resourcesIn, resourcesOfList } from './remote-discovery.js';
import { hashIn, specOf } from './remote-schemas.js';
import { leadsToSame, type Route, type RouteListener, type Routes } from './routes.js';

export interface DocumentsDeps {
  readonly routes: Routes;
  readonly peers: Pick<Peers, 'get'>;
  /** As whom this server asks others. */
  readonly user: UserInfo;
  /** The group of the form of discovery that holds everything. */
  readonly discoveryGroup: string;
  readonly log: Pick<Log, 'warn'>;
}

/** What is known of one route; kept while its server is away. */
interface Known {
  readonly resources: readonly object[];
  readonly isStale: boolean;
  readonly hash: string | undefined;
  readonly spec: RemoteSpec | undefined;
  /** Of the answers that the rest was read from, by path. */
  readonly etags: ReadonlyMap<string, string>;
}

const NOTHING: Known = { resources: [], isStale: true, hash: undefined, spec: undefined, etags: new Map() };
const EVERY_MS = 60_000;
const RETRY = { leastMs: 500, mostMs: EVERY_MS };
const WITHIN_MS = 5_000;
const AT_ONCE = 2;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_SPEC_BYTES = 16 * 1024 * 1024;
/** The longest schemas of version 2 that are kept of one route, and of all together, as JSON. */
const MAX_KEPT = 4 * 1024 * 1024;
const MAX_KEPT_IN_ALL = 32 * 1024 * 1024;

/**
 * What the servers behind this one tell of themselves, asked for in the background: no client waits for them. A server that
 * is away is told of as it was last.
 */
export class RemoteDocuments implements RouteListener {
  readonly #d: DocumentsDeps;
  readonly #queue = new WorkQueue({ retry: RETRY });
  readonly #known = new Map<string, Known>();
  readonly #kept = new Map<string, number>();
  #current: RemoteApi = NOTHING_REMOTE;

  constructor(d: DocumentsDeps) {
    this.#d = d;
    d.routes.listen(this);
  }

  /** The newest; made when something changes. */
  get current(): RemoteApi {
    return this.#current;
  }

  changed(name: string, before: Route | undefined, next: Route | undefined): void {
    if (next === undefined || (before !== undefined && !leadsToSame(before, next))) {
      this.#known.delete(name);
      this.#kept.delete(name);
    }
    this.#tell();
    if (next !== undefined && (before?.isAvailable !== next.isAvailable || !leadsToSame(before, next))) this.#queue.add(name); // prettier-ignore
  }

  /** Until `signal` fires. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work(signal)));
    this.#queue.shutDown();
  }

  #work(stop: AbortSignal): Promise<void> {
    return workOff(this.#queue, {
      stop,
      work: async (name) => {
        if (await this.#look(name, stop)) this.#queue.forget(name);
        else this.#queue.addRateLimited(name);
      },
      failed: (name, err) => this.#d.log.warn('What another server serves could not be found out', { name, err }),
    });
  }

  /** @returns Whether it need not be asked again before its time. */
  async #look(name: string, signal: AbortSignal): Promise<boolean> {
    const route = this.#d.routes.named(name);
    if (route === undefined) return true;
    if (!route.isAvailable) {
      this.#put(route, { ...(this.#known.get(name) ?? NOTHING), isStale: true });
      return true; // it is looked at as soon as it is available
    }
    const asked = new Asked(this.#d, route, this.#known.get(name) ?? NOTHING, signal);
    const found = await asked.all();
    const now = this.#d.routes.named(name);
    if (now === undefined || !leadsToSame(now, route)) return true; // another look is due already
    this.#put(route, found);
    if (!found.isStale) this.#queue.addAfter(name, EVERY_MS);
    return !found.isStale;
  }

  #put({ name }: Route, found: Known): void {
    const { spec } = found;
    const before = this.#known.get(name);
    const bytes = spec === undefined ? 0 : spec === before?.spec ? (this.#kept.get(name) ?? 0) : JSON.stringify(spec).length; // prettier-ignore
    const others = [...this.#kept].reduce((sum, [other, kept]) => (other === name ? sum : sum + kept), 0);
    const isTooMuch = bytes > MAX_KEPT || others + bytes > MAX_KEPT_IN_ALL;
    if (isTooMuch) this.#d.log.warn('The schemas of another server are too large to be shown', { name, bytes });
    this.#kept.set(name, isTooMuch ? 0 : bytes);
    this.#known.set(name, isTooMuch ? { ...found, spec: undefined } : found);
    this.#tell();
  }

  /** What differs is another list; what does not stays the same one, and with it the documents made of it. */
  #tell(): void {
    const routes = [...this.#d.routes.all].sort((a, b) => (a.name < b.name ? -1 : 1));
    const versions = routes.map((route) => {
      const { group, version, groupPriority, versionPriority } = route;
      const { resources, isStale } = this.#known.get(route.name) ?? NOTHING;
      return { group, version, groupPriority, versionPriority, resources, isStale };
    });
    const schemas = routes.flatMap(({ name, group, version }): RemoteSchemas[] => {
      const { hash, spec } = this.#known.get(name) ?? NOTHING;
      return hash === undefined && spec === undefined ? [] : [{ path: `apis/${group}/${version}`, group, version, hash, spec }]; // prettier-ignore
    });
    const { current } = this;
    this.#current = {
      versions: isDeepStrictEqual(versions, current.versions) ? current.versions : versions,
      schemas: isDeepStrictEqual(schemas, current.schemas) ? current.schemas : schemas,
    };
  }
}

/** One look at a server: what has not changed there is not sent again. */
class Asked {
  readonly #d: DocumentsDeps;
  readonly #route: Route;
  readonly #before: Known;
  readonly #signal: AbortSignal;
  readonly #etags = new Map<string, string>();

  constructor(d: DocumentsDeps, route: Route, before: Known, signal: AbortSignal) {
    this.#d = d;
    this.#route = route;
    this.#before = before;
    this.#signal = signal;
  }

  async all(): Promise<Known> {
    try {
      const resources = await this.#resources();
      const hash = await this.#hash();
      const spec = await this.#spec();
      return { resources, isStale: false, hash, spec, etags: this.#etags };
    } catch (err) {
      if (!(err instanceof PeerError)) throw err;
      return { ...this.#before, isStale: true };
    }
  }

  async #resources(): Promise<readonly object[]> {
    const { resources: before } = this.#before;
    const { discoveryGroup: g } = this.#d;
    const form = (v: string): string => `application/json;g=${g};v=${v};as=APIGroupDiscoveryList`;
    const whole = await this.#ask('/apis', { accept: `${form('v2')},${form('v2beta1')}` });
    if (whole.status === 304) return before;
    const isWhole = whole.status === 200 && whole.type.includes('as=APIGroupDiscoveryList');
    const found = isWhole ? resourcesIn(parsed(whole), this.#route) : undefined;
    if (found !== undefined) return found;
    this.#etags.delete('/apis');
    const path = `/apis/${this.#route.group}/${this.#route.version}`;
    const list = await this.#ask(path, {});
    if (list.status === 304) return before;
    if (list.status !== 200) throw new PeerError(`bad status: ${list.status}`);
    return resourcesOfList(parsed(list), this.#route);
  }

  async #hash(): Promise<string | undefined> {
    const index = await this.#ask('/openapi/v3', {});
    if (index.status === 304) return this.#before.hash;
    return index.status === 200 ? hashIn(parsed(index), `apis/${this.#route.group}/${this.#route.version}`) : undefined;
  }

  async #spec(): Promise<RemoteSpec | undefined> {
    const answer = await this.#ask('/openapi/v2', {}, MAX_SPEC_BYTES);
    if (answer.status === 304) return this.#before.spec;
    if (answer.status !== 200) return undefined;
    try {
      return specOf(parsed(answer), this.#route);
    } catch (err) {
      throw new PeerError(`/openapi/v2: ${err instanceof Error ? err.message : ''}`, { cause: err });
    }
  }

  async #ask(path: string, headers: { accept?: string }, maxBytes = MAX_BYTES): Promise<PeerAnswer> {
    const known = this.#before.isStale ? undefined : this.#before.etags.get(path);
    const given = known === undefined ? {} : { 'if-none-match': known };
    const { user, peers } = this.#d;
    const question = { path, user, headers: { ...headers, ...given }, maxBytes, withinMs: WITHIN_MS };
    const answer = await peers.get(this.#route, question, this.#signal);
    const etag = answer.status === 304 ? known : answer.etag;
    if (etag !== undefined && etag !== '' && etag.length <= 1_024) this.#etags.set(path, etag);
    if (answer.status === 304 && known === undefined) throw new PeerError('bad status: 304');
    return answer;
  }
}

/** @throws {PeerError} */
function parsed({ body }: PeerAnswer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (err) {
    throw new PeerError('the answer is no JSON', { cause: err });
  }
}
