import assert from 'node:assert/strict';
import { setTimeout as passed } from 'node:timers/promises';
import { eventually } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { PROCESSES, Replicas, type ProcessName } from './tools/processes.js';
import { worksOn, type Work } from './tools/works.js';

const KILLS = 20;
const REPLICAS = 2;
const LEAST_PIECES = 6;
const MOST_PIECES = 24;
/** Longest between two kills of a process: leaders come to work in between. */
const PAUSE_MS = 2_500;
const PATIENCE_MS = 120_000;

describe('processes of controllers that are killed while they work', function () {
  this.timeout(400_000);
  let server: TestServer;
  let works: Readonly<Record<ProcessName, Work>>;
  const pieces = new Map<ProcessName, number>();
  let replicas: readonly Replicas[] = [];

  before(async () => {
    server = await TestServer.start({ store: 'embedded' });
    works = worksOn(server.client);
    replicas = PROCESSES.map((name) => new Replicas(server, name, REPLICAS));
    await Promise.all(PROCESSES.map((name, i) => killAtWork(name, replicas[i] ?? assert.fail())));
    for (const name of PROCESSES) await settled(name);
  });
  after(async () => {
    await Promise.all(replicas.map((it) => it.end()));
    await server.close();
  });

  async function killAtWork(name: ProcessName, killed: Replicas): Promise<void> {
    const over = new AbortController();
    const working = workUntil(name, over.signal);
    for (let kills = 0; kills < KILLS; kills++) {
      await passed(Math.random() * PAUSE_MS);
      await killed.kill();
    }
    over.abort();
    await working;
  }

  async function workUntil(name: ProcessName, over: AbortSignal): Promise<void> {
    let made = 0;
    for (; made < LEAST_PIECES || (!over.aborted && made < MOST_PIECES); made++) {
      await works[name].make(made);
      await passed(Math.random() * PAUSE_MS);
    }
    pieces.set(name, made);
  }

  /** Waits until nothing is wrong, or for long enough: the tests say what is. */
  async function settled(name: ProcessName): Promise<void> {
    await eventually(async () => ((await wrongOf(name)) === '' ? true : undefined), PATIENCE_MS).catch(() => undefined);
  }

  async function wrongOf(name: ProcessName): Promise<string> {
    for (let i = 0; i < (pieces.get(name) ?? 0); i++) {
      const wrong = await works[name].wrong(i);
      if (wrong !== '') return wrong;
    }
    return '';
  }

  for (const name of PROCESSES) {
    it(`${name}: the state is the one that it would have come to`, async () => {
      assert.ok((pieces.get(name) ?? 0) >= LEAST_PIECES);
      assert.equal(await wrongOf(name), '');
    });
  }
});
