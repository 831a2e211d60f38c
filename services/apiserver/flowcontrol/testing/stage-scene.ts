import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { OpenStreams } from '../../http/stream.js';
import { bounds, respondToErrors } from '../../pipeline/exchange-stages.js';
import type { RequestInfo, RequestState, Stage } from '../../request/request.js';
import { ask, user } from './flow-scene.js';

export interface Reply {
  readonly code: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A request that is inside, behind the stage, and stays there until it is told to go on. */
export interface Inside {
  readonly who: string;
  /** Opens the answer of a watch. */
  open(): void;
  answer(): void;
  fail(): void;
}

/**
 * A real server that lets requests through the stage as those of the user whom their path names: `/alice/watch/pods` watches
 * pods. Behind it they wait.
 */
export class StageScene {
  readonly #server: http.Server;
  readonly #agent = new http.Agent({ maxSockets: 1_000 });
  readonly #arrived: Inside[] = [];
  readonly #waiters: (() => void)[] = [];

  private constructor(server: http.Server) {
    this.#server = server;
  }

  static async open(stage: Stage): Promise<StageScene> {
    const app = new Koa<RequestState>();
    app.silent = true;
    const scene = new StageScene(http.createServer((req, res) => void handle(req, res)));
    app.use(respondToErrors({ error: () => undefined }));
    app.use(bounds(60_000));
    app.use(async (ctx, next) => {
      const [, name = '', verb = '', resource = ''] = ctx.path.split('/').map(decodeURIComponent);
      ctx.state.user = user(name, name === 'admin' ? 'system:masters' : 'people', 'system:authenticated');
      ctx.state.info = ask(verb as 'get', resource, 'n') satisfies RequestInfo;
      ctx.state.query = new URLSearchParams(ctx.querystring);
      await next();
    });
    app.use(stage);
    app.use((ctx) => scene.#keep(ctx));
    const handle = app.callback();
    scene.#server.listen(0, '127.0.0.1');
    await once(scene.#server, 'listening');
    return scene;
  }

  /** How many are inside and have not been fetched by `next`. */
  get inside(): number {
    return this.#arrived.length;
  }

  /** Sends a request. @param signal Ends it from the side of the client. */
  async ask(path: string, signal?: AbortSignal): Promise<Reply> {
    const { port } = this.#server.address() as AddressInfo;
    const o = { host: '127.0.0.1', port, path, agent: this.#agent, ...(signal === undefined ? {} : { signal }) };
    const req = http.get(o);
    const [res] = (await once(req, 'response')) as [http.IncomingMessage];
    return { code: res.statusCode ?? 0, headers: res.headers, body: await text(res) };
  }

  /** The next request that gets inside. */
  async next(): Promise<Inside> {
    for (;;) {
      const first = this.#arrived.shift();
      if (first !== undefined) return first;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #keep(ctx: Koa.ParameterizedContext<RequestState>): Promise<void> {
    const streams = new OpenStreams();
    await new Promise<void>((resolve, reject) => {
      let stream: ReturnType<OpenStreams['open']> | undefined;
      this.#arrived.push({
        who: ctx.state.user.name,
        open: () => (stream = streams.open(ctx, 'application/json')),
        answer: () => {
          if (stream === undefined) ctx.body = 'done';
          else stream.end();
          resolve();
        },
        fail: () => reject(new Error('It went wrong')),
      });
      for (const wake of this.#waiters.splice(0)) wake();
    });
  }
}
