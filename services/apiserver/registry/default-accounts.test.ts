import assert from 'node:assert/strict';
import { VerbScene } from '../verbs/testing/scene.js';
import { lookAfterDefaultAccounts } from './default-accounts.js';

const MERGE = 'application/merge-patch+json';

describe('lookAfterDefaultAccounts()', () => {
  let scene: VerbScene;
  let stop: AbortController;
  let running: Promise<void>;
  const failures: unknown[] = [];

  beforeEach(async () => {
    scene = await VerbScene.open();
    stop = new AbortController();
    failures.length = 0;
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await scene.close();
  });

  const start = (): void => {
    const log = { warn: (_: string, more?: object) => void failures.push(more) };
    running = lookAfterDefaultAccounts({ ...scene.core, log }, stop.signal);
  };
  const account = (namespace: string): string => `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  const namespace = async (name: string): Promise<void> => {
    const { code } = await scene.request('POST', '/api/v1/namespaces', { metadata: { name } });
    assert.equal(code, 201);
  };
  /** As long as the limit of every test allows. */
  const comes = async (name: string): Promise<string> => {
    for (;;) {
      const { code, body } = await scene.request('GET', account(name));
      if (code === 200) return body.metadata.uid ?? '';
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  it('makes one where there was a namespace before, and in each that comes', async () => {
    await namespace('before');
    start();
    await comes('before');
    await namespace('after');
    await comes('after');
  });

  it('makes it anew when it is deleted, and leaves alone what is there', async () => {
    await namespace('a');
    start();
    const first = await comes('a');
    assert.equal((await scene.request('PATCH', account('a'), { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200);
    await namespace('b');
    await comes('b');
    assert.equal(await comes('a'), first);
    await scene.request('DELETE', account('a'));
    assert.notEqual(await comes('a'), first);
  });

  it('makes none in a namespace that is on its way out', async () => {
    await namespace('a');
    await scene.request('DELETE', '/api/v1/namespaces/a');
    start();
    await namespace('b');
    await comes('b'); // and by then the other one was looked at
    assert.equal((await scene.request('GET', account('a'))).code, 404);
  });

  it('tries again when the store fails', async () => {
    await namespace('a');
    scene.races.beforeNext(() => Promise.reject(new Error('no store')));
    start();
    await comes('a');
    assert.equal(failures.length, 1);
  });
});
