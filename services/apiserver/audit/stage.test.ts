import assert from 'node:assert/strict';
import { forbidden, notFound, StatusError } from '../../machinery/meta/status.js';
import { protobufStatus, respondJson } from '../http/respond.js';
import { annotate, type Context } from '../request/request.js';
import { Gathering } from './testing/gathering.js';
import { answer, BOB, endPlay, json, play, PODS, refuse, stagesOf, type Handler, type Scene } from './testing/play.js';
import type { StageName } from './backends/backend.js';

describe('auditing()', () => {
  afterEach(endPlay);

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
