import type { FeatureGates } from '../../machinery/features/feature-gates.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { negotiate } from '../http/negotiation.js';
import { respondJson } from '../http/respond.js';
import { unknownPath } from '../verbs/dispatch.js';
import type { Context } from '../request/request.js';
import type { ServedApi, ServedGroup } from '../registry/served.js';
import { aggregatedList, type AggregatedVersion } from './aggregated.js';
import { Document, respondDocument } from '../http/document.js';
import { groupDocument, groupList, resourceList } from './resource-lists.js';
import { aggregatedType, discoveryView } from './view.js';

export interface DiscoveryDeps {
  readonly api: ServedApi;
  readonly vocabulary: Vocabulary;
  readonly gates: FeatureGates;
}

/** Answers what is served. Every document is made once for each generation of the served API. */
export class Discovery {
  readonly #api: ServedApi;
  readonly #vocabulary: Vocabulary;
  readonly #showsHash: boolean;
  readonly #documents = new Map<string, Document>();
  #generation: number;

  constructor({ api, vocabulary, gates }: DiscoveryDeps) {
    this.#showsHash = gates.enabled('StorageVersionHash');
    this.#api = api;
    this.#vocabulary = vocabulary;
    this.#generation = api.generation;
  }

  /** `/api` */
  async core(ctx: Context): Promise<void> {
    const core = this.#api.groups.filter((g) => g.name === '');
    const view = discoveryView(ctx.get('Accept'), this.#vocabulary);
    if (view.form === 'aggregated') return this.#respondAggregated(ctx, '/api', core, view.version);
    const [group] = core;
    if (group === undefined) throw unknownPath();
    ctx.vary('Accept');
    const json = JSON.stringify({
      kind: 'APIVersions',
      versions: group.versions.map((v) => v.version),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: addressOf(ctx) }],
    });
    return respondJson(ctx, 200, Buffer.from(json), view.type);
  }

  /** `/apis` */
  async groups(ctx: Context): Promise<void> {
    const view = discoveryView(ctx.get('Accept'), this.#vocabulary);
    if (view.form === 'aggregated') {
      const named = this.#api.groups.filter((g) => g.name !== '');
      return this.#respondAggregated(ctx, '/apis', named, view.version);
    }
    ctx.vary('Accept');
    const { bytes } = this.#document('/apis', () => groupList(this.#api.groups));
    return respondJson(ctx, 200, bytes, view.type);
  }

  /** `/apis/<group>` */
  async group(ctx: Context, name: string): Promise<void> {
    const group = this.#find(name);
    if (group === undefined || name === '') throw unknownPath();
    await this.#respond(ctx, `/apis/${name}`, () => groupDocument(group));
  }

  /** `/api/<version>`, where the group is '', and `/apis/<group>/<version>` */
  async resources(ctx: Context, name: string, version: string): Promise<void> {
    const served = this.#find(name)?.versions.find((v) => v.version === version);
    if (served === undefined) throw unknownPath();
    await this.#respond(ctx, `resources of ${name}/${version}`, () => resourceList(name, served, this.#showsHash));
  }

  /** All paths that answer. */
  paths(): readonly string[] {
    return this.#api.groups.flatMap(({ name, versions }) => {
      const at = name === '' ? '/api' : `/apis/${name}`;
      return [...(name === '' ? [] : [at]), ...versions.map((v) => `${at}/${v.version}`)];
    });
  }

  #find(name: string): ServedGroup | undefined {
    return this.#api.groups.find((g) => g.name === name);
  }

  async #respond(ctx: Context, key: string, build: () => object): Promise<void> {
    const type = negotiate(ctx.get('Accept'));
    await respondJson(ctx, 200, this.#document(key, build).bytes, type);
  }

  async #respondAggregated(
    ctx: Context,
    path: string,
    groups: readonly ServedGroup[],
    version: AggregatedVersion,
  ): Promise<void> {
    const apiVersion = `${this.#vocabulary.apiDiscoveryGroup}/${version}`;
    const document = this.#document(`${path} as ${version}`, () => aggregatedList(apiVersion, groups));
    await respondDocument(ctx, document, {
      'Content-Type': aggregatedType(this.#vocabulary, version),
      'Cache-Control': 'public',
    });
  }

  /** Keys are few: one for each path that is served. */
  #document(key: string, build: () => object): Document {
    if (this.#api.generation !== this.#generation) {
      this.#documents.clear();
      this.#generation = this.#api.generation;
    }
    const document = this.#documents.get(key) ?? new Document(build());
    this.#documents.set(key, document);
    return document;
  }
}

/** Where the client has reached us. */
function addressOf({ req }: Context): string {
  const { localAddress = '', localPort = 0 } = req.socket;
  const address = localAddress.replace(/^::ffff:/, '');
  return address.includes(':') ? `[${address}]:${localPort}` : `${address}:${localPort}`;
}
