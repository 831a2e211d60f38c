import assert from 'node:assert/strict';
import { notFound } from '../../../machinery/meta/status.js';
import { protobufStatus, respondJson, respondPieces } from '../../http/respond.js';
import { annotate } from '../../request/request.js';
import { Gathering } from '../testing/gathering.js';
import { answer, endPlay, json, play, PODS, refuse, stagesOf, type Handler } from '../testing/play.js';

describe('RequestRecord', () => {
  describe('bodies', () => {
    afterEach(endPlay);

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

  describe('annotations of level Request', () => {
    afterEach(endPlay);
    const annotated = (value: string): Parameters<typeof play>[1] => {
      return async (ctx) => {
        annotate(ctx.state, { a: 'b' });
        annotate(ctx.state, { patch: value }, 'Request');
        await answer({})(ctx);
      };
    };

    it('are shown by events of that level, not by those below', async () => {
      const shown = async (level: 'Metadata' | 'Request'): Promise<unknown> =>
        (await play({ info: { verb: 'create' }, rule: { level } }, annotated('p'))).events[1]?.annotations;
      assert.deepEqual(await shown('Metadata'), { a: 'b' });
      assert.deepEqual(await shown('Request'), { a: 'b', patch: 'p' });
    });

    it('are left out when they are too large, and the event says so', async () => {
      const scene = { info: { verb: 'create' }, rule: { level: 'Request' }, maxEventBytes: 2_500 } as const;
      const { events } = await play(scene, annotated('p'.repeat(3_000)));
      assert.deepEqual(events[1]?.annotations, { a: 'b', 'audit.k8s.io/truncated': 'true' });
    });
  });

  describe('what cannot be written down', () => {
    afterEach(endPlay);
    const broken = Object.assign(() => undefined, { brand: true }) as unknown as 'get';

    it('costs its own events, and is counted', async () => {
      const backend = new Gathering();
      const played = await play({ backend, info: { verb: broken } }, answer({}));
      assert.deepEqual([played.status, backend.texts, played.unencodable], [200, [], 2]);
      const { events } = await play({ backend }, answer({}));
      assert.deepEqual(stagesOf(events), ['RequestReceived', 'ResponseComplete']);
    });

    it('stops a request that may not go on without its first event', async () => {
      const { status, rejected, unencodable } = await play({ info: { verb: broken }, strict: true }, answer({}));
      assert.deepEqual([status, rejected, unencodable], [500, 1, 1]);
    });

    it('is left out of an event when it is a body', async () => {
      const { status, events, unencodable } = await play({ info: { verb: 'create' } }, async (ctx) => {
        ctx.state.audit?.sent(Buffer.from('a: 1'), 'application/yaml', { a: 1n });
        await answer({ b: 2 }, 201)(ctx);
      });
      assert.deepEqual([status, unencodable, stagesOf(events)], [201, 1, ['RequestReceived', 'ResponseComplete']]);
      assert.equal(events[1]?.requestObject, undefined);
      assert.deepEqual(events[1]?.annotations, { 'audit.k8s.io/truncated': 'true' });
    });

    it('is the same for an answer that is no JSON', async () => {
      const { events, unencodable } = await play({ rule: { omitManagedFields: true } }, (ctx) =>
        respondJson(ctx, 200, Buffer.from('{"managedFields"'), 'application/json'),
      );
      assert.deepEqual([unencodable, events[1]?.responseObject], [1, undefined]);
    });
  });
});
