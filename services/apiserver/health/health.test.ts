import assert from 'node:assert/strict';
import { startPathServer, type PathServer } from '../discovery/testing/path-server.js';
import { HEALTH_ENDPOINTS, HealthChecks } from './health-checks.js';

describe('health endpoints', () => {
  let server: PathServer;
  let sound: boolean;
  beforeEach(async () => {
    sound = true;
    server = await startPathServer();
    server.health.add({ name: 'log', endpoints: HEALTH_ENDPOINTS, check: () => true });
    server.health.add({
      name: 'poststarthook/first',
      endpoints: HEALTH_ENDPOINTS,
      check: () => Promise.resolve(sound),
    });
    server.health.add({ name: 'shutdown', endpoints: ['readyz'], check: () => true });
  });
  afterEach(() => server.close());

  for (const endpoint of HEALTH_ENDPOINTS) {
    it(`answers ok at /${endpoint}`, async () => {
      const answer = await server.get(`/${endpoint}`);
      assert.deepEqual([answer.code, answer.text], [200, 'ok']);
      assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    });

    it(`tells at /${endpoint} what failed, though not why`, async () => {
      sound = false;
      const answer = await server.get(`/${endpoint}?exclude=shutdown`);
      assert.equal(answer.code, 500);
      const lines = ['[+]ping ok', '[+]log ok', '[-]poststarthook/first failed: reason withheld'];
      if (endpoint === 'readyz') lines.push('[+]shutdown excluded: ok');
      else lines.push('warn: some health checks cannot be excluded: no matches for "shutdown"');
      assert.equal(answer.text, [...lines, `${endpoint} check failed`, ''].join('\n'));
    });
  }

  it('tells each check when asked to', async () => {
    assert.equal(
      (await server.get('/readyz?verbose')).text,
      '[+]ping ok\n[+]log ok\n[+]poststarthook/first ok\n[+]shutdown ok\nhealthz check passed\n',
    );
    assert.equal(
      (await server.get('/livez?verbose&exclude=ping&exclude=poststarthook/first')).text,
      '[+]ping excluded: ok\n[+]log ok\n[+]poststarthook/first excluded: ok\nhealthz check passed\n',
    );
  });

  it('passes though an advisory check fails, and tells it unasked', async () => {
    let full = false;
    server.health.add({ name: 'space', endpoints: ['readyz'], advisory: true, check: () => !full });
    assert.equal((await server.get('/readyz')).text, 'ok');
    full = true;
    const { code, text } = await server.get('/readyz');
    assert.equal(code, 200);
    assert.match(text, /^\[-\]space failed: reason withheld$/m);
    assert.match(text, /check passed\n$/);
    assert.equal((await server.get('/readyz/space')).code, 500);
    sound = false;
    assert.equal((await server.get('/readyz')).code, 500);
  });

  it('is healthy when what fails is excluded', async () => {
    sound = false;
    assert.equal((await server.get('/healthz?exclude=poststarthook/first')).text, 'ok');
  });

  it('warns of exclusions that match nothing', async () => {
    const { code, text } = await server.get('/healthz?verbose&exclude=zzz&exclude=aaa');
    assert.equal(code, 200);
    assert.match(text, /^warn: some health checks cannot be excluded: no matches for "aaa", "zzz"$/m);
  });

  it('answers for one check, whose name may have a slash', async () => {
    assert.equal((await server.get('/livez/poststarthook/first')).text, 'ok');
    sound = false;
    const answer = await server.get('/livez/poststarthook/first');
    assert.deepEqual([answer.code, answer.text], [500, '[-]poststarthook/first failed: reason withheld\n']);
    assert.equal((await server.get('/livez/ping')).code, 200);
  });

  it('has nothing for a check that is not there, or not of that endpoint', async () => {
    for (const path of ['/livez/nonsense', '/livez/shutdown', '/livez/poststarthook', '/livez/__proto__']) {
      assert.equal((await server.get(path)).code, 404, path);
    }
  });
});

describe('HealthChecks', () => {
  const failing = { name: 'poststarthook/slow', endpoints: HEALTH_ENDPOINTS, check: (): boolean => false };

  it('counts the checks of the start as good for livez while the grace lasts', async () => {
    let now = 1_000;
    const health = new HealthChecks({ livezGracePeriodMs: 500, now: () => now });
    health.add(failing);
    now = 1_499;
    assert.equal(await health.passes('livez'), true);
    assert.equal(await health.passes('readyz'), false);
    now = 1_500;
    assert.equal(await health.passes('livez'), false);
  });

  it('gives no grace to other checks', async () => {
    const health = new HealthChecks({ livezGracePeriodMs: 500, now: () => 0 });
    health.add({ ...failing, name: 'etcd' });
    assert.equal(await health.passes('livez'), false);
  });

  it('fails a check that hangs, and tells it to stop', async () => {
    const health = new HealthChecks({ livezGracePeriodMs: 0, timeoutMs: 5 });
    let told: AbortSignal | undefined;
    health.add({ ...failing, check: (signal) => new Promise(() => (told = signal)) });
    assert.equal(await health.passes('readyz'), false);
    assert.equal(told?.aborted, true);
  });

  it('fails a check that throws, at once or later', async () => {
    const health = new HealthChecks({ livezGracePeriodMs: 0 });
    health.add({
      ...failing,
      name: 'a',
      check: () => {
        throw new Error('secret');
      },
    });
    health.add({ ...failing, name: 'b', check: () => Promise.reject(new Error('secret')) });
    assert.deepEqual((await health.report('readyz')).checks, [
      { name: 'ping', outcome: 'ok' },
      { name: 'a', outcome: 'failed' },
      { name: 'b', outcome: 'failed' },
    ]);
  });

  it('runs a check once for all that ask at the same time', async () => {
    const health = new HealthChecks({ livezGracePeriodMs: 0 });
    let runs = 0;
    let finish: (holds: boolean) => void = () => undefined;
    const check = (): Promise<boolean> => {
      runs += 1;
      return new Promise((resolve) => (finish = resolve));
    };
    health.add({ ...failing, check });
    const asked = [health.passes('readyz'), health.passes('livez'), health.one('healthz', failing.name)];
    finish(true);
    assert.deepEqual(await Promise.all(asked), [true, true, true]);
    assert.equal(runs, 1);
    const later = health.passes('readyz');
    finish(false);
    assert.equal(await later, false);
    assert.equal(runs, 2);
  });

  it('refuses a second check of one name', () => {
    const health = new HealthChecks({ livezGracePeriodMs: 0 });
    assert.throws(() => health.add({ ...failing, name: 'ping' }), { message: 'Two health checks are called ping' });
  });
});
