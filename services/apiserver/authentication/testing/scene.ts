import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { authorizeBy } from '../../authorization/stage.js';
import type { Authorizer } from '../../authorization/authorizer.js';
import { listen } from '../../http/listener.js';
import { bounds, respondToErrors } from '../../pipeline/exchange-stages.js';
import type { RequestState } from '../../request/request.js';
import { requestInfo } from '../../pipeline/request-info.js';
import { servedApi } from '../../registry/runtime-config.js';
import { impersonation, authentication } from '../stage.js';
import type { Authenticator } from '../authenticator.js';
import { TestAuthority, type Pair } from './authority.js';

export interface SceneOptions {
  readonly authenticators: readonly Authenticator[];
  /** Decides who may impersonate; by default no user may. */
  readonly authorizers?: readonly Authorizer[];
  readonly anonymous?: boolean;
  /** PEM texts of bundles that clients may show certificates of. */
  readonly clientAuthorities?: readonly string[];
}

export interface Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `user`, `impersonator` and the `headers` that are left; of a failure the Status. */
  readonly body: {
    readonly user?: { readonly name: string; readonly groups: string[]; readonly extra: Record<string, string[]> };
    readonly impersonator?: { readonly name: string };
    readonly headers?: Readonly<Record<string, string>>;
    readonly message?: string;
  };
}

export interface SceneRequest {
  /** Pairs, as they go out; names may come twice. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly certificate?: Pair;
}

/** A real TLS server with the stages that find out who asks, which answers with what they found. */
export interface Scene {
  ask(o?: SceneRequest): Promise<Reply>;
  close(): Promise<void>;
}

export async function startScene(o: SceneOptions): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), 'authentication-scene-'));
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const authority = TestAuthority.root('/CN=servers');
  const server = authority.issue('/CN=server', { extensions: 'subjectAltName=IP:127.0.0.1\n' });
  const handle = application(o).callback();
  const listener = await listen(
    {
      address: '127.0.0.1',
      port: 0,
      certFile: file('server.crt', server.cert),
      keyFile: file('server.key', server.key),
      clientCaFiles: (o.clientAuthorities ?? []).map((bundle, i) => file(`clients-${i}.crt`, bundle)),
      maxStreams: 10,
      headerTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
      mayUpgrade: () => true,
      log: { info: () => undefined, warn: () => undefined },
    },
    (req, res) => void handle(req, res),
  );
  return {
    ask: (r) => ask(listener.port, authority.cert, r),
    close: async () => {
      await listener.close(0);
      authority.remove();
      rmSync(dir, { recursive: true });
    },
  };
}

function application(o: SceneOptions): Koa<RequestState> {
  const words = vocabulary('platform');
  const app = new Koa<RequestState>();
  app.use(respondToErrors({ error: () => undefined }));
  app.use(bounds(60_000));
  app.use(requestInfo({ current: servedApi(loadCatalog(words), new Map()) }));
  app.use(
    authentication({
      authenticators: o.authenticators,
      anonymous: o.anonymous ?? true,
      settled: () => true,
      onRefused: () => undefined,
      metrics: { authenticated: () => undefined },
      log: { debug: () => undefined },
    }),
  );
  app.use(
    impersonation(
      authorizeBy(o.authorizers ?? [], () => true),
      words.groups.authentication,
    ),
  );
  app.use((ctx) => {
    const { user, impersonator } = ctx.state;
    ctx.body = { user, impersonator, headers: ctx.req.headers };
  });
  return app;
}

/** Each on a connection of its own. */
async function ask(port: number, ca: string, { headers = [], certificate }: SceneRequest = {}): Promise<Reply> {
  const agent = new Agent({ ca, ...certificate });
  try {
    const res = await new Promise<IncomingMessage>((resolve, reject) => {
      const flat = ['host', 'scene', ...headers.flat()]; // in this form names may come twice
      const req = request({ host: '127.0.0.1', port, path: '/', agent, timeout: 5_000, headers: flat }, resolve);
      req.once('error', reject);
      req.end();
    });
    return { code: res.statusCode ?? 0, headers: res.headers, body: JSON.parse(await text(res)) as Reply['body'] };
  } finally {
    agent.destroy();
  }
}
