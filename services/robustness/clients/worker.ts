import type { ApiClient, ResourceClient } from '../../client/rest/client.js';
import type { Live } from '../../client/rest/resource-type.js';
import { collectionPath } from '../../client/rest/paths.js';
import { rest } from '../../machinery/loop/repeat.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import type { Sent, Verb } from '../history/lines.js';
import type { Random } from '../random/random.js';
import { recorded, type Answered, type Asked } from './record.js';
import { configMapsOf, openClient, versionOf, type Scene } from './scene.js';

export const COLORS = ['red', 'green', 'blue'];
export const SELECTORS = ['color=red', 'color!=blue', 'color in (green,blue)', '!color'];
const OK = 200;
/** After a failure: a client that asks at once, for ever, measures nothing. */
const PAUSE_MS = 50;
const PAGE = 5;

type Kept = Pick<Live<ConfigMap>, 'metadata' | 'data'>;

const MAIN: Readonly<Record<Verb, number>> = { create: 18, update: 18, patch: 15, apply: 12, delete: 12, get: 15, list: 10 }; // prettier-ignore
const COUNTED: Readonly<Record<'create' | 'delete' | 'list', number>> = { create: 55, delete: 40, list: 5 };
const POOLS = { main: 76, quota: 12, family: 12 };

/** A client that does one operation after the other, chosen by its numbers. */
export class Worker {
  readonly #scene: Scene;
  readonly #index: number;
  readonly #random: Random;
  readonly #client: ApiClient;
  readonly #maps: ResourceClient<ConfigMap>;
  /** What it has seen last of each object; of those that are written no more there is nothing after a while. */
  readonly #memory = new Map<string, Kept>();
  readonly #never = new AbortController().signal;
  #tokens = 0;

  static readonly #REMEMBERED = 200;

  constructor(scene: Scene, index: number, random: Random) {
    this.#scene = scene;
    this.#index = index;
    this.#random = random;
    this.#client = openClient(scene, index);
    this.#maps = configMapsOf(this.#client, scene);
  }

  /** Until `signal` fires or there are enough operations; what is under way is answered, or is not in the client's own time. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const id = await this.#scene.pace.next(signal);
        if (id === undefined) return;
        const { code } = await this.#operation(id, this.#never);
        if (code === 0 || code >= 500) await rest(PAUSE_MS, signal);
      }
    } finally {
      this.#client.close();
    }
  }

  async #operation(id: number, signal: AbortSignal): Promise<Answered> {
    const { names, namespaces } = this.#scene;
    const old = names.next();
    if (old !== undefined) return this.#delete({ id, ns: namespaces[old.pool], name: old.name }, signal, 'given up');
    const pool = this.#random.weighted(POOLS);
    const number = names.choose(this.#random.next());
    const ns = namespaces[pool];
    if (pool === 'quota') return this.#counted(id, ns, signal);
    if (pool === 'family') return this.#family(id, ns, number, signal);
    return this.#main(this.#random.weighted(MAIN), { id, ns, name: `o-${number}` }, signal);
  }

  #main(verb: Verb, at: At, signal: AbortSignal): Promise<Answered> {
    const does: Readonly<Record<Verb, () => Promise<Answered>>> = {
      create: () => this.#create(at, { labels: this.#labels() }, signal),
      update: () => this.#update(at, signal),
      patch: () => this.#patch(at, signal),
      apply: () => this.#apply(at, signal),
      delete: () => this.#delete(at, signal),
      get: () => this.#get(at, this.#random.below(4) === 0 ? 'any' : 'newest', signal),
      list: () => this.#list(at, signal),
    };
    return does[verb]();
  }

  /** Objects that a quota counts: as many as are wanted and more. */
  #counted(id: number, ns: string, signal: AbortSignal): Promise<Answered> {
    const at = { id, ns, name: `q-${this.#random.below(2 * this.#scene.quota)}` };
    const verb = this.#random.weighted(COUNTED);
    if (verb === 'create') return this.#create(at, {}, signal);
    return verb === 'delete' ? this.#delete(at, signal) : this.#list(at, signal);
  }

  /** Owners and what they own, which goes with them, also when it is made a moment after they went. */
  #family(id: number, ns: string, number: number, signal: AbortSignal): Promise<Answered> {
    const parent = { id, ns, name: `parent-${number}` };
    const what = this.#random.weighted({ parent: 25, child: 50, end: 25 });
    if (what === 'parent') return this.#create(parent, {}, signal);
    const owner = this.#memory.get(keyIn(parent))?.metadata;
    if (what === 'end') return this.#delete(parent, signal, this.#random.pick(['Background', 'Foreground'] as const));
    if (owner?.uid === undefined) return this.#get(parent, 'newest', signal);
    const child = { id, ns, name: `child-${number}-${this.#random.below(4)}` };
    return this.#create(child, { owner: owner.uid }, signal, parent.name);
  }

  #labels(): Record<string, string> {
    return this.#random.below(8) === 0 ? {} : { color: this.#random.pick(COLORS) };
  }

  #token(): string {
    return `${this.#index}.${this.#tokens++}`;
  }

  #create(at: At, more: Sent, signal: AbortSignal, owner = ''): Promise<Answered> {
    const token = this.#token();
    const sent = { ...more, data: { v: token } };
    const ownerReferences =
      sent.owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: sent.owner }];
    const metadata = { namespace: at.ns, name: at.name, labels: sent.labels ?? {}, ownerReferences };
    return this.#do({ ...at, verb: 'create', sent, token }, async () => ({
      code: OK,
      object: await this.#maps.create({ metadata, data: sent.data }, {}, signal),
    }));
  }

  /** Of what it has seen, new or old: a server takes it only when that is the newest. */
  async #update(at: At, signal: AbortSignal): Promise<Answered> {
    const kept = this.#memory.get(keyIn(at));
    if (kept === undefined) return this.#get(at, 'newest', signal);
    const token = this.#token();
    const sent = { labels: this.#labels(), data: { ...kept.data, v: token } };
    const { uid, resourceVersion } = kept.metadata;
    const metadata = { namespace: at.ns, name: at.name, uid, resourceVersion, labels: sent.labels };
    return this.#do({ ...at, verb: 'update', sent, token, ifRv: Number(resourceVersion) }, async () => ({
      code: OK,
      object: await this.#maps.update({ metadata, data: sent.data }, {}, signal),
    }));
  }

  #patch(at: At, signal: AbortSignal): Promise<Answered> {
    const token = this.#token();
    const sent = { labels: { color: this.#random.pick(COLORS) }, data: { p: token } };
    const patch = { metadata: { labels: sent.labels }, data: sent.data };
    const name = { namespace: at.ns, name: at.name };
    return this.#do({ ...at, verb: 'patch', sent, token }, async () => ({
      code: OK,
      object: await this.#maps.patch(name, 'merge', patch, {}, signal),
    }));
  }

  #apply(at: At, signal: AbortSignal): Promise<Answered> {
    const token = this.#token();
    const sent = { data: { a: token } };
    const object = { metadata: { namespace: at.ns, name: at.name }, data: sent.data };
    const o = { fieldManager: `robustness-${this.#index}`, force: true };
    return this.#do({ ...at, verb: 'apply', sent, token }, async () => ({
      code: OK,
      object: await this.#maps.apply(object, o, signal),
    }));
  }

  #delete(at: At, signal: AbortSignal, how: HowToDelete = 'plain'): Promise<Answered> {
    const kept = this.#memory.get(keyIn(at))?.metadata;
    const condition = how === 'given up' ? 'none' : this.#random.weighted({ none: 1, uid: 6, version: 3 });
    const uid = condition === 'none' ? undefined : kept?.uid;
    const resourceVersion = condition === 'version' ? kept?.resourceVersion : undefined;
    const conditions = {
      ...(uid === undefined ? {} : { ifUid: uid }),
      ...(resourceVersion === undefined ? {} : { ifRv: Number(resourceVersion) }),
    };
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const isSaid = how === 'Background' || how === 'Foreground';
    return this.#do({ ...at, verb: 'delete', ...conditions }, async () => {
      const o = { preconditions, ...(isSaid ? { propagationPolicy: how } : {}) };
      await this.#maps.delete({ namespace: at.ns, name: at.name }, o, signal);
      return { code: OK };
    });
  }

  #get(at: At, read: 'newest' | 'any', signal: AbortSignal): Promise<Answered> {
    const name = { namespace: at.ns, name: at.name };
    return this.#do({ ...at, verb: 'get', read }, async () => {
      if (read === 'newest') return { code: OK, object: await this.#maps.get(name, signal) };
      const path = `${collectionPath(this.#maps.type, at.ns)}/${at.name}?resourceVersion=0`;
      const { status, body } = await this.#client.raw({ method: 'GET', path }, signal);
      if (status !== OK) return { code: status };
      return { code: status, object: JSON.parse(body.toString('utf8')) as Live<ConfigMap> };
    });
  }

  #list(at: At, signal: AbortSignal): Promise<Answered> {
    const selector = this.#random.below(2) === 0 ? '' : this.#random.pick(SELECTORS);
    const read = this.#random.below(4) === 0 ? 'any' : 'newest';
    const limit = read === 'newest' && this.#random.below(3) === 0 ? PAGE : undefined;
    const asked = { ...at, name: '', verb: 'list', read, selector, ...(limit === undefined ? {} : { limit }) } as const;
    const o = { namespace: at.ns, labelSelector: selector, limit: limit ?? 0, ...(read === 'any' ? { resourceVersion: '0' } : {}) }; // prettier-ignore
    return this.#do(asked, async () => {
      const { items, resourceVersion } = await this.#maps.list(o, signal);
      return { code: OK, items, rv: Number(resourceVersion) };
    });
  }

  async #do(asked: Omit<Asked, 'client'>, work: () => Promise<Answered>): Promise<Answered> {
    const answer = await recorded(this.#scene, { ...asked, client: this.#index }, work);
    for (const it of answer.items ?? (answer.object === undefined ? [] : [answer.object])) this.#keep(asked.ns, it);
    return answer;
  }

  #keep(ns: string, object: Live<ConfigMap>): void {
    const key = keyIn({ ns, name: object.metadata.name });
    const known = this.#memory.get(key);
    this.#memory.delete(key);
    if (known === undefined || Number(known.metadata.resourceVersion) < versionOf(object))
      this.#memory.set(key, object);
    else this.#memory.set(key, known);
    const [oldest] = this.#memory.keys();
    if (this.#memory.size > Worker.#REMEMBERED && oldest !== undefined) this.#memory.delete(oldest);
  }
}

/** How what an object owns goes with it; what is given up goes whatever it has become. */
type HowToDelete = 'plain' | 'given up' | 'Background' | 'Foreground';

interface At {
  readonly id: number;
  readonly ns: string;
  readonly name: string;
}

const keyIn = ({ ns, name }: Pick<At, 'ns' | 'name'>): string => `${ns}/${name}`;
