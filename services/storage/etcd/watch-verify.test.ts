import assert from 'node:assert/strict';

import { Recorder } from '../contract/recorder.js';
import { StoreError, revision, type Revision } from '../store.js';
import { ScriptedEtcd } from '../testing/scripted-etcd.js';
import { Channel } from './channel.js';
import { keySpace } from './keys.js';
import type { Place } from './lineage.js';
import { SESSION_TIMES } from './session.js';
import { EtcdWatch } from './watch.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What a watch asks before it delivers; the test answers. */
interface Question {
  readonly place: Place;
  readonly sound: () => void;
  readonly fail: (err: Error) => void;
}

describe('EtcdWatch and what it asks before it delivers', () => {
  let etcd: ScriptedEtcd;
  let channel: Channel;
  let seen: Recorder;
  let questions: Question[];
  let asked: () => void;
  let told: Revision[];
  let watch: EtcdWatch;
  beforeEach(async () => {
    etcd = await ScriptedEtcd.start(50);
    channel = new Channel({ endpoints: [{ url: etcd.url, secure: false }], tls: {}, times: SESSION_TIMES, log });
    seen = new Recorder();
    questions = [];
    told = [];
  });
  afterEach(() => {
    watch.close();
    channel.close();
    etcd.close();
  });

  const open = (from: number): void => {
    const o = {
      channel,
      space: keySpace(),
      log,
      reliableProgress: true,
      confirmTimeoutMs: 5000,
      observe: () => undefined,
      saw: (at: Revision) => void told.push(at),
      verify: (place: Place) =>
        new Promise<void>((sound, fail) => {
          questions.push({ place, sound, fail });
          asked();
        }),
      over: () => undefined,
    };
    watch = new EtcdWatch(o, { prefix: '/', from: revision(from) }, seen);
  };
  /** What is asked next. */
  const question = async (): Promise<Question> => {
    if (questions.length === 0) await new Promise<void>((resolve) => (asked = resolve));
    return questions.shift() as Question; // there is one
  };
  /** A watch that has delivered one change, at revision 51. */
  const running = async (): Promise<void> => {
    open(51);
    await etcd.watched(1);
    etcd.sendPut('/a', 51);
    await seen.count(1);
  };

  it('asks nothing where no past is delivered', async () => {
    await running();
    assert.deepEqual([questions, told], [[], [51]]);
  });

  it('asks about the past before the first change of it, and holds that back', async () => {
    open(50);
    await etcd.watched(1);
    etcd.sendPut('/a', 50);
    etcd.sendPut('/a', 51);
    const { place, sound } = await question();
    assert.deepEqual([place, seen.all.length], [{ next: 50, last: undefined }, 0]);
    sound();
    await seen.count(2);
    assert.deepEqual(questions, []);
  });

  it('asks again after a pause: what comes then may have been read anew', async () => {
    await running();
    watch.pause();
    etcd.sendPut('/a', 52);
    watch.resume();
    const { place, sound } = await question();
    assert.deepEqual(place, { next: 52, last: { key: '/a', modRevision: 51, deleted: false } });
    assert.equal(seen.all.length, 1);
    sound();
    await seen.count(2);
  });

  it('asks at once where the store is behind what it watches from', async () => {
    open(60);
    assert.equal((await question()).place.next, 60);
    etcd.sendPut('/a', 60);
    assert.equal(seen.all.length, 0);
  });

  it('asks on each stream that takes the place of another, before it says that it is back', async () => {
    await running();
    etcd.stream?.close();
    const { place, sound } = await question();
    assert.deepEqual(place, { next: 52, last: { key: '/a', modRevision: 51, deleted: false } });
    assert.deepEqual(seen.connections, [false]);
    sound();
    await seen.until('the return', () => seen.connections.at(-1) === true);
  });

  it('ends when history is another, or no longer there', async () => {
    for (const code of ['replaced', 'compacted'] as const) {
      etcd.creates.length = 0;
      seen = new Recorder();
      etcd.head = 50;
      await running();
      etcd.stream?.close();
      (await question()).fail(new StoreError(code, 'so it is'));
      await seen.endedWith(code);
    }
  });

  it('ends where the revision before its first is gone: what was deleted since may be, too', async () => {
    open(10);
    await etcd.watched(1);
    etcd.sendPut('/a', 50);
    (await question()).fail(new StoreError('compacted', 'below 20'));
    await seen.endedWith('compacted');
    assert.equal(seen.all.length, 0);
  });

  it('leaves it to the store to say from where history is left when it comes back', async () => {
    await running();
    etcd.head = 60;
    etcd.stream?.close();
    (await question()).fail(new StoreError('compacted', 'below 55'));
    await seen.until('the return', () => seen.connections.at(-1) === true);
    etcd.send({ canceled: true, compact_revision: 55 });
    assert.equal((await seen.endedWith('compacted')).compactRevision, 55);
  });

  it('tries another stream when it gets no answer', async () => {
    open(50);
    await etcd.watched(1);
    etcd.sendPut('/a', 50);
    (await question()).fail(new StoreError('unavailable', 'no answer'));
    await etcd.watched(2);
    (await question()).sound();
    assert.deepEqual([etcd.creates, seen.all], [[50, 50], []]);
  });
});
