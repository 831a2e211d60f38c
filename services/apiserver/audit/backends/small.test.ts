import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { Losses } from '../losses.js';
import { Gathering } from '../testing/gathering.js';
import { both } from './both.js';
import { StandardOutput } from './standard-output.js';

describe('both()', () => {
  const waiting = (answer: boolean | undefined): Gathering => {
    const backend = new Gathering();
    backend.answer = answer === undefined ? undefined : Promise.resolve(answer);
    return backend;
  };
  for (const [answers, whole] of [
    [[undefined, undefined], undefined],
    [[undefined, true], true],
    [[true, true], true],
    [[true, false], false],
    [[false, undefined], false],
  ] as const) {
    it(`waits for those who are waited for: ${answers.join(', ')}`, async () => {
      const backends = answers.map(waiting);
      assert.equal(await both(backends).emit('a'), whole);
      assert.deepEqual(
        backends.map(({ texts }) => texts),
        [['a'], ['a']],
      );
    });
  }
});

describe('StandardOutput', () => {
  const NEVER = new AbortController().signal;

  it('writes lines', async () => {
    const written: string[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => {
        written.push(chunk.toString());
        done();
      },
    });
    const it = new StandardOutput(stream);
    await it.write(['a', 'b'], NEVER);
    await it.close();
    assert.deepEqual(written, ['a\nb\n']);
  });

  it('tells when nobody reads any more, and lives on', async () => {
    const stream = new Writable({ write: (_, __, done) => done(new Error('EPIPE')) });
    const it = new StandardOutput(stream);
    await assert.rejects(it.write(['a'], NEVER), { message: 'EPIPE' });
    await assert.rejects(it.write(['b'], NEVER));
    await it.close();
  });

  it('gives up when time is over', async () => {
    const over = new AbortController();
    const it = new StandardOutput(new Writable({ write: () => undefined }));
    const written = it.write(['a'], over.signal);
    over.abort(new Error('over'));
    await assert.rejects(written, { message: 'over' });
    await assert.rejects(it.write(['b'], over.signal), { message: 'over' });
    await it.close();
  });
});

describe('Losses', () => {
  it('counts every event, and tells of them now and then', () => {
    let now = 0;
    const counted: [string, number][] = [];
    const told: object[] = [];
    const metrics = { lost: (plugin: string, events: number): void => void counted.push([plugin, events]) };
    const log = { error: (_: string, keys?: object): void => void told.push(keys ?? {}) };
    const { onLost } = new Losses(metrics, log, () => now);
    const err = new Error('full');
    onLost('log', 1, err);
    onLost('log', 2, err);
    onLost('webhook', 3, err);
    now = 10_000;
    onLost('log', 4, err);
    assert.deepEqual(counted, [
      ['log', 1],
      ['log', 2],
      ['webhook', 3],
      ['log', 4],
    ]);
    assert.deepEqual(told, [
      { backend: 'log', events: 1, err },
      { backend: 'webhook', events: 3, err },
      { backend: 'log', events: 6, err },
    ]);
  });
});
