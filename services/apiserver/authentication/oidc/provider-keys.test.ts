import assert from 'node:assert/strict';
import { TestKey } from '../service-accounts/testing/tokens.js';
import { readKeySet, type KeySet } from './key-set.js';
import type { FetchedKeys } from './provider.js';
import { ProviderKeys, type ProviderKeysDeps } from './provider-keys.js';
import { jwkOf } from './testing/provider.js';

const [A, B] = [new TestKey(), new TestKey()];
const fetched = (keys: readonly TestKey[], maxAgeMs?: number): FetchedKeys => ({
  ...readKeySet({ keys: keys.map((key) => jwkOf(key)) }, new Set(['ES256'])),
  maxAgeMs,
});
const idsOf = (set: KeySet | undefined): unknown => set?.keys.map(({ id }) => id);

describe('ProviderKeys', () => {
  const MINUTE = 60_000;
  let controller: AbortController;
  let now: number;
  let asked: number;
  /** What comes of each question. */
  let answer: () => Promise<FetchedKeys>;
  let logged: string[];
  let pauses: number[];
  beforeEach(() => {
    controller = new AbortController();
    [now, asked, logged, pauses] = [0, 0, [], []];
    answer = () => Promise.resolve(fetched([A]));
  });

  const open = (o: Partial<ProviderKeysDeps> = {}): ProviderKeys =>
    new ProviderKeys({
      fetchKeys: () => {
        asked++;
        return answer();
      },
      log: { info: (message) => void logged.push(message), warn: (message) => void logged.push(message) },
      signal: controller.signal,
      nowMs: () => now,
      ...o,
    });
  /** Runs it through these questions, and ends it in the pause after the last one. */
  const run = async (...answers: (() => Promise<FetchedKeys>)[]): Promise<ProviderKeys> => {
    const keys = open({
      fetchKeys: () => answers[asked++]?.() ?? answer(),
      pause: (ms) => {
        if (pauses.push(ms) === answers.length) controller.abort();
        return Promise.resolve();
      },
    });
    await keys.run();
    return keys;
  };
  const failing = (): Promise<FetchedKeys> => Promise.reject(new Error('nobody listens there'));

  describe('run()', () => {
    it('asks a provider that is away again, later each time, and within bounds', async () => {
      const keys = await run(...Array.from({ length: 8 }, () => failing));
      const bounds = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
      for (const [i, most] of bounds.entries()) {
        assert.ok(pauses[i]! >= most / 2 && pauses[i]! <= most, `${i}: ${pauses[i]}`);
      }
      assert.equal(keys.current, undefined);
      assert.deepEqual([...new Set(logged)], ['Keys of the OpenID provider cannot be read']);
    });

    it('begins with short pauses again after an answer', async () => {
      await run(failing, failing, failing, () => Promise.resolve(fetched([A])), failing);
      assert.ok(pauses[2]! >= 2_000);
      assert.ok(pauses[4]! <= 1_000);
    });

    it('keeps the last keys while the provider is away', async () => {
      const keys = await run(() => Promise.resolve(fetched([A])), failing, failing);
      assert.deepEqual(idsOf(keys.current), [A.verifying.id]);
    });

    for (const [told, kept] of [
      [undefined, 10 * MINUTE],
      [0, MINUTE],
      [2 * MINUTE, 2 * MINUTE],
      [365 * 24 * 60 * MINUTE, 24 * 60 * MINUTE],
    ] as const) {
      it(`reads keys again after ${kept} ms when it is told ${told ?? 'nothing'}`, async () => {
        await run(() => Promise.resolve(fetched([A], told)));
        assert.deepEqual(pauses, [kept]);
      });
    }

    it('takes keys that have changed, and is the same while they have not', async () => {
      const keys = open();
      await keys.renew();
      const first = keys.current;
      now += MINUTE;
      await keys.renew();
      assert.equal(keys.current, first);
      answer = () => Promise.resolve(fetched([B]));
      now += MINUTE;
      await keys.renew();
      assert.deepEqual(idsOf(keys.current), [B.verifying.id]);
      assert.deepEqual(logged, Array(2).fill('Keys of the OpenID provider read'));
    });

    it('ends in a pause when the signal fires', async () => {
      const running = open().run();
      await new Promise(setImmediate);
      controller.abort();
      await running;
      assert.equal(asked, 1);
    });

    it('says nothing of a question that the signal has cut', async () => {
      answer = () => {
        controller.abort();
        return failing();
      };
      await open().run();
      assert.deepEqual([asked, logged], [1, []]);
    });

    it('tells of keys that are no good', async () => {
      answer = () => Promise.resolve({ ...fetched([A]), unusable: ['"b": too short'] });
      await open().renew();
      assert.deepEqual(logged, ['Keys of the OpenID provider read', 'Keys of the OpenID provider cannot be used']);
    });
  });

  describe('renew()', () => {
    it('asks once for all who come meanwhile', async () => {
      let done = (_: FetchedKeys): void => undefined;
      answer = () => new Promise((resolve) => (done = resolve));
      const keys = open();
      const waiting = Array.from({ length: 5 }, () => keys.renew());
      done(fetched([A]));
      assert.deepEqual(await Promise.all(waiting), [true, false, false, false, false]);
      assert.deepEqual([asked, idsOf(keys.current)], [1, [A.verifying.id]]);
    });

    it('does not ask again for ten seconds, whatever came of it', async () => {
      const keys = open();
      assert.equal(await keys.renew(), true);
      now += 9_999;
      assert.equal(await keys.renew(), false);
      answer = failing;
      now += 1;
      assert.equal(await keys.renew(), false);
      assert.equal(asked, 2);
      now += 9_999;
      await keys.renew();
      assert.equal(asked, 2);
    });

    it('lets no more than a thousand wait', async () => {
      let done = (_: FetchedKeys): void => undefined;
      answer = () => new Promise((resolve) => (done = resolve));
      const keys = open();
      const waiting = Array.from({ length: 1_000 }, () => keys.renew());
      assert.equal(await keys.renew(), false); // at once
      done(fetched([A]));
      await Promise.all(waiting);
      assert.equal(keys.current?.keys.length, 1);
      answer = () => Promise.resolve(fetched([B]));
      now += 10_000;
      assert.equal(await keys.renew(), true);
    });
  });
});
