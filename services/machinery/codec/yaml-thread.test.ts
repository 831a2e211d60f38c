import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parseYaml } from './yaml.js';
import { YamlThread } from './yaml-thread.js';

const MB = 1024 * 1024;
const lines = (count: number, line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('\n'); // prettier-ignore
const worker = (source: string) => (): Worker => new Worker(source, { eval: true });

describe('YamlThread', () => {
  it('parses as is done in place, hostile keys and all', async () => {
    const text = '__proto__: {a: 1}\nb: [x, null, 1.5, true]\n"c\\u2028": "é"\n';
    const duplicates: string[] = [];
    const value = await new YamlThread().parse(text, 100, MB, duplicates);
    assert.deepEqual(value, await parseYaml(Buffer.from(text)));
    assert.ok(Object.hasOwn(value as object, '__proto__'));
    assert.deepEqual(duplicates, []);
  });

  it('tells of keys that are there twice, or refuses them', async () => {
    const duplicates: string[] = [];
    assert.deepEqual(await new YamlThread().parse('a: 1\na: 2', 100, MB, duplicates), { a: 2 });
    assert.deepEqual(duplicates, ['a']);
    await assert.rejects(new YamlThread().parse('a: 1\na: 2', 100, MB), {
      reason: 'BadRequest',
      message: /already set/,
    });
  });

  it('refuses what does, and what becomes too long by its aliases', async () => {
    const thread = new YamlThread();
    await assert.rejects(thread.parse('a: [', 100, MB), { reason: 'BadRequest', message: /yaml parse error/ });
    await assert.rejects(thread.parse('a: {b: {c: {}}}', 2, MB), { reason: 'BadRequest', message: /max depth 2/ });
    const repeated = `a: &x ${'y'.repeat(1000)}\n${lines(50, (i) => `b${i}: *x`)}`;
    await assert.rejects(thread.parse(repeated, 100, 40_000), { reason: 'RequestEntityTooLarge' });
  });

  it('answers all of many at once, each its own', async () => {
    const thread = new YamlThread();
    const values = await Promise.all(Array.from({ length: 20 }, (_, i) => thread.parse(`n: ${i}`, 100, MB)));
    assert.deepEqual(
      values,
      Array.from({ length: 20 }, (_, n) => ({ n })),
    );
  });

  it('refuses more than may wait', async () => {
    const silent = new YamlThread(worker("require('node:worker_threads').parentPort.on('message', () => {})"), 50);
    const text = 'x'.repeat(8 * MB);
    const waiting = [silent.parse(text, 100, MB), silent.parse(text, 100, MB)].map((it) => assert.rejects(it, { reason: 'Timeout' })); // prettier-ignore
    await assert.rejects(silent.parse('x', 100, MB), { reason: 'TooManyRequests', code: 429 });
    await Promise.all(waiting);
  });

  it('goes on in another thread when one has died of a text', async () => {
    let started = 0;
    const dying = worker("require('node:worker_threads').parentPort.on('message', () => process.exit(1))");
    const answering = worker(
      "const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => parentPort.postMessage({ json: '1', duplicates: [] }))",
    );
    const thread = new YamlThread(() => (started++ === 0 ? dying() : answering()));
    const [first, second] = await Promise.allSettled([thread.parse('a', 100, MB), thread.parse('b', 100, MB)]);
    assert.ok(first.status === 'rejected' && (first.reason as { reason: string }).reason === 'InternalError');
    assert.deepEqual(second, { status: 'fulfilled', value: 1 });
  });
});

/** A thread that answers when the test says so. */
class Staged extends EventEmitter {
  readonly texts: string[] = [];
  keepsProcess = true;
  terminated = false;

  postMessage({ text }: { readonly text: string }): void {
    this.texts.push(text);
  }
  ref(): void {
    this.keepsProcess = true;
  }
  unref(): void {
    this.keepsProcess = false;
  }
  terminate(): Promise<number> {
    this.terminated = true;
    return Promise.resolve(0);
  }
  answer(value: unknown): void {
    this.emit('message', { json: JSON.stringify(value), duplicates: [] });
  }
}

describe('YamlThread and its time', () => {
  const WITHIN_MS = 10_000;
  let staged: Staged[];
  let thread: YamlThread;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    staged = [];
    thread = new YamlThread(() => {
      staged.push(new Staged());
      return staged.at(-1) as unknown as Worker;
    });
  });
  afterEach(() => mock.timers.reset());
  const parse = (text: string): Promise<unknown> => thread.parse(text, 100, MB);
  const waits = async (parsed: Promise<unknown>): Promise<boolean> =>
    (await Promise.race([parsed, new Promise((resolve) => setImmediate(resolve, 'waits'))])) === 'waits';

  it('gives each text its own, from when it is sent', async () => {
    const [first, second] = [parse('a'), parse('b')];
    mock.timers.tick(WITHIN_MS - 1);
    assert.deepEqual(staged[0]?.texts, ['a']);
    staged[0].answer(1);
    assert.equal(await first, 1);
    mock.timers.tick(WITHIN_MS - 1);
    assert.ok(await waits(second));
    staged[0].answer(2);
    assert.equal(await second, 2);
    assert.equal(staged.length, 1);
  });

  it('ends the thread that takes longer, and gives the others to a new one', async () => {
    const [first, second] = [parse('a'), parse('b')];
    mock.timers.tick(WITHIN_MS);
    await assert.rejects(first, { reason: 'Timeout' });
    assert.deepEqual([staged[0]?.terminated, staged[1]?.texts], [true, ['b']]);
    staged[0]?.emit('exit', 1); // what it says now is about nobody
    assert.ok(await waits(second));
    staged[1]?.answer(2);
    assert.equal(await second, 2);
  });

  it('keeps the process while somebody waits, and no longer', async () => {
    const first = parse('a');
    const [only] = staged;
    assert.equal(only?.keepsProcess, true);
    only.answer(1);
    await first;
    assert.equal(only.keepsProcess, false);
    const second = parse('b');
    assert.equal(only.keepsProcess, true);
    only.answer(2);
    await second;
  });

  it('ends a thread that has rested for half a minute', async () => {
    const first = parse('a');
    staged[0]?.answer(1);
    await first;
    mock.timers.tick(29_999);
    assert.equal(staged[0]?.terminated, false);
    const second = parse('b');
    staged[0].answer(2);
    await second;
    mock.timers.tick(29_999);
    assert.equal(staged[0].terminated, false, 'it has rested from its last text on');
    mock.timers.tick(1);
    assert.equal(staged[0].terminated, true);
    const third = parse('c');
    assert.deepEqual(staged[1]?.texts, ['c']);
    staged[1].answer(3);
    assert.equal(await third, 3);
  });

  it('has room again for what was answered, in whatever way', async () => {
    const text = 'x'.repeat(10 * MB);
    const first = parse(text);
    staged[0]?.answer(1);
    await first;
    const second = parse(text);
    staged[0]?.emit('error', new Error('out of memory'));
    await assert.rejects(second, { reason: 'InternalError' });
    const third = parse(text);
    staged[1]?.answer(3);
    assert.equal(await third, 3);
  });
});

describe('YamlThread at rest', () => {
  it('keeps no process with a timer', async () => {
    await Promise.resolve(); // from here on the runner has its own timer
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const only = new Staged();
    const parsed = new YamlThread(() => only as unknown as Worker).parse('a', 100, MB);
    assert.equal(timers(), before + 1);
    only.answer(1);
    await parsed;
    assert.equal(timers(), before);
  });
});

describe('parseYaml()', () => {
  it('takes a text of 8 KB where it is, and a longer one to the thread', async () => {
    const parse = mock.method(YamlThread.prototype, 'parse');
    try {
      const text = `a: ${'x'.repeat(8 * 1024 - 3)}`;
      await parseYaml(Buffer.from(text));
      assert.equal(parse.mock.callCount(), 0);
      assert.deepEqual(await parseYaml(Buffer.from(`${text}x`)), { a: 'x'.repeat(8 * 1024 - 2) });
      assert.equal(parse.mock.callCount(), 1);
    } finally {
      parse.mock.restore();
    }
  });
});

describe('parseYaml() of a long text', () => {
  it('leaves the event loop to others', async () => {
    const text = lines(8000, (i) => `key-${i}: {a: [1, 2, 3]}`);
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const value = (await parseYaml(Buffer.from(text))) as Record<string, unknown>;
    over = true;
    assert.deepEqual(value['key-7999'], { a: [1, 2, 3] });
    assert.ok(turns > 10, `${turns} turns`);
  });
});
