import type { FeatureGates } from '../../machinery/features/feature-gates.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { negotiate } from '../http/negotiation.js';
import { respondJson } from '../http/respond.js';
import { unknownPath } from '../verbs/dispatch.js';
import type { Context } from '../request/request.js';
import type { RemoteApi } from '../registry/remote-api.js';
import type { ServedApi, ServedVersion } from '../registry/served.js';
import { aggregatedList, type AggregatedVersion } from './aggregated.js';
import { Document, respondDocument } from '../http/document.js';
import { isRemote, merged, type ShownGroup } from './merge.js';
import { groupDocument, groupList, resourceList } from './resource-lists.js';
import { aggregatedType, discoveryView } from './view.js';

export interface DiscoveryDeps {
  readonly live: { readonly current: { readonly api: ServedApi } };
  /** What others serve behind this server. */
  readonly remote: { readonly current: Pick<RemoteApi, 'versions'> };
  readonly vocabulary: Vocabulary;
  readonly gates: FeatureGates;
}

/** All that clients are shown, of one version of the API and one state of what others serve. */
interface Shown {
  readonly remote: RemoteApi['versions'];
  readonly groups: readonly ShownGroup[];
}

/** Answers what is served. A document is made when it is first asked for, and kept for as long as what it tells of is served. */
export class Discovery {
  readonly #live: DiscoveryDeps['live'];
  readonly #remote: DiscoveryDeps['remote'];
  /** The newest of each version of the API. */
  readonly #shown = new WeakMap<ServedApi, Shown>();
  readonly #vocabulary: Vocabulary;
  readonly #showsHash: boolean;
  /** By what they tell of: the API, a group or a version, each never changed. A few forms each. */
  readonly #documents = new WeakMap<Shown | ShownGroup | ServedVersion, Map<string, Document>>();

  constructor({ live, remote, vocabulary, gates }: DiscoveryDeps) {
    this.#showsHash = gates.enabled('StorageVersionHash');
    this.#live = live;
    this.#remote = remote;
    this.#vocabulary = vocabulary;
  }

  get #api(): Shown {
    const { api } = this.#live.current;
    const { versions } = this.#remote.current;
    let shown = this.#shown.get(api);
    if (shown?.remote !== versions) {
      shown = { remote: versions, groups: merged(api.groups, versions) };
      this.#shown.set(api, shown);
    }
    return shown;
  }

  /** `/api` */
  async core(ctx: Context): Promise<void> {
    const api = this.#api;
    const core = api.groups.filter((g) => g.name === '');
    const view = discoveryView(ctx.get('Accept'), this.#vocabulary);
    if (view.form === 'aggregated') return this.#respondAggregated(ctx, api, core, view.version);
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
    const api = this.#api;
    const view = discoveryView(ctx.get('Accept'), this.#vocabulary);
    if (view.form === 'aggregated') {
      const named = api.groups.filter((g) => g.name !== '');
      return this.#respondAggregated(ctx, api, named, view.version);
    }
    ctx.vary('Accept');
    const { bytes } = this.#document(api, 'groups', () => groupList(api.groups));
    return respondJson(ctx, 200, bytes, view.type);
  }

  /** `/apis/<group>` */
  async group(ctx: Context, name: string): Promise<void> {
    const group = this.#find(name);
    if (group === undefined || name === '') throw unknownPath();
    await this.#respond(ctx, group, () => groupDocument(group));
  }

  /** `/api/<version>`, where the group is '', and `/apis/<group>/<version>` */
  async resources(ctx: Context, name: string, version: string): Promise<void> {
    const served = this.#find(name)?.versions.find((v) => v.version === version);
    if (served === undefined || isRemote(served)) throw unknownPath(); // that one answers for itself
    await this.#respond(ctx, served, () => resourceList(name, served, this.#showsHash));
  }

  /** All paths that answer. */
  paths(): readonly string[] {
    return this.#api.groups.flatMap(({ name, versions }) => {
      const at = name === '' ? '/api' : `/apis/${name}`;
      return [...(name === '' ? [] : [at]), ...versions.map((v) => `${at}/${v.version}`)];
    });
  }

  #find(name: string): ShownGroup | undefined {
    return this.#api.groups.find((g) => g.name === name);
  }

  async #respond(ctx: Context, of: ShownGroup | ServedVersion, build: () => object): Promise<void> {
    const type = negotiate(ctx.get('Accept'));
    await respondJson(ctx, 200, this.#document(of, '', build).bytes, type);
  }

  async #respondAggregated(
    ctx: Context,
    api: Shown,
    groups: readonly ShownGroup[],
    version: AggregatedVersion,
  ): Promise<void> {
    const apiVersion = `${this.#vocabulary.apiDiscoveryGroup}/${version}`;
    const form = `${groups[0]?.name === '' ? 'core' : 'groups'} as ${version}`;
    const document = this.#document(api, form, () => aggregatedList(apiVersion, groups));
    await respondDocument(ctx, document, {
      'Content-Type': aggregatedType(this.#vocabulary, version),
      'Cache-Control': 'public',
    });
  }

  #document(of: Shown | ShownGroup | ServedVersion, form: string, build: () => object): Document {
    let forms = this.#documents.get(of);
    if (forms === undefined) this.#documents.set(of, (forms = new Map<string, Document>()));
    let document = forms.get(form);
    if (document === undefined) forms.set(form, (document = new Document(build())));
    return document;
  }
}

/** Where the client has reached us. */
function addressOf({ req }: Context): string {
  const { localAddress = '', localPort = 0 } = req.socket;
  const address = localAddress.replace(/^::ffff:/, '');
  return address.includes(':') ? `[${address}]:${localPort}` : `${address}:${localPort}`;
}
