import { badRequest } from '../../machinery/meta/status.js';
import { isLongRunning } from '../metrics/request-metrics.js';
import type { RemoteSchemas } from '../registry/remote-api.js';
import type { ServedApi } from '../registry/served.js';
import type { Context } from '../request/request.js';
import { unknownPath } from '../verbs/dispatch.js';
import { proxyRequest, type ProxyDeps } from '../subresources/connect/proxy-request.js';
import type { Target } from '../subresources/connect/target.js';
import { identityHeaders } from './identity-headers.js';
import { pathProblem, versionOf } from './paths.js';
import { serviceUnavailable, type Peers } from './peers.js';
import type { Route, Routes } from './routes.js';

export interface ForwardDeps {
  readonly routes: Routes;
  readonly peers: Pick<Peers, 'connect'>;
  readonly proxying: ProxyDeps;
  readonly live: { readonly current: { readonly api: ServedApi } };
}

/** Hands requests to the servers that serve what they are about. What is served here is never theirs. */
export class Forwarder {
  readonly #d: ForwardDeps;

  constructor(d: ForwardDeps) {
    this.#d = d;
  }

  /** Answers a request for what another server serves. @returns false: none does. @throws {StatusError} */
  readonly elsewhere = async (ctx: Context): Promise<boolean> => {
    const { info } = ctx.state;
    if (this.#d.routes.size === 0 || (info.kind === 'resource' && info.declaration !== undefined)) return false;
    const asked = info.kind === 'resource' ? info : versionOf(ctx.path);
    const route = asked === undefined ? undefined : this.routeOf(asked.group, asked.version);
    if (route === undefined) return false;
    await this.forward(ctx, route);
    return true;
  };

  /** Answers with the schemas of a version, as who serves it tells them. @throws {StatusError} */
  readonly schemas = async (ctx: Context, { group, version }: RemoteSchemas): Promise<void> => {
    const route = this.routeOf(group, version);
    if (route === undefined) throw unknownPath();
    await this.forward(ctx, route);
  };

  /** Whether a request for this URL may go on in another protocol with another server. */
  mayUpgrade(url: string): boolean {
    if (this.#d.routes.size === 0) return false;
    const asked = versionOf(url.split('/', 4).join('/')); // what is below is that server's business
    return asked !== undefined && this.routeOf(asked.group, asked.version) !== undefined;
  }

  /** Who serves a version of a group that is not served here. */
  routeOf(group: string, version: string): Route | undefined {
    const route = this.#d.routes.find(group, version);
    return route === undefined || isServed(this.#d.live.current.api, group, version) ? undefined : route;
  }

  /** @throws {StatusError} ServiceUnavailable, BadRequest, Forbidden */
  async forward(ctx: Context, route: Route): Promise<void> {
    if (!route.isAvailable) throw serviceUnavailable();
    const problem = pathProblem(ctx.path);
    if (problem !== undefined) throw badRequest(problem);
    const headers = identityHeaders(ctx.state.user);
    const { proxying, peers } = this.#d;
    const { answerMs, idleMs } = proxying.limits;
    const connect: ProxyDeps['connect'] = (_target, _ms, signal, wanted) => peers.connect(route, signal, wanted);
    await proxyRequest({ ...proxying, connect }, ctx, {
      target: NOWHERE,
      path: ctx.req.url ?? '/',
      prefix: undefined, // redirects are not followed, and not passed on
      uri: ctx.path,
      answerMs: isLongRunning(ctx.state.info) ? idleMs : answerMs,
      headers,
    });
  }
}

/** A connection to a route is made by who knows its places. */
const NOWHERE: Target = { scheme: 'https', host: '', port: 0, tls: {}, allows: () => false };

/** Whether this server serves a version itself. */
export const isServed = ({ groups }: Pick<ServedApi, 'groups'>, group: string, version: string): boolean =>
  groups.find(({ name }) => name === group)?.versions.some((it) => it.version === version) === true;
