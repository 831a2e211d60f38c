import assert from 'node:assert/strict';

import { Recorder } from '../contract/recorder.js';
import { revision } from '../store.js';
import { ScriptedEtcd } from '../testing/scripted-etcd.js';
import { Channel } from './channel.js';
import { keySpace } from './keys.js';
import { SESSION_TIMES } from './session.js';
import { EtcdWatch, type EtcdWatchOptions } from './watch.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('EtcdWatch on an etcd whose progress runs ahead', function () {
  this.timeout(10_000);
  let etcd: ScriptedEtcd;
  let channel: Channel;
  let seen: Recorder;
  beforeEach(async () => {
    etcd = await ScriptedEtcd.start(50);
    channel = new Channel({ endpoints: [{ url: etcd.url, secure: false }], tls: {}, times: SESSION_TIMES, log });
    seen = new Recorder();
  });
  afterEach(() => {
    channel.close();
    etcd.close();
  });

  const open = (reliableProgress: boolean): EtcdWatch => {
    const o: EtcdWatchOptions = {
      channel,
      space: keySpace(),
      log,
      reliableProgress,
      confirmTimeoutMs: 5000,
      observe: () => undefined,
      saw: () => undefined,
      verify: () => Promise.resolve(),
      over: () => undefined,
    };
    return new EtcdWatch(o, { prefix: '/', from: revision(10) }, seen);
  };

  for (const [trusted, next] of [
    [false, 10],
    [true, 51],
  ] as const) {
    it(`begins a new stream at ${next} when progress up to 50 was ${trusted ? '' : 'not '}to be trusted`, async () => {
      const watch = open(trusted);
      watch.requestProgress();
      await seen.until('progress', () => seen.progressed.length > 0);
      assert.equal(seen.progressed[0]?.revision, 50);
      etcd.stream?.close();
      await etcd.watched(2);
      assert.deepEqual(etcd.creates, [10, next]);
      watch.close();
    });
  }
});
