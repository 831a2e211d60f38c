import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startEtcd, type EtcdServer } from '../services/storage/testing/start-etcd.js';
import type { Client } from './api/tools/client.js';
import type { Document } from './api/tools/document.js';
import { configMap, configMapsIn, newNamespace, ok } from './api/tools/objects.js';
import { TestServer, type ServerOptions, type StoreName } from './api/tools/server.js';
import { runProgram, runTool, startTool } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const SUMMARY = /^(\d+) entries .* at revision (\d+), /;
const BUMP = 1000;

async function tool(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(args);
  assert.equal(code, 0, `${args.join(' ')}\n${stderr}`);
  return stdout;
}

/** Makes the backup and tells its revision. */
async function backUp(file: string, flags: readonly string[]): Promise<number> {
  const [, , revision] = SUMMARY.exec(await tool('backup', file, ...flags)) ?? [];
  return Number(revision);
}

/** What a list holds, but for the revisions, which a restore cannot keep. */
const items = (list: Document): unknown[] =>
  list.items.map((it) => ({ ...it, metadata: { ...it.metadata, resourceVersion: '' } }));

const stateOf = async ({ client }: TestServer, path: string): Promise<unknown[]> => items(ok(await client.get(path)));

/** Writes objects of one namespace in all ways until told to stop. */
function writers(client: Client, path: string): { stop(): Promise<number> } {
  const state = { over: false, writes: 0 };
  const write = async (who: number): Promise<void> => {
    for (let i = 0; !state.over; i++) {
      const name = `w${who}-${i % 40}`;
      const made = await client.post(path, configMap(name, { data: { i: String(i) } }));
      if (made.code === 409) await client.patch(`${path}/${name}`, { data: { i: String(i) } });
      if (i % 3 === 0) await client.delete(`${path}/w${who}-${(i + 7) % 40}`);
      state.writes += 1;
    }
  };
  const running = Promise.all([0, 1, 2, 3].map(write));
  return {
    stop: async () => {
      state.over = true;
      await running;
      return state.writes;
    },
  };
}

/** A store of its own, which servers come and go on. */
interface Home {
  readonly options: ServerOptions;
  /** How the tool reaches the store. */
  readonly flags: readonly string[];
}

class Homes {
  readonly scratch = scratchDirectory();
  readonly #etcds: EtcdServer[] = [];
  readonly #servers: TestServer[] = [];

  async make(store: StoreName): Promise<Home> {
    if (store === 'embedded') {
      const directory = scratchDirectory();
      return { options: { store, directory }, flags: [`--data-dir=${directory}`] };
    }
    const etcd = await startEtcd();
    this.#etcds.push(etcd);
    return { options: { store, etcdUrl: etcd.url }, flags: [`--etcd-servers=${etcd.url}`] };
  }

  async serve({ options }: Home): Promise<TestServer> {
    const server = await TestServer.start(options);
    this.#servers.push(server);
    return server;
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    for (const etcd of this.#etcds) await etcd.stop();
    removeDirectory(this.scratch);
  }
}

async function withHomes(act: (homes: Homes) => Promise<void>): Promise<void> {
  const homes = new Homes();
  try {
    await act(homes);
  } finally {
    await homes.close();
  }
}

describe('platformctl', function () {
  this.timeout(90_000);
  it('backs up either store while it is written to, and restores it to the other', () =>
    withHomes(async (homes) => {
      let home = await homes.make('embedded');
      let server = await homes.serve(home);
      const path = configMapsIn(await newNamespace(server.client));
      for (const next of ['etcd', 'embedded'] as const) {
        const busy = writers(server.client, path);
        const file = join(homes.scratch, `before-${next}`);
        await backUp(file, home.flags); // replaced by the next one
        const revision = await backUp(file, home.flags);
        const state = await stateOf(server, `${path}?resourceVersionMatch=Exact&resourceVersion=${revision}`);
        assert.match(await tool('backup', 'verify', file), SUMMARY);
        assert.ok((await busy.stop()) > 20);
        await server.end();

        home = await homes.make(next);
        await tool('restore', file, `--bump-revisions=${BUMP}`, ...home.flags);
        server = await homes.serve(home);
        assert.deepEqual(await stateOf(server, path), state);
        assert.ok(state.length > 0);
        const { metadata } = ok(await server.client.get(path));
        assert.ok(Number(metadata.resourceVersion) > revision + BUMP);
        const old = await server.client.get(`${path}?watch=1&resourceVersion=${revision + BUMP}`);
        assert.match(old.text, /"code":410/);
      }
    }));

  it('leaves no half of a restore that was killed: nothing starts on it, and the same backup goes on', () =>
    withHomes(async (homes) => {
      const home = await homes.make('embedded');
      const origin = await homes.serve(home);
      const path = configMapsIn(await newNamespace(origin.client));
      ok(await origin.client.get(path));
      const file = join(homes.scratch, 'backup');
      const revision = await backUp(file, home.flags);

      const there = await homes.make('etcd');
      const killed = startTool(['restore', file, '--bump-revisions=9000000', ...there.flags]);
      await killed.line(/^Raising revisions by writes/, 30_000, 'stderr');
      killed.kill('SIGKILL');
      assert.equal((await killed.exited).signal, 'SIGKILL');

      const refused = await runProgram([
        'up',
        '--bind-address=127.0.0.1',
        `--data-dir=${homes.scratch}`,
        ...there.flags,
      ]);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /Cannot start: The store is half restored: run the restore again/);
      const other = await runTool(['backup', join(homes.scratch, 'other'), ...there.flags]);
      assert.deepEqual([other.code, other.stdout], [1, '']);
      assert.match(other.stderr, /is half restored\n$/);

      await tool('restore', file, '--bump-revisions=1', ...there.flags);
      const server = await homes.serve(there);
      assert.ok(Number(ok(await server.client.get(path)).metadata.resourceVersion) > revision);
    }));

  it('refuses what it cannot do, in one line', () =>
    withHomes(async (homes) => {
      const home = await homes.make('embedded');
      const server = await homes.serve(home);
      const file = join(homes.scratch, 'backup');
      await backUp(file, home.flags);
      const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
        [['restore', file, ...home.flags], 1, /process \d+ has it open/],
        [['backup', file, `--data-dir=${homes.scratch}`], 1, /There is no store in/],
        [['backup', file, '--etcd-prefix=/other', ...home.flags], 1, /nothing of this product under \/other\//],
        [['backup', 'verify', join(homes.scratch, 'none')], 1, /ENOENT/],
        [['backup', ...home.flags], 2, /Usage: platformctl backup FILE/],
        [['mend'], 2, /Usage: platformctl COMMAND/],
      ];
      for (const [args, code, why] of cases) {
        const exit = await runTool(args);
        assert.equal(exit.code, code, `${args.join(' ')}\n${exit.stderr}`);
        assert.match(exit.stderr, why);
      }
      await server.end();
      const again = await runTool(['restore', file, ...home.flags]);
      assert.match(again.stderr, /There is something under \/registry\//);
      assert.equal(again.code, 1);
      await tool('restore', file, '--force', ...home.flags);
    }));
});
