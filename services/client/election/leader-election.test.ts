import assert from 'node:assert/strict';
import type { Lease } from '../../machinery/types/generated/coordination.v1.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { builtInTypes } from '../rest/built-in-types.js';
import type { Live } from '../rest/resource-type.js';
import { FakeServer } from '../testing/fake-server.js';
import { lead, type ElectionOptions, type Leadership } from './leader-election.js';

const words = vocabulary('platform');
const { leases } = builtInTypes(words);
const KEY = 'platform-system/manager';

describe('leader election', () => {
  let server: FakeServer;
  let time: number;
  let stop: AbortController;
  beforeEach(() => {
    server = new FakeServer();
    time = 0;
    stop = new AbortController();
  });
  afterEach(() => stop.abort());

  const options = (identity: string, more: Partial<ElectionOptions> = {}): ElectionOptions => ({
    client: server.client,
    vocabulary: words,
    lease: { namespace: 'platform-system', name: 'manager' },
    identity,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 1,
    log: { info: () => undefined, warn: () => undefined },
    now: () => time,
    ...more,
  });
  const lease = (): Live<Lease> => server.get(leases, KEY) ?? assert.fail('there is no Lease');
  const holder = (): string => lease().spec?.holderIdentity ?? '';
  /** A leader, from when it leads. */
  interface Leader {
    readonly leadership: Leadership;
    readonly ended: Promise<'stopped' | 'lost'>;
  }
  const leads = (identity: string, more: Partial<ElectionOptions> = {}, signal = stop.signal): Promise<Leader> =>
    new Promise((resolve, reject) => {
      const ended: Promise<'stopped' | 'lost'> = lead(
        options(identity, more),
        async (leadership) => {
          resolve({ leadership, get ended() { return ended; } }); // prettier-ignore
          if (!leadership.signal.aborted) {
            await new Promise((end) => leadership.signal.addEventListener('abort', end, { once: true }));
          }
        },
        signal,
      );
      ended.catch(reject);
    });
  /** Lets timers of a millisecond run some times. */
  const turns = async (n = 10): Promise<void> => {
    for (let i = 0; i < n; i++) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const asks = (pattern: RegExp): number => server.asked.filter((it) => pattern.test(it)).length;
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  it('makes the Lease, and says whose it is', async () => {
    const { leadership } = await leads('a');
    assert.equal(leadership.isHeld(), true);
    assert.equal(leadership.transitions, 0);
    const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime, renewTime } = lease().spec ?? {};
    assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['a', 15, 0]);
    for (const at of [acquireTime, renewTime]) assert.match(at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('renews it, and keeps when it was acquired', async () => {
    await leads('a');
    const { resourceVersion } = lease().metadata;
    const { acquireTime } = lease().spec ?? {};
    await until(() => lease().metadata.resourceVersion !== resourceVersion);
    assert.equal(lease().spec?.acquireTime, acquireTime);
    assert.equal(lease().spec?.leaseTransitions, 0);
  });

  it('gives it back when it is stopped, so that another need not wait', async () => {
    const changes: boolean[] = [];
    const mine = new AbortController();
    const { leadership, ended } = await leads('a', { changed: (is) => changes.push(is) }, mine.signal);
    mine.abort();
    assert.equal(await ended, 'stopped');
    assert.equal(leadership.isHeld(), false);
    assert.deepEqual([holder(), lease().spec?.leaseDurationSeconds], ['', 1]);
    assert.deepEqual(changes, [true, false]);
    const next = await leads('b');
    assert.equal(holder(), 'b');
    assert.equal(next.leadership.transitions, 1);
  });

  const held = (by: string, spec: object = {}): void => {
    const times = { acquireTime: '2001-01-01T00:00:00.000000Z', renewTime: '2001-01-01T00:00:00.000000Z' };
    server.put(leases, {
      metadata: { name: 'manager', namespace: 'platform-system' },
      spec: { holderIdentity: by, leaseDurationSeconds: 15, leaseTransitions: 3, ...times, ...spec },
    });
  };

  it('waits until the Lease has not changed for as long as its holder says, by its own clock', async () => {
    held('other'); // renewed 25 years ago, by the clock of another
    const leading = leads('a');
    await until(() => asks(/^get/) > 1);
    for (time of [5_000, 14_999]) await turns();
    assert.equal(holder(), 'other');
    held('other', { renewTime: '2001-01-01T00:00:01.000000Z' });
    const before = asks(/^get/);
    await until(() => asks(/^get/) > before + 1);
    time += 14_999;
    await turns();
    assert.equal(holder(), 'other');
    time += 1;
    const { leadership } = await leading;
    assert.equal(holder(), 'a');
    assert.equal(leadership.transitions, 4);
  });

  it('believes a holder that asks for more time than this candidate would', async () => {
    held('other', { leaseDurationSeconds: 60 });
    const leading = leads('a');
    await until(() => asks(/^get/) > 1);
    time = 59_999;
    await turns();
    assert.equal(holder(), 'other');
    time = 60_000;
    await leading;
  });

  it('takes its own Lease again at once, and it has not changed hands', async () => {
    held('a');
    const { leadership } = await leads('a');
    assert.equal(leadership.transitions, 3);
  });

  it('is lost when it cannot be renewed in time, before another may take it', async () => {
    const { leadership, ended } = await leads('a');
    for (let i = 0; i < 1_000; i++) server.refuse(/^update leases/, 'InternalError');
    const { resourceVersion } = lease().metadata;
    time = 9_999;
    await turns();
    assert.equal(leadership.isHeld(), true);
    assert.equal(leadership.signal.aborted, false);
    time = 10_000;
    assert.equal(leadership.isHeld(), false, 'no timer has to run for that');
    assert.equal(await ended, 'lost');
    assert.equal(leadership.signal.aborted, true);
    assert.equal(lease().metadata.resourceVersion, resourceVersion, 'nothing is written after that');
  });

  it('counts its time from when a renewal was sent, not from when it was answered', async () => {
    const slow: ElectionOptions['client'] = {
      resource: (type) => {
        const requests = server.client.resource(type);
        const update: typeof requests.update = async (...args) => {
          const written = await requests.update(...args);
          time += 10_000;
          return written;
        };
        return { ...requests, update };
      },
    };
    const { ended } = await leads('a', { client: slow });
    assert.equal(await ended, 'lost');
  });

  it('makes no write when it wakes up after its time', async () => {
    const { leadership, ended } = await leads('a');
    held('b');
    const writes = asks(/^update/);
    time = 60_000;
    assert.equal(leadership.isHeld(), false);
    assert.equal(await ended, 'lost');
    assert.equal(asks(/^update/), writes);
    assert.equal(holder(), 'b');
  });

  it('is lost at once when another has taken it', async () => {
    const { ended } = await leads('a');
    held('b');
    assert.equal(await ended, 'lost');
    assert.equal(holder(), 'b');
  });

  it('is lost when the Lease is deleted', async () => {
    const { ended } = await leads('a');
    server.remove(leases, KEY);
    assert.equal(await ended, 'lost');
  });

  it('goes on after a write of its own whose answer was lost', async () => {
    const { leadership } = await leads('a');
    held('a', { leaseTransitions: 0 }); // as such a renewal leaves it
    const { resourceVersion } = lease().metadata;
    await until(() => lease().metadata.resourceVersion !== resourceVersion);
    await turns();
    assert.equal(leadership.signal.aborted, false);
  });

  it('has one leader of many candidates', async () => {
    let leaders = 0;
    const many = ['a', 'b', 'c', 'd', 'e'].map((identity) =>
      lead(
        options(identity),
        ({ signal }) => {
          leaders++;
          return new Promise((end) => signal.addEventListener('abort', () => end(), { once: true }));
        },
        stop.signal,
      ),
    );
    await until(() => leaders > 0);
    await turns(20);
    assert.equal(leaders, 1);
    stop.abort();
    assert.deepEqual(new Set(await Promise.all(many)), new Set(['stopped']));
  });

  it('goes on trying while the server cannot be asked', async () => {
    for (let i = 0; i < 5; i++) server.refuse(/^get leases/, 'ServiceUnavailable');
    await leads('a');
    assert.equal(holder(), 'a');
  });

  it('leaves with what its work fails with, and gives the Lease back', async () => {
    await assert.rejects(
      lead(options('a'), () => Promise.reject(new Error('broken')), stop.signal),
      /broken/,
    );
    assert.equal(holder(), '');
  });

  it('ends before it leads when it is stopped', async () => {
    held('other');
    const ended = lead(options('a'), () => assert.fail('it leads'), stop.signal);
    await until(() => asks(/^get/) > 0);
    stop.abort();
    assert.equal(await ended, 'stopped');
    assert.equal(holder(), 'other');
  });
});
