import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { forbidden, notFound, StatusError } from '../../machinery/meta/status.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { protobufStatus, respondJson, respondPieces } from '../http/respond.js';
import { respondToErrors } from '../pipeline/errors.js';
import {
  annotate,
  type Context,
  type RequestInfo,
  type RequestState,
  type ResourceRequest,
} from '../pipeline/request.js';
import { protobufReader } from './event/protobuf-answer.js';
import { decideBy } from './policy/decide.js';
import type { PolicyRule } from './policy/parse.js';
import { auditing } from './stage.js';
import { Gathering, type ShownEvent } from './testing/gathering.js';
import type { StageName } from './types.js';

const RULE: PolicyRule = {
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
const PODS = { group: '', resource: 'pods' };
const ALICE = { name: 'alice', uid: '7', groups: ['devs'], extra: { a: ['b'] } };
const BOB = { name: 'bob', uid: '', groups: [], extra: {} };
const POD: ResourceRequest = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  namespace: 'default',
  resource: 'pods',
  subresource: '',
  name: 'a',
  declaration: undefined,
  subresourceDeclaration: undefined,
};
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const answer =
  (value: unknown, code = 200) =>
  (ctx: Context) =>
    respondJson(ctx, code, json(value), 'application/json');

type Handler = (ctx: Context) => unknown;

interface Scene {
  readonly rule?: Partial<PolicyRule>;
  readonly info?: Partial<ResourceRequest> | { readonly kind: 'path'; readonly verb: string; readonly path: string };
  readonly maxEventBytes?: number;
  readonly strict?: boolean;
  readonly headers?: Record<string, string>;
  readonly url?: string;
  readonly backend?: Gathering;
}

interface Played {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly ShownEvent[];
  readonly levels: readonly string[];
  readonly rejected: number;
}

const CATALOG = loadCatalog(vocabulary('kubernetes'));
const servers: Server[] = [];

/** One request through the stages, on a real connection. */
async function play(scene: Scene, handler: Handler): Promise<Played> {
  const backend = scene.backend ?? new Gathering();
  const levels: string[] = [];
  let rejected = 0;
  const app = new Koa<RequestState>();
  app.use(respondToErrors({ error: () => undefined }));
  app.use((ctx, next) => {
    const info = (scene.info?.kind === 'path' ? scene.info : { ...POD, ...scene.info });
    Object.assign(ctx.state, { info, user: ALICE, query: new URLSearchParams() });
    return next();
  });
  app.use(
    auditing({
      decide: decideBy({ rules: [{ ...RULE, ...scene.rule }] }),
      records: {
        apiVersion: 'audit.k8s.io/v1',
        truncatedAnnotation: 'audit.k8s.io/truncated',
        maxEventBytes: scene.maxEventBytes ?? 100_000,
        backend,
        strict: scene.strict ?? false,
        clock: () => 1_653_386_400_000_042,
        readProtobuf: protobufReader(CATALOG),
        onEvent: () => undefined,
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
  return { status: res.statusCode ?? 0, body, headers: res.headers, events: backend.events, levels, rejected };
}

const stagesOf = (events: readonly ShownEvent[]): string[] => events.map(({ stage }) => stage);

describe('auditing()', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('costs nothing when nothing is to be told', async () => {
    const played = await play({ rule: { level: 'None' } }, async (ctx) => {
      assert.equal(ctx.state.audit, undefined);
      await answer({})(ctx);
    });
    assert.deepEqual([played.events, played.levels, played.headers['audit-id']], [[], ['None'], undefined]);
  });

  it('tells who asks for what from where', async () => {
    const { events, headers } = await play(
      {
        info: { group: 'apps', resource: 'deployments', subresource: 'scale' },
        url: '/apis/x?token=secret',
        headers: {
          'user-agent': 'kubectl "1"',
          'x-forwarded-for': '1.1.1.1',
          'audit-id': 'mine',
          authorization: 'Bearer secret',
        },
      },
      answer({ kind: 'Scale' }),
    );
    assert.deepEqual(events[0], {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: 'mine',
      stage: 'RequestReceived',
      requestURI: '/apis/x?token=REDACTED',
      verb: 'get',
      user: { username: 'alice', uid: '7', groups: ['devs'], extra: { a: ['b'] } },
      sourceIPs: ['1.1.1.1', '127.0.0.1'],
      userAgent: 'kubectl "1"',
      objectRef: {
        resource: 'deployments',
        namespace: 'default',
        name: 'a',
        apiGroup: 'apps',
        apiVersion: 'v1',
        subresource: 'scale',
      },
      requestReceivedTimestamp: '2022-05-24T10:00:00.000042Z',
      stageTimestamp: '2022-05-24T10:00:00.000042Z',
    });
    assert.equal(headers['audit-id'], 'mine');
    assert.doesNotMatch(JSON.stringify(events), /secret/);
  });

  it('cuts the name of a client that is too long', async () => {
    const { events } = await play({ headers: { 'user-agent': 'x'.repeat(2000) } }, answer({}));
    assert.equal(events[0]?.userAgent, `${'x'.repeat(1024)}...TRUNCATED`);
  });

  it('tells who is acted as, as soon as that is known, and what other stages say', async () => {
    const { events } = await play({}, async (ctx) => {
      ctx.state.impersonator = ctx.state.user;
      ctx.state.user = BOB;
      annotate(ctx.state, { decision: 'allow' });
      await answer({})(ctx);
    });
    const [received, complete] = events;
    assert.deepEqual(
      [received?.user['username'], received?.impersonatedUser, received?.annotations],
      ['alice', undefined, undefined],
    );
    assert.deepEqual([complete?.user['username'], complete?.impersonatedUser], ['alice', { username: 'bob' }]);
    assert.deepEqual(complete?.annotations, { decision: 'allow' });
  });

  const refuse = (err: unknown) => (): void => {
    throw err;
  };
  const ENDS: readonly (readonly [string, Scene, Handler, string[], object])[] = [
    ['a get', {}, answer({ kind: 'Pod' }), ['RequestReceived', 'ResponseComplete'], { metadata: {}, code: 200 }],
    [
      'a create',
      { info: { verb: 'create' } },
      answer({ kind: 'Pod' }, 201),
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, code: 201 },
    ],
    [
      'a watch',
      { info: { verb: 'watch' } },
      async (ctx) => {
        await ctx.state.audit?.started(200);
        ctx.body = 'frames';
      },
      ['RequestReceived', 'ResponseStarted', 'ResponseComplete'],
      { metadata: {}, code: 200 },
    ],
    [
      'a refused watch',
      { info: { verb: 'watch' } },
      refuse(forbidden(PODS, '', 'no')),
      ['RequestReceived', 'ResponseStarted', 'ResponseComplete'],
      {
        metadata: {},
        status: 'Failure',
        reason: 'Forbidden',
        message: 'pods is forbidden: no',
        details: { kind: 'pods' },
        code: 403,
      },
    ],
    [
      'what is passed on',
      { info: { subresource: 'exec', verb: 'create' } },
      (ctx) => {
        ctx.res.statusCode = 101;
        void ctx.state.audit?.started(101);
        ctx.status = 200;
        ctx.body = '';
        ctx.res.statusCode = 200;
      },
      ['RequestReceived', 'ResponseStarted', 'ResponseComplete'],
      { metadata: {}, code: 200 },
    ],
    [
      'a start of what does not last',
      {},
      async (ctx) => {
        await ctx.state.audit?.started(200);
        await answer({})(ctx);
      },
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, code: 200 },
    ],
    [
      'a failure',
      {},
      refuse(notFound(PODS, 'a')),
      ['RequestReceived', 'ResponseComplete'],
      {
        metadata: {},
        status: 'Failure',
        reason: 'NotFound',
        message: 'pods "a" not found',
        details: { name: 'a', kind: 'pods' },
        code: 404,
      },
    ],
    [
      'a failure that is told of on purpose',
      {},
      refuse(new StatusError('InternalError', 'the backend redirects', { code: 502 })),
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, status: 'Failure', reason: 'InternalError', message: 'the backend redirects', code: 502 },
    ],
    [
      'a failure that nobody expected',
      {},
      refuse(new TypeError('undefined is no function')),
      ['RequestReceived', 'Panic'],
      { metadata: {}, status: 'Failure', reason: 'InternalError', message: 'Internal error occurred', code: 500 },
    ],
    [
      'a Status',
      { info: { verb: 'delete' } },
      answer({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a' } }),
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, status: 'Success', details: { name: 'a' }, code: 200 },
    ],
    [
      'a Status in Protobuf',
      { info: { verb: 'delete' }, rule: { level: 'Metadata' } },
      (ctx) => respondJson(ctx, 200, protobufStatus({ status: 'Success' }), 'application/vnd.kubernetes.protobuf'),
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, status: 'Success', code: 200 },
    ],
    [
      'a path',
      { info: { kind: 'path', verb: 'get', path: '/healthz' } },
      (ctx) => {
        ctx.body = 'ok';
      },
      ['RequestReceived', 'ResponseComplete'],
      { metadata: {}, code: 200 },
    ],
  ];
  for (const [what, scene, handler, stages, status] of ENDS) {
    it(`tells the stages of ${what}, and how it ends`, async () => {
      const { events } = await play(scene, handler);
      assert.deepEqual(stagesOf(events), stages);
      assert.deepEqual(events.at(-1)?.responseStatus, status);
      assert.equal(events[0]?.responseStatus, undefined);
    });
  }

  it('tells the code that a long answer begins with', async () => {
    const { events } = await play({ info: { subresource: 'exec' } }, async (ctx) => {
      await ctx.state.audit?.started(101);
      ctx.body = '';
    });
    assert.deepEqual(events[1]?.responseStatus, { metadata: {}, code: 101 });
  });

  const OMITTED: readonly (readonly [readonly StageName[], string[]])[] = [
    [['RequestReceived'], ['ResponseStarted', 'ResponseComplete']],
    [['ResponseStarted'], ['RequestReceived', 'ResponseComplete']],
    [['ResponseComplete'], ['RequestReceived', 'ResponseStarted']],
    [['RequestReceived', 'ResponseStarted', 'ResponseComplete'], []],
  ];
  for (const [omitStages, stages] of OMITTED) {
    it(`leaves out ${omitStages.join(', ')}`, async () => {
      const { events } = await play({ rule: { omitStages }, info: { verb: 'watch' } }, async (ctx) => {
        await ctx.state.audit?.started(200);
        ctx.body = '';
      });
      assert.deepEqual(stagesOf(events), stages);
    });
  }

  it('leaves out panics', async () => {
    const { events } = await play({ rule: { omitStages: ['Panic'] } }, refuse(new TypeError('x')));
    assert.deepEqual(stagesOf(events), ['RequestReceived']);
  });

  describe('bodies', () => {
    const SENT = {
      kind: 'Secret',
      metadata: { name: 'made', managedFields: [{ manager: 'm' }] },
      data: { p: 'hunter2' },
    };
    const create: Handler = async (ctx) => {
      ctx.state.audit?.sent(json(SENT), 'application/json', SENT);
      await answer(SENT, 201)(ctx);
    };
    const info = { verb: 'create', resource: 'secrets', name: '' } as const;

    it('are not told of at the level Metadata, nor anything in them but the name', async () => {
      const { events } = await play({ info, rule: { level: 'Metadata' } }, create);
      assert.doesNotMatch(JSON.stringify(events), /hunter2|aHVudGVyMg|requestObject|responseObject/);
      assert.deepEqual([events[0]?.objectRef?.['name'], events[1]?.objectRef?.['name']], [undefined, 'made']);
    });

    it('are those of the request at the level Request', async () => {
      const { events } = await play({ info, rule: { level: 'Request' } }, create);
      assert.deepEqual([events[1]?.requestObject, events[1]?.responseObject], [SENT, undefined]);
      assert.equal(events[0]?.requestObject, undefined);
    });

    it('are both at the level RequestResponse', async () => {
      const { events } = await play({ info }, create);
      assert.deepEqual([events[1]?.requestObject, events[1]?.responseObject], [SENT, SENT]);
    });

    it('are told of without who owns which field, where the policy says so', async () => {
      const { events } = await play({ info, rule: { omitManagedFields: true } }, create);
      const bare = { ...SENT, metadata: { name: 'made' } };
      assert.deepEqual([events[1]?.requestObject, events[1]?.responseObject], [bare, bare]);
    });

    it('are not told of paths', async () => {
      const { events } = await play({ info: { kind: 'path', verb: 'post', path: '/x' } }, create);
      assert.doesNotMatch(JSON.stringify(events), /hunter2/);
    });

    it('are the Status of what fails', async () => {
      const { events } = await play({}, refuse(notFound(PODS, 'a')));
      assert.equal((events[1]?.responseObject as { reason: string }).reason, 'NotFound');
      const { events: fewer } = await play({ rule: { level: 'Request' } }, refuse(notFound(PODS, 'a')));
      assert.equal(fewer[1]?.responseObject, undefined);
    });

    it('are not told of what a watch answers', async () => {
      const { events } = await play({ info: { verb: 'watch' } }, refuse(notFound(PODS, 'a')));
      assert.equal(events[2]?.responseObject, undefined);
    });

    it('are told of in pieces as of one', async () => {
      const pieces = [Buffer.from('{"items":['), Buffer.alloc(70_000, ' '), Buffer.from(']}')];
      const { events } = await play({}, (ctx) => respondPieces(ctx, pieces, 'application/json'));
      assert.deepEqual(
        [stagesOf(events), events[1]?.responseObject],
        [['RequestReceived', 'ResponseComplete'], { items: [] }],
      );
    });

    it('are JSON for who wants YAML', async () => {
      const { events, body } = await play({}, (ctx) => respondJson(ctx, 200, json({ a: 1 }), 'application/yaml'));
      assert.deepEqual([events[1]?.responseObject, body], [{ a: 1 }, 'a: 1\n']);
    });

    it('are JSON for who wants Protobuf', async () => {
      const status = protobufStatus({ status: 'Success', message: 'm' });
      const { events } = await play({}, (ctx) => respondJson(ctx, 200, status, 'application/vnd.kubernetes.protobuf'));
      assert.equal((events[1]?.responseObject as { message: string }).message, 'm');
    });

    it('are left out when they cannot be read', async () => {
      const { events } = await play({}, (ctx) =>
        respondJson(ctx, 200, Buffer.from('x'), 'application/vnd.kubernetes.protobuf'),
      );
      assert.deepEqual(
        [events[1]?.responseStatus, events[1]?.responseObject],
        [{ metadata: {}, code: 200 }, undefined],
      );
    });

    const patches = [
      ['application/json-patch+json', '[{"op":"remove",\n"path":"/a"}]', [{ op: 'remove', path: '/a' }]],
      ['application/merge-patch+json', '{"metadata":{"name":"other"}}', { metadata: { name: 'other' } }],
      ['application/yaml', 'metadata:\n  name: other\n', { metadata: { name: 'other' } }],
    ] as const;
    for (const [type, body, value] of patches) {
      it(`are patches as they came: ${type}`, async () => {
        const { events } = await play({ info: { verb: 'patch', name: '' } }, async (ctx) => {
          ctx.state.audit?.sent(Buffer.from(body), type, value);
          await answer({})(ctx);
        });
        assert.deepEqual([events[1]?.requestObject, events[1]?.objectRef?.['name']], [value, undefined]);
      });
    }

    it('are as they were sent, whatever becomes of the value', async () => {
      const { events } = await play({ info }, async (ctx) => {
        const value = { a: [1] };
        ctx.state.audit?.sent(Buffer.from('a: [1]'), 'application/yaml', value);
        value.a.push(2);
        await answer({})(ctx);
      });
      assert.deepEqual(events[1]?.requestObject, { a: [1] });
    });

    const LARGE = { data: 'x'.repeat(3_000) };
    const LARGE_CASES: readonly (readonly [string, unknown, unknown])[] = [
      ['the request is', LARGE, {}],
      ['the answer is', {}, LARGE],
      ['both are together', { data: 'x'.repeat(1_200) }, { data: 'x'.repeat(1_200) }],
    ];
    for (const [what, sent, answered] of LARGE_CASES) {
      it(`are both left out when ${what} too large, and the event says so`, async () => {
        const { events } = await play({ info, maxEventBytes: 2_500 }, async (ctx) => {
          annotate(ctx.state, { a: 'b' });
          ctx.state.audit?.sent(json(sent), 'application/json', sent);
          await answer(answered)(ctx);
        });
        assert.deepEqual([events[1]?.requestObject, events[1]?.responseObject], [undefined, undefined]);
        assert.deepEqual(events[1]?.annotations, { a: 'b', 'audit.k8s.io/truncated': 'true' });
      });
    }
  });

  it('tells the name that the server made', async () => {
    const { events } = await play({ info: { verb: 'create', name: '' } }, async (ctx) => {
      ctx.state.audit?.sent(json({}), 'application/json', { metadata: { generateName: 'a-' } });
      ctx.state.audit?.named('a-x7');
      await answer({})(ctx);
    });
    assert.equal(events[1]?.objectRef?.['name'], 'a-x7');
  });

  describe('with a backend that is waited for', () => {
    it('does not begin what changes something before it is told of', async () => {
      const backend = new Gathering();
      let written: (ok: boolean) => void = () => undefined;
      backend.answer = new Promise((resolve) => (written = resolve));
      let began = false;
      const played = play({ backend, info: { verb: 'create' } }, async (ctx) => {
        began = true;
        await answer({}, 201)(ctx);
      });
      while (backend.texts.length === 0) await new Promise(setImmediate);
      await new Promise(setImmediate);
      assert.equal(began, false);
      written(true);
      assert.deepEqual([(await played).status, began], [201, true]);
    });

    for (const [what, handler] of [
      ['an answer', answer({})],
      ['a failure', refuse(notFound(PODS, 'a'))],
      ['a text', (ctx: Context): void => void (ctx.body = 'ok')],
    ] as const) {
      for (const omitStages of [[], ['ResponseComplete']] as const) {
        it(`holds back ${what} until it is told of${omitStages.length === 0 ? '' : ', if only by its first event'}`, async () => {
          const backend = new Gathering();
          let written: (ok: boolean) => void = () => undefined;
          backend.answer = new Promise((resolve) => (written = resolve));
          let isAnswered = false;
          const played = play({ backend, rule: { omitStages } }, handler).then((it) => {
            isAnswered = true;
            return it;
          });
          while (backend.texts.length < 2 - omitStages.length) await new Promise(setImmediate);
          for (let i = 0; i < 5; i++) await new Promise(setImmediate);
          assert.equal(isAnswered, false);
          written(true);
          await played;
        });
      }
    }

    it('goes on when an event is lost', async () => {
      const backend = new Gathering();
      backend.answer = Promise.resolve(true);
      assert.equal((await play({ backend }, answer({}))).status, 200);
    });

    it('fails a request that it may not go on with', async () => {
      const backend = new Gathering();
      backend.answer = Promise.resolve(false);
      let began = false;
      const { status, body, rejected, events } = await play({ backend, strict: true }, () => {
        began = true;
      });
      assert.deepEqual([status, rejected, began, stagesOf(events)], [500, 1, false, ['RequestReceived']]);
      assert.equal(
        (JSON.parse(body) as { message: string }).message,
        'Internal error occurred: failed to store audit event',
      );
    });
  });
});
