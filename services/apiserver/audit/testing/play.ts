import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { respondJson } from '../../http/respond.js';
import { bounds, respondToErrors } from '../../pipeline/exchange-stages.js';
import type { Context, RequestState, ResourceRequest } from '../../request/request.js';
import { protobufReader } from '../event/protobuf-answer.js';
import { decideBy } from '../policy/decide.js';
import type { PolicyRule } from '../policy/parse.js';
import { auditing } from '../stage.js';
import { Gathering, type ShownEvent } from './gathering.js';

/** Tells everything of everything. */
export const RULE: PolicyRule = {
  level: 'RequestResponse',
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
  omitManagedFields: false,
};
export const PODS = { group: '', resource: 'pods' };
const ALICE = { name: 'alice', uid: '7', groups: ['devs'], extra: { a: ['b'] } };
export const BOB = { name: 'bob', uid: '', groups: [], extra: {} };
/** `get` of a pod. */
export const POD: ResourceRequest = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  namespace: 'default',
  resource: 'pods',
  subresource: '',
  name: 'a',
  watchPath: false,
  declaration: undefined,
  subresourceDeclaration: undefined,
};
export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
export const answer =
  (value: unknown, code = 200) =>
  (ctx: Context): Promise<void> =>
    respondJson(ctx, code, json(value), 'application/json');

export type Handler = (ctx: Context) => unknown;

export interface Scene {
  readonly rule?: Partial<PolicyRule>;
  readonly info?: Partial<ResourceRequest> | { readonly kind: 'path'; readonly verb: string; readonly path: string };
  readonly maxEventBytes?: number;
  readonly strict?: boolean;
  readonly headers?: Record<string, string>;
  readonly url?: string;
  readonly backend?: Gathering;
}

export interface Played {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly ShownEvent[];
  readonly levels: readonly string[];
  readonly rejected: number;
  readonly unencodable: number;
}

const WORDS = vocabulary('kubernetes');
const CATALOG = loadCatalog(WORDS);
const servers: Server[] = [];

/** One request through the stages, on a real connection. */
export async function play(scene: Scene, handler: Handler): Promise<Played> {
  const backend = scene.backend ?? new Gathering();
  const levels: string[] = [];
  let rejected = 0;
  let unencodable = 0;
  const app = new Koa<RequestState>();
  app.use(respondToErrors({ error: () => undefined }));
  app.use(bounds(60_000));
  app.use((ctx, next) => {
    const info = scene.info?.kind === 'path' ? scene.info : { ...POD, ...scene.info };
    Object.assign(ctx.state, { info, user: ALICE, query: new URLSearchParams() });
    return next();
  });
  app.use(
    auditing({
      decide: decideBy({ rules: [{ ...RULE, ...scene.rule }] }),
      records: {
        apiVersion: `${WORDS.groups.audit}/v1`,
        truncatedAnnotation: WORDS.auditAnnotations.truncated,
        maxEventBytes: scene.maxEventBytes ?? 100_000,
        backend,
        strict: scene.strict ?? false,
        clock: () => 1_653_386_400_000_042,
        readProtobuf: protobufReader(CATALOG),
        onEvent: () => undefined,
        onUnencodable: () => unencodable++,
      },
      onLevel: (level) => levels.push(level),
      onRejected: () => rejected++,
    }),
  );
  app.use(async (ctx) => {
    await handler(ctx);
  });
  const server = createServer((req, res) => void app.callback()(req, res));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const req = request({ port, host: '127.0.0.1', path: scene.url ?? '/x', headers: scene.headers ?? {} }).end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const body = await text(res);
  const told = { events: backend.events, levels, rejected, unencodable };
  return { status: res.statusCode ?? 0, body, headers: res.headers, ...told };
}

/** Ends the servers of all requests so far. */
export function endPlay(): void {
  for (const server of servers.splice(0)) server.close();
}

export const refuse = (err: unknown) => (): void => {
  throw err;
};

export const stagesOf = (events: readonly ShownEvent[]): string[] => events.map(({ stage }) => stage);
