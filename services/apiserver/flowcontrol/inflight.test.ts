import assert from 'node:assert/strict';
import { inflightLimits } from './inflight.js';
import { StageScene, type Inside, type Reply } from './testing/stage-scene.js';

describe('inflightLimits()', () => {
  let scene: StageScene;
  let replies: Promise<Reply>[] = [];
  afterEach(async () => {
    await scene.close();
    await Promise.allSettled(replies);
    replies = [];
  });
  const enter = async (path: string): Promise<Inside> => {
    const reply = scene.ask(path);
    replies.push(reply);
    return Promise.race([scene.next(), reply.then(({ code }) => Promise.reject(new Error(`${path}: ${code}`)))]);
  };
  const refused = async (path: string): Promise<void> => {
    const { code, headers, body } = await scene.ask(path);
    assert.deepEqual([code, headers['retry-after']], [429, '1'], body);
    assert.match(body, /"message":"Too many requests, please try again later."/);
  };

  it('refuses what is too much of its kind, and nothing of the other', async () => {
    scene = await StageScene.open(inflightLimits({ reading: 2, mutating: 1 }));
    await enter('/alice/get/pods');
    const list = await enter('/bob/list/pods');
    for (const verb of ['get', 'list']) await refused(`/carol/${verb}/pods`);
    const write = await enter('/alice/create/pods');
    for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection']) await refused(`/bob/${verb}/pods`);
    list.answer();
    await replies[1];
    await enter('/carol/get/pods');
    write.fail();
    await replies[2];
    await enter('/carol/delete/pods');
  });

  for (const path of ['/alice/watch/pods', '/alice/get/pods%2Flog', '/alice/get/pods%2Fproxy'])
    it(`counts ${decodeURIComponent(path)} until it is open`, async () => {
      scene = await StageScene.open(inflightLimits({ reading: 1, mutating: 1 }));
      const long = await enter(path);
      await refused('/bob/get/pods');
      long.open();
      const short = await enter('/bob/get/pods');
      await refused('/bob/get/pods');
      long.answer(); // gives nothing back a second time
      await replies[0];
      await refused('/bob/get/pods');
      short.answer();
    });

  it('answers administrators in any case', async () => {
    scene = await StageScene.open(inflightLimits({ reading: 1, mutating: 1 }));
    await enter('/alice/get/pods');
    for (let i = 0; i < 3; i++) await enter('/admin/get/pods');
    await refused('/alice/get/pods');
  });

  it('has no limit where there is none', async () => {
    scene = await StageScene.open(inflightLimits({ reading: 0, mutating: 1 }));
    for (let i = 0; i < 10; i++) await enter('/alice/get/pods');
    await enter('/alice/create/pods');
    await refused('/alice/create/pods');
  });
});
