import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../storage/embedded/embedded-store.js';
import { embeddedSnapshots } from '../../storage/embedded/snapshots.js';
import { etcdSnapshots } from '../../storage/etcd/snapshots.js';
import { openEtcdStore } from '../../storage/etcd/store.js';
import type { SnapshotSource } from '../../storage/snapshot.js';
import { StoreError, isStoreError, revision, type KeyValueStore, type LeaseId } from '../../storage/store.js';
import { startEtcd, type EtcdServer } from '../../storage/testing/start-etcd.js';
import { backUp } from '../backup/backup.js';
import type { BackupSummary, Source } from '../backup/backup-file.js';
import { restore, type RestoreOptions } from './restore.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const PREFIX = '/registry/';
const never = new AbortController().signal;
const now = new Date('2026-01-02T03:04:05Z');

/** A backup in memory. */
async function backupOf(source: SnapshotSource): Promise<{ source: Source; summary: BackupSummary }> {
  let parts: Buffer[] = [];
  const summary = await backUp(
    {
      source,
      etcdPrefix: '/registry',
      productVersion: '1.24.0',
      now,
      output: {
        sink: (bytes) => Promise.resolve(void parts.push(bytes)),
        again: () => Promise.resolve(void (parts = [])),
        finish: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
    },
    never,
  ).finally(() => source.close());
  const whole = Buffer.concat(parts);
  return {
    summary,
    source: async function* () {
      yield await Promise.resolve(whole);
    },
  };
}

const put = (store: KeyValueStore, key: string, value: string | Buffer, lease?: LeaseId): Promise<unknown> =>
  store.transact(
    {
      conditions: [],
      operations: [{ type: 'put', key, value: Buffer.from(value), ...(lease === undefined ? {} : { lease }) }],
    },
    never,
  );

type State = Record<string, string>;

/** What lies under a prefix, by the key below it. */
async function stateOf(store: KeyValueStore, prefix = PREFIX): Promise<State> {
  const { kvs } = await store.range(prefix, {}, never);
  return Object.fromEntries(kvs.map(({ key, value }) => [key.slice(prefix.length), value.toString()]));
}

/** What a restore brings back of a state: not what tells of another history, or of processes. */
const lasting = (state: State): State =>
  Object.fromEntries(Object.entries(state).filter(([key]) => !/^-\/(compaction|restore|apiservers\/.*)$/.test(key)));

async function fillStore(store: KeyValueStore): Promise<State> {
  await put(store, `${PREFIX}-/vocabulary`, 'platform');
  await put(store, `${PREFIX}-/compaction`, '{}');
  await put(store, `${PREFIX}-/apiservers/10.0.0.1`, '');
  for (let i = 0; i < 350; i++) await put(store, `${PREFIX}core/configmaps/a/c${i}`, `{"n":${i}}`);
  await put(store, `${PREFIX}core/secrets/a/large`, Buffer.alloc(1_400_000, 'x'));
  await put(store, '/other/x', 'not ours');
  const lease = await store.grantLease(3600, never);
  await put(store, `${PREFIX}core/events/a/one`, 'event', lease);
  await put(store, `${PREFIX}core/events/a/two`, 'event', lease);
  return stateOf(store);
}

interface Place {
  /** Opens the store again, closing it first. */
  open(): Promise<RestoreOptions['store']>;
  snapshots(): Promise<SnapshotSource>;
  dispose(): Promise<void>;
}

const PLACES: Readonly<Record<'embedded' | 'etcd', () => Promise<Place>>> = {
  embedded: () => {
    const directory = mkdtempSync(join(tmpdir(), 'restore-'));
    let store: RestoreOptions['store'] | undefined;
    const open = async (): Promise<RestoreOptions['store']> => {
      await store?.close();
      return (store = await openEmbeddedStore({ directory, log, onFatal: () => undefined }));
    };
    return Promise.resolve({
      open,
      snapshots: async () => {
        await store?.close();
        return embeddedSnapshots({ directory });
      },
      dispose: async () => {
        await store?.close();
        rmSync(directory, { recursive: true, force: true });
      },
    });
  },
  etcd: async () => {
    const etcd: EtcdServer = await startEtcd();
    let store: KeyValueStore | undefined;
    return {
      open: async () => {
        await store?.close();
        return (store = await openEtcdStore({ endpoints: [etcd.url], log }));
      },
      snapshots: () => Promise.resolve(etcdSnapshots({ endpoints: [etcd.url], log })),
      dispose: async () => {
        await store?.close();
        await etcd.stop();
      },
    };
  },
};
type Kind = keyof typeof PLACES;

async function withPlaces(kinds: readonly Kind[], act: (...places: Place[]) => Promise<void>): Promise<void> {
  const places: Place[] = [];
  try {
    for (const kind of kinds) places.push(await PLACES[kind]());
    await act(...places);
  } finally {
    for (const place of places) await place.dispose();
  }
}

const options = (store: RestoreOptions['store'], source: Source, o: Partial<RestoreOptions> = {}): RestoreOptions => ({
  store,
  source,
  etcdPrefix: '/registry',
  force: false,
  bumpRevisions: 500,
  report: () => undefined,
  ...o,
});

/** Fails for good at the n-th change, before or after it was made. */
function failing(store: RestoreOptions['store'], at: number, when: 'before' | 'after'): RestoreOptions['store'] {
  const left = { calls: at };
  return new Proxy(store, {
    get: (target, name: keyof typeof store) => {
      const member = (target[name] as (...args: never[]) => unknown).bind(target);
      if (name !== 'transact' && name !== 'compact') return member;
      return async (...args: never[]): Promise<unknown> => {
        left.calls -= 1;
        const dies = left.calls <= 0;
        if (left.calls < 0 || (dies && when === 'before')) throw new StoreError('closed', 'killed');
        const result = await member(...args);
        if (dies) throw new StoreError('closed', 'killed');
        return result;
      };
    },
  });
}

describe('restore()', function () {
  this.timeout(60_000);
  for (const [from, to] of [
    ['embedded', 'etcd'],
    ['etcd', 'embedded'],
  ] as const) {
    it(`brings the state of ${from} to ${to}, with what its leases had left`, () =>
      withPlaces([from, to], async (origin, target) => {
        const state = await fillStore(await origin.open());
        const { source, summary } = await backupOf(await origin.snapshots());
        assert.deepEqual([summary.entries, summary.leased, summary.vocabulary], [356, 2, 'platform']);
        const store = await target.open();
        const done = await restore(options(store, source), never);
        assert.deepEqual(await stateOf(store), lasting(state));

        assert.ok(done.compacted > summary.revision + 500);
        await assert.rejects(store.get('/x', { revision: revision(summary.revision) }, never), { code: 'compacted' });
        const ended = await new Promise<StoreError>((resolve) => {
          store.watch(
            { prefix: PREFIX, from: revision(summary.revision + 500) },
            { events: () => undefined, ended: resolve },
          );
        });
        assert.equal(ended.code, 'compacted');

        const again = await backupOf(await target.snapshots());
        assert.equal(again.summary.leased, 2);
        const leases = new Set<string>();
        for await (const page of (await (await target.snapshots()).take(PREFIX, never)).pages(never)) {
          for (const { lease } of page) if (lease !== undefined) leases.add(lease);
        }
        assert.equal(leases.size, 1, 'entries of one lease end together');
      }));
  }

  it('writes as often as revisions have to go up where nothing else raises them', () =>
    withPlaces(['embedded', 'etcd'], async (origin, target) => {
      const one = await origin.open();
      await put(one, `${PREFIX}-/vocabulary`, 'platform');
      const { source, summary } = await backupOf(await origin.snapshots());
      const store = await target.open();
      await restore(options(store, source, { bumpRevisions: 3000 }), never);
      const head = await store.head(never);
      assert.ok(head > summary.revision + 3000 && head < summary.revision + 3020, String(head));
      assert.deepEqual(await stateOf(store), { '-/vocabulary': 'platform' });

      const far = options(store, source, { bumpRevisions: 1_000_000_000, force: true });
      await assert.rejects(restore(far, never), /etcdutl snapshot restore --bump-revision/);
      // Not raised unless asked for: the store is ahead.
      await restore(options(store, source, { bumpRevisions: undefined, force: true }), never);
      assert.ok((await store.head(never)) < head + 20);
    }));

  it('takes nothing away unless told to', () =>
    withPlaces(['embedded', 'embedded'], async (origin, target) => {
      await fillStore(await origin.open());
      const { source } = await backupOf(await origin.snapshots());
      const store = await target.open();
      await put(store, `${PREFIX}core/configmaps/a/mine`, '{}');
      await put(store, `${PREFIX}-/vocabulary`, 'kubernetes');
      const before = await stateOf(store);
      await assert.rejects(restore(options(store, source), never), /There is something under/);
      assert.deepEqual(await stateOf(store), before);

      await put(store, `${PREFIX}-/apiservers/10.0.0.1`, '');
      await assert.rejects(restore(options(store, source, { force: true }), never), /1 API servers use the store/);
      await store.transact(
        { conditions: [], operations: [{ type: 'delete', key: `${PREFIX}-/apiservers/10.0.0.1` }] },
        never,
      );
      await restore(options(store, source, { force: true }), never);
      const after = await stateOf(store);
      assert.equal(after['core/configmaps/a/mine'], undefined);
      assert.equal(after['-/vocabulary'], 'platform');
    }));

  it('puts encrypted values under their own prefix only', () =>
    withPlaces(['embedded', 'embedded'], async (origin, target) => {
      const one = await origin.open();
      await put(one, `${PREFIX}-/vocabulary`, 'platform');
      await put(one, `${PREFIX}core/configmaps/a/c`, '{}');
      const plain = await backupOf(await origin.snapshots());
      await put(await origin.open(), `${PREFIX}core/secrets/a/s`, 'platform:enc:aesgcm:v1:k:xxxx');
      const encrypted = await backupOf(await origin.snapshots());
      const store = await target.open();
      await restore(options(store, plain.source, { etcdPrefix: 'elsewhere' }), never);
      assert.deepEqual(Object.keys(await stateOf(store, '/elsewhere/')), ['-/vocabulary', 'core/configmaps/a/c']);
      await assert.rejects(
        restore(options(store, encrypted.source, { etcdPrefix: 'third' }), never),
        /1 values of the backup are encrypted and belong under \/registry\//,
      );
    }));

  it('is either whole or told of, wherever it is killed, and goes on', () =>
    withPlaces(['embedded', 'embedded'], async (origin, target) => {
      const state = lasting(await fillStore(await origin.open()));
      const { source, summary } = await backupOf(await origin.snapshots());
      const another = await backupOf(
        await origin
          .snapshots()
          .then(() => origin.open())
          .then(async (it) => {
            await put(it, `${PREFIX}core/configmaps/a/more`, '{}');
            return origin.snapshots();
          }),
      );
      assert.notEqual(another.summary.digest, summary.digest);
      let steps = 0;
      for (let at = 1, finished = false; !finished; at++) {
        for (const when of ['before', 'after'] as const) {
          const store = await target.open();
          const dying = failing(store, at, when);
          finished = await restore(options(dying, source, { force: true }), never).then(
            () => true,
            (err: unknown) => {
              assert.ok(isStoreError(err, 'closed'), String(err));
              return false;
            },
          );
          const left = await stateOf(store);
          if (left['-/restore'] !== undefined) {
            steps += 1;
            assert.equal(left['-/vocabulary'], undefined);
            await assert.rejects(restore(options(store, another.source), never), /half restored from another backup/);
            await assert.rejects(target.snapshots().then(backupOf), /is half restored/);
            await restore(options(await target.open(), source), never);
          }
          const whole = await stateOf(await target.open());
          // At the first call nothing was taken away yet; before there was anything at all.
          if (at > 1 || when === 'after' || Object.keys(whole).length > 0)
            assert.deepEqual(whole, state, `${when} ${at}`);
        }
      }
      assert.ok(steps > 20, `${steps} steps`);
    }));
});
