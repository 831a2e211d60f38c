import { once, setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { parseFlags } from '../../../machinery/flags/flags.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { forbidden } from '../../../machinery/meta/status.js';
import { openEmbeddedStore } from '../../../storage/embedded/embedded-store.js';
import type { KeyValueStore, Transaction, TransactionResult } from '../../../storage/store.js';
import { AdmissionChain } from '../../admission/chain.js';
import type { AdmissionPlugin } from '../../admission/plugin.js';
import { buildCore, type Core } from '../../server/core.js';
import type { StoredAs } from '../../cache/resource-cache.js';
import { createMetrics } from '../../metrics/metrics.js';
import { API_SERVER_FLAGS } from '../../options/flags.js';
import { bounds, respondToErrors } from '../../pipeline/exchange-stages.js';
import type { RequestState, UserInfo } from '../../request/request.js';
import { requestInfo } from '../../pipeline/request-info.js';
import { verb, verbTable } from '../dispatch.js';
import { storedBytes } from '../../registry/resources.js';
import { Bodies } from '../decode-body.js';
import { operations } from '../../subresources/operation-table.js';
import type { OperationDeps } from '../../subresources/operation.js';
import type { VerbDeps } from '../types.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;
setMaxListeners(0, never);

export const JANE: UserInfo = { name: 'jane', uid: 'u1', groups: ['dev'], extra: {} };

/** A store that loses races on purpose: others do something before its next transactions. */
export class RacingStore {
  #quicker: ((t: Transaction) => Promise<unknown>)[] = [];
  /** Runs once, before the next read of one key. */
  beforeRead: (() => Promise<unknown>) | undefined;
  /** Said of the value that the next read of one key brings. */
  marksNext: StoredAs = {};
  readonly store: KeyValueStore;
  readonly inner: KeyValueStore;
  transactions = 0;

  constructor(inner: KeyValueStore) {
    this.inner = inner;
    const transact = async (t: Transaction, signal: AbortSignal): Promise<TransactionResult> => {
      this.transactions++;
      await this.#quicker.shift()?.(t);
      return inner.transact(t, signal);
    };
    const get: KeyValueStore['get'] = async (...asked) => {
      const other = this.beforeRead;
      this.beforeRead = undefined;
      await other?.();
      const result = await inner.get(...asked);
      const kv = result.kv && { ...result.kv, ...this.marksNext };
      this.marksNext = {};
      return { ...result, kv };
    };
    this.store = new Proxy(inner, {
      get: (target, member) => {
        if (member === 'transact') return transact;
        if (member === 'get') return get;
        const value: unknown = Reflect.get(target, member);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** Lets others do something before each of the next transactions, in turns. */
  beforeNext(...others: ((t: Transaction) => Promise<unknown>)[]): void {
    this.#quicker.push(...others);
  }
}

export interface Reply {
  readonly code: number;
  readonly body: ApiObject & {
    readonly items: readonly ApiObject[];
    readonly reason?: string;
    readonly message?: string;
  };
}

/** The verbs over a real store and a real connection, without credentials: who asks is `JANE`, who may is a list. */
export class VerbScene {
  readonly core: Core;
  readonly races: RacingStore;
  /** The rights that the verbs asked for besides, as `verb resource`. */
  readonly asked: string[] = [];
  /** The rights that are refused. */
  readonly refused = new Set<string>();
  /** Asked for each write; a test puts its own in. */
  readonly plugin: Required<Pick<AdmissionPlugin, 'mutate' | 'validate'>> = {
    mutate: () => undefined,
    validate: () => undefined,
  };
  readonly #server: Server;
  readonly #end: () => Promise<void>;

  private constructor(core: Core, races: RacingStore, plugins: readonly AdmissionPlugin[], end: () => Promise<void>) {
    this.core = core;
    this.races = races;
    this.#end = end;
    const answer = this.#app(plugins).callback();
    this.#server = createServer((req, res) => void answer(req, res));
  }

  /** @param more Plugins behind the scene's own. */
  static async open(more: (core: Core) => readonly AdmissionPlugin[] = () => []): Promise<VerbScene> {
    const directory = mkdtempSync(join(tmpdir(), 'verbs-'));
    const inner = await openEmbeddedStore({ directory, log: quiet, onFatal: () => undefined });
    const races = new RacingStore(inner);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const { options } = parseFlags(API_SERVER_FLAGS, ['--authorization-mode=AlwaysAllow']);
    const core = await buildCore(options, quiet as never, races.store, createMetrics(), stop.signal);
    const running = core.feed.run(stop.signal);
    await core.feed.whenLoaded(never);
    const scene = new VerbScene(core, races, more(core), async () => {
      stop.abort(new Error('The test is over'));
      await running;
      await inner.close();
      rmSync(directory, { recursive: true, force: true });
    });
    scene.#server.listen(0, '127.0.0.1');
    await once(scene.#server, 'listening');
    return scene;
  }

  #app(plugins: readonly AdmissionPlugin[]): Koa<RequestState> {
    const { core } = this;
    const app = new Koa<RequestState>();
    app.silent = true;
    const plugin: AdmissionPlugin = {
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      mutate: (request, phase) => this.plugin.mutate(request, phase),
      validate: (request) => this.plugin.validate(request),
    };
    const chained = [plugin, ...plugins].map((it, i): [string, AdmissionPlugin] => [String(i), it]);
    const admission = new AdmissionChain(new Map(chained), createMetrics().admission);
    const deps: VerbDeps = {
      ...core,
      admission,
      watchMetrics: createMetrics().watches,
      authorize: async (_, attributes) => {
        const what = attributes.kind === 'path' ? attributes.path : `${attributes.verb} ${attributes.resource}`;
        this.asked.push(what);
        if (this.refused.has(what)) throw forbidden({ group: '', resource: 'x' }, '', 'not allowed');
        await Promise.resolve();
      },
      bodies: new Bodies({
        limits: { maxBytes: 1e6, timeoutMs: 5_000 },
        protobufMediaTypes: core.vocabulary.acceptedProtobufMediaTypes,
      }),
    };
    const verbs = verbTable(deps);
    // Those that lead elsewhere, or are about tokens and access, need more, and are not asked for here.
    const found = operations({ ...deps, resources: core.resources } as unknown as OperationDeps);
    app.use(respondToErrors(quiet));
    app.use(bounds(20_000));
    app.use(requestInfo(core.live));
    app.use((ctx, next) => {
      ctx.state.user = JANE;
      return next();
    });
    const fresh = (): Promise<void> => core.reader.whenFresh();
    const elsewhere = (): Promise<boolean> => Promise.resolve(false);
    app.use(verb({ ...core, verbs, operations: found, fresh, elsewhere }));
    return app;
  }

  /** @param body A text is sent as it is. */
  async request(method: string, path: string, body?: object | string, type = 'application/json'): Promise<Reply> {
    const { port } = this.#server.address() as AddressInfo; // it listens on one
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const sent = text === undefined ? {} : { body: text, headers: { 'content-type': type } };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent });
    return { code: answer.status, body: (await answer.json()) as Reply['body'] };
  }

  /** Writes or removes past the server, as another server would. */
  async elsewhere(path: string, object: ApiObject | undefined): Promise<void> {
    const key = `${this.core.keys.prefix}${path}`;
    const operation =
      object === undefined
        ? ({ type: 'delete', key } as const)
        : ({ type: 'put', key, value: await storedBytes(object) } as const);
    await this.races.inner.transact({ conditions: [], operations: [operation] }, never);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#end();
  }
}
