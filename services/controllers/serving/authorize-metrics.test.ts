import assert from 'node:assert/strict';
import type { ApiClient } from '../../client/rest/client.js';
import type { ResourceType } from '../../client/rest/resource-type.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { PathAccess } from './authorize-metrics.js';

interface Asked {
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

describe('PathAccess', () => {
  let time: number;
  let asked: Asked[];
  let hold: Promise<void> | undefined;
  let access: PathAccess;
  beforeEach(() => {
    [time, asked, hold] = [0, [], undefined];
    access = new PathAccess({ client, vocabulary: vocabulary('platform'), now: () => time });
  });

  const answers = new Map<string, (spec: Asked['spec']) => object>([
    ['TokenReview', ({ token }) => ({ authenticated: token !== 'bad', user: { username: token, groups: ['g'] } })],
    ['SubjectAccessReview', ({ user }) => ({ allowed: user === 'good' })],
  ]);
  const client = {
    resource: ({ kind }: ResourceType) => ({
      create: async ({ spec }: { spec: Asked['spec'] }) => {
        asked.push({ kind, spec });
        await hold;
        if (spec['token'] === 'broken') throw new Error('away');
        return { status: answers.get(kind)?.(spec) };
      },
    }),
  } as unknown as ApiClient;

  for (const [authorization, expected] of [
    ['Bearer good', 'allowed'],
    ['bearer good', 'allowed'],
    ['Bearer other', 'forbidden'],
    ['Bearer bad', 'unauthenticated'],
    ['Bearer broken', 'unknown'],
    ['Basic good', 'unauthenticated'],
    ['good', 'unauthenticated'],
    [undefined, 'unauthenticated'],
  ] as const)
    it(`is ${expected} for ${authorization ?? 'nothing'}`, async () =>
      assert.equal(await access.of(authorization, '/metrics'), expected));

  it('asks for the user of the token, with his groups, and for the path', async () => {
    await access.of('Bearer good', '/metrics');
    const nonResourceAttributes = { path: '/metrics', verb: 'get' };
    assert.deepEqual(asked[1]?.spec, { user: 'good', groups: ['g'], nonResourceAttributes });
  });

  it('remembers an answer for ten seconds, of one path', async () => {
    await access.of('Bearer good', '/metrics');
    time = 9_999;
    await access.of('Bearer good', '/metrics');
    assert.equal(asked.length, 2);
    await access.of('Bearer good', '/other');
    assert.equal(asked.length, 4);
    time = 10_000;
    await access.of('Bearer good', '/metrics');
    assert.equal(asked.length, 6);
  });

  it('remembers no failure', async () => {
    await access.of('Bearer broken', '/metrics');
    await access.of('Bearer broken', '/metrics');
    assert.equal(asked.length, 2);
  });

  it('asks no more than 16 questions at once', async () => {
    let go: () => void = () => undefined;
    hold = new Promise((resolve) => (go = resolve));
    const asking = Array.from({ length: 20 }, (_, i) => access.of(`Bearer t${i}`, '/metrics'));
    const late = await Promise.all(asking.slice(16));
    assert.deepEqual(new Set(late), new Set(['unknown']));
    go();
    assert.deepEqual(new Set(await Promise.all(asking.slice(0, 16))), new Set(['forbidden']));
  });
});
