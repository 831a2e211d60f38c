import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import {
  type PathRequest,
  type RequestInfo,
  type ResourceRequest,
  isPassedOn,
  type RequestVerb,
} from '../request/request.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { deprecatedHelp, type ShowsDeprecated } from './deprecated.js';
import { REQUEST_BUCKETS, SeriesHistogram, type HistogramSeries, type Labels } from './series.js';

export interface RequestMetrics {
  /** Notes that a request has begun; what it returns is called once, with the code of the answer. */
  started(info: RequestInfo): (code: number) => void;
}

/** Counts of all requests with the same labels. */
interface Series {
  readonly labels: Labels;
  readonly duration: HistogramSeries;
  readonly byCode: Map<number, number>;
  readonly longRunning: boolean;
  readonly kind: 'mutating' | 'readOnly';
  running: number;
}

const LABEL_NAMES = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
/** Custom resources come and go; what comes after that many is counted with the unknown. */
const MAX_SERIES = 10_000;

const seriesKey = (l: RequestLabels): string =>
  `${l.verb} ${l.group} ${l.version} ${l.resource} ${l.subresource} ${l.scope}`;

/**
 * Counts requests in plain numbers and gives them to the library at a scrape. Every request passes here: a
 * pair of the library's children costs 2 to 3 microseconds, this 0.5.
 */
export class CountedRequests implements RequestMetrics, MetricsArea {
  readonly #series = new Map<string, Series>();
  /** Short cuts into #series: what a verb, sub-resource and scope of a declaration stand for. */
  readonly #ofResource = new WeakMap<ResourceDeclaration, Map<string, Series>>();
  readonly #duration = new SeriesHistogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from the request to its answer, in seconds; watches until their end',
    labelNames: LABEL_NAMES,
    buckets: REQUEST_BUCKETS,
  });

  register(prom: Prom, registry: Registry, shows: ShowsDeprecated): void {
    const all = (): Iterable<Series> => this.#series.values();
    this.#duration.register(prom, registry);
    registerTotals(prom, registry, all);
    registerRunning(prom, registry, all);
    registerLongRunning(prom, registry, all, shows);
  }

  started(info: RequestInfo): (code: number) => void {
    const series = info.kind === 'path' ? this.#ofPath(info) : this.#of(info);
    const from = performance.now();
    series.running += 1;
    return (code) => {
      series.running -= 1;
      series.byCode.set(code, (series.byCode.get(code) ?? 0) + 1);
      series.duration.observe((performance.now() - from) / 1_000);
    };
  }

  #of(info: ResourceRequest): Series {
    const { declaration, subresource, subresourceDeclaration } = info;
    if (declaration === undefined) return this.#find(unknownResource(info.verb), info);
    let known = this.#ofResource.get(declaration);
    if (known === undefined) this.#ofResource.set(declaration, (known = new Map<string, Series>()));
    const part = subresource === '' || subresourceDeclaration !== undefined ? subresource : OTHER;
    const key = `${info.verb} ${part} ${scopeOf(info)}`;
    let series = known.get(key);
    if (series === undefined) known.set(key, (series = this.#find(resourceLabels(info), info)));
    return series;
  }

  #ofPath(info: PathRequest): Series {
    return this.#find(pathLabels(info), info);
  }

  #find(labels: RequestLabels, info: RequestInfo): Series {
    const key = seriesKey(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_SERIES && info.kind === 'resource' && info.declaration !== undefined) {
      return this.#find(unknownResource(info.verb), { ...info, declaration: undefined });
    }
    const all = { ...labels, component: 'apiserver' };
    const series: Series = {
      labels: all,
      duration: this.#duration.add(all),
      byCode: new Map(),
      longRunning: isLongRunning(info),
      kind: isMutating(info) ? 'mutating' : 'readOnly',
      running: 0,
    };
    this.#series.set(key, series);
    return series;
  }
}

function registerTotals(prom: Prom, registry: Registry, all: () => Iterable<Series>): void {
  new prom.Counter({
    name: 'apiserver_request_total',
    help: 'Requests that were answered, by code',
    labelNames: [...LABEL_NAMES, 'code'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, byCode } of all()) {
        for (const [code, count] of byCode) this.inc({ ...labels, code }, count);
      }
    },
  });
}

function registerRunning(prom: Prom, registry: Registry, all: () => Iterable<Series>): void {
  new prom.Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests under way, long-running ones excepted',
    labelNames: ['request_kind'],
    registers: [registry],
    collect() {
      const running = { mutating: 0, readOnly: 0 };
      for (const series of all()) if (!series.longRunning) running[series.kind] += series.running;
      for (const [kind, count] of Object.entries(running)) this.set({ request_kind: kind }, count);
    },
  });
}

const LONG_RUNNING_HELP = 'Watches and passed-on connections that are open';

/** The names and descriptions that the number of open watches has had. */
function registerLongRunning(
  prom: Prom,
  registry: Registry,
  all: () => Iterable<Series>,
  shows: ShowsDeprecated,
): void {
  const gauge = (name: string, help: string, of: (series: Series) => boolean): void => {
    new prom.Gauge({
      name,
      help,
      labelNames: [...LABEL_NAMES],
      registers: [registry],
      collect() {
        for (const series of all()) if (of(series)) this.set(series.labels, series.running);
      },
    });
  };
  const isLong = ({ longRunning }: Series): boolean => longRunning;
  gauge('apiserver_longrunning_requests', LONG_RUNNING_HELP, isLong);
  if (shows('1.23')) gauge('apiserver_longrunning_gauge', deprecatedHelp('1.23', LONG_RUNNING_HELP), isLong);
  if (!shows('1.21')) return;
  const isWatch = ({ labels }: Series): boolean => labels['verb'] === 'WATCH';
  gauge('apiserver_registered_watchers', deprecatedHelp('1.21', 'Watches that are open'), isWatch);
}

/** How a request is counted. All values come from closed sets: a client cannot make new ones. */
interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** For requests that are about no resource: where the path begins. */
  readonly subresource: string;
  readonly scope: '' | 'resource' | 'namespace' | 'cluster';
}

const VERBS: ReadonlyMap<string, string> = new Map<RequestVerb, string>([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETE'],
  ['options', 'OPTIONS'],
]);
const MUTATING: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'post',
  'put',
]);
const PATH_VERBS = new Map(
  ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'].map((v) => [v, v.toUpperCase()]),
);
/** The longer before the shorter that it begins with. */
const PATHS = ['/healthz', '/livez', '/readyz', '/metrics', '/version', '/openapi/v2', '/openapi/v3', '/apis', '/api'];

const OTHER = 'other';

/** Runs until it is ended; counted by itself, for it says nothing about load. */
export const isLongRunning = (info: RequestInfo): boolean =>
  info.kind === 'resource' && (info.verb === 'watch' || isPassedOn(info));

export const isMutating = (info: RequestInfo): boolean => MUTATING.has(info.verb);

const scopeOf = ({ name, verb, namespace }: ResourceRequest): RequestLabels['scope'] => {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
};

const verbLabel = (verb: ResourceRequest['verb']): string => VERBS.get(verb) ?? OTHER;

function resourceLabels(info: ResourceRequest): RequestLabels {
  const { declaration, subresource, subresourceDeclaration } = info;
  if (declaration === undefined) return unknownResource(info.verb);
  return {
    verb: isPassedOn(info) ? 'CONNECT' : verbLabel(info.verb),
    group: declaration.group,
    version: declaration.version,
    resource: declaration.resource,
    subresource: subresource === '' || subresourceDeclaration !== undefined ? subresource : OTHER,
    scope: scopeOf(info),
  };
}

/** All that is not served counts together. */
const unknownResource = (verb: ResourceRequest['verb']): RequestLabels => ({
  verb: verbLabel(verb),
  group: OTHER,
  version: OTHER,
  resource: OTHER,
  subresource: '',
  scope: '',
});

function pathLabels({ verb, path }: PathRequest): RequestLabels {
  return {
    verb: PATH_VERBS.get(verb) ?? OTHER,
    group: '',
    version: '',
    resource: '',
    subresource: path === '/' ? path : (PATHS.find((p) => path === p || path.startsWith(`${p}/`)) ?? OTHER),
    scope: '',
  };
}
