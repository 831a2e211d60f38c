import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { ApiClient } from '../rest/client.js';
import type { AnyObject, Live } from '../rest/resource-type.js';
import type { Informer, Informers } from './informer.js';
import { openInformers, type InformersOptions } from './open-informers.js';
import { ScriptedServer, THINGS, Witness } from './testing/scripted-server.js';

const never = new AbortController().signal;

describe('informers', () => {
  let server: ScriptedServer;
  let informers: Informers;
  let informer: Informer<AnyObject>;
  let witness: Witness;
  let stop: AbortController;
  let running: Promise<void>;
  let errors: string[];
  let opened: number;
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (message: string) => void errors.push(message) }; // prettier-ignore
  const open = (o: Pick<InformersOptions, 'transform'> = {}): void => {
    const resource = (): unknown => {
      opened++;
      return server.client;
    };
    informers = openInformers({ resource, metadata: resource } as unknown as ApiClient, { log, retry: { leastMs: 0, mostMs: 0 }, ...o }); // prettier-ignore
    informer = informers.of(THINGS);
    informer.handle(witness.handler);
  };
  const start = (): void => void (running = informers.run(stop.signal));
  /** Until the informer knows what the server has. */
  const settled = async (): Promise<void> => {
    await informer.synced(never);
    const expected = [...server.objects.values()];
    for (let turns = 0; turns < 2_000; turns++) {
      const isSame = informer.store.size === expected.length && expected.every((it) => informer.store.get(it.metadata.name) === it); // prettier-ignore
      if (isSame) return;
      await turn();
    }
    assert.deepEqual(informer.store.list(), expected);
  };
  const same = (): void => {
    assert.deepEqual(witness.wrong, []);
    assert.deepEqual([...witness.states.values()].sort(byName), [...server.objects.values()].sort(byName));
  };
  const byName = (a: Live<AnyObject>, b: Live<AnyObject>): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  beforeEach(() => {
    server = new ScriptedServer();
    witness = new Witness();
    stop = new AbortController();
    running = Promise.resolve();
    errors = [];
    opened = 0;
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  for (const streams of [true, false]) {
    it(`hold what there is and follow it (${streams ? 'as events' : 'in pages'})`, async () => {
      server.streamsState = streams;
      for (const name of ['a', 'b', 'c']) server.put(name);
      open();
      assert.equal(informer.isSynced, false);
      start();
      await settled();
      assert.equal(informer.isSynced, true);
      server.put('b');
      server.remove('c');
      server.put('d');
      await settled();
      assert.deepEqual(witness.lines, ['initial a', 'initial b', 'initial c', 'updated b', 'deleted c', 'added d']);
      assert.deepEqual(server.asked, streams ? ['stream 0'] : ['stream 0', 'list 0', 'watch 13']);
    });
  }

  it('go on where they were when a watch is cut', async () => {
    server.put('a');
    open();
    start();
    await settled();
    server.put('b');
    await settled();
    server.cut();
    server.put('c');
    await settled();
    assert.deepEqual(server.asked, ['stream 0', 'watch 12']);
    same();
  });

  it('begin anew where the history is gone, and tell of what changed alone', async () => {
    for (const name of ['a', 'b', 'c']) server.put(name);
    open();
    start();
    await settled();
    witness.lines.length = 0;
    server.cut();
    server.remove('a');
    server.put('b');
    server.put('c', true);
    server.compact();
    await settled();
    assert.deepEqual(server.asked, ['stream 0', 'watch 13', 'stream 13']);
    assert.deepEqual(witness.lines, ['updated b', 'deleted c', 'added c', 'deleted a']);
    same();
  });

  it('take the newest state where the one that they have seen is ahead of the server', async () => {
    server.streamsState = false;
    for (const name of ['a', 'b', 'c']) server.put(name);
    open();
    start();
    await settled();
    server.failures.push(1); // the watch is refused in the middle of what follows
    server.cut();
    server.put('d');
    server.compact();
    server.put('e');
    await settled();
    same();
    assert.deepEqual(server.asked.slice(0, 3), ['stream 0', 'list 0', 'watch 13']);
    assert.ok(server.asked.includes('list 13'));
  });

  it('take what a server has whose store was put back', async () => {
    for (const name of ['a', 'b', 'c']) server.put(name);
    open();
    start();
    await settled();
    server.restore();
    server.put('z');
    await settled();
    same();
    assert.deepEqual(server.asked, ['stream 0', 'watch 13', 'watch 13', 'watch 13', 'stream ']);
  });

  it('end with the state of the server, whatever is cut, compacted and asked in which way', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), name, isNew: fc.boolean() }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
    );
    const failures = fc.array(fc.nat(6), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), failures, fc.boolean(), async (steps, failures, streams) => {
        server = new ScriptedServer();
        server.streamsState = streams;
        witness = new Witness();
        stop = new AbortController();
        server.failures.push(...failures);
        open();
        start();
        for (const step of steps) {
          if (step.do === 'put') server.put(step.name, step.isNew);
          else if (step.do === 'remove') server.remove(step.name);
          else if (step.do === 'turn') await turn();
          else server[step.do]();
        }
        await settled();
        const late = new Witness();
        informer.handle(late.handler);
        same();
        assert.deepEqual(late.states.size, server.objects.size);
        assert.deepEqual(errors, []);
        stop.abort();
        await running;
      }),
      { numRuns: 150 },
    );
  });

  it('tell a handler that comes late of what is there, and one that has gone of nothing', async () => {
    for (const name of ['a', 'b']) server.put(name);
    open();
    start();
    await settled();
    const late = new Witness();
    const forget = informer.handle(late.handler);
    assert.deepEqual(late.lines, ['initial a', 'initial b']);
    server.put('c');
    await settled();
    forget();
    server.put('d');
    await settled();
    assert.deepEqual(late.lines.at(-1), 'added c');
  });

  it('go on when a handler throws', async () => {
    server.put('a');
    open();
    informer.handle({
      added: () => {
        throw new Error('wrong');
      },
    });
    const last = new Witness();
    informer.handle(last.handler);
    start();
    await settled();
    assert.deepEqual([errors.length, last.lines], [1, ['initial a']]);
  });

  it('keep and hand on what is made of each object', async () => {
    const labels: unknown[] = [];
    open({
      transform: (object, of) => ({ ...object, metadata: { ...object.metadata, labels: { of } } }),
    });
    const note = ({ metadata }: Live<AnyObject>): void => void labels.push(metadata.labels);
    const metadata = informers.metadataOf(THINGS);
    informer.handle({ added: note, updated: note, deleted: note });
    server.put('a');
    start();
    await Promise.all([informer.synced(never), metadata.synced(never)]);
    server.put('a');
    server.remove('a');
    server.put('b');
    while (informer.store.get('b') === undefined || metadata.store.get('b') === undefined) await turn();
    assert.deepEqual(
      labels,
      Array.from({ length: 4 }, () => ({ of: 'object' })),
    );
    const kept = [informer, metadata].map(({ store }) => store.get('b')?.metadata.labels);
    assert.deepEqual(kept, [{ of: 'object' }, { of: 'metadata' }]);
  });

  it('are one for each resource and selection, run when they are asked for later, and can be dropped', async () => {
    open();
    start();
    assert.equal(informers.of(THINGS), informer);
    assert.equal(informers.of({ ...THINGS }, {}), informer);
    const others = [
      informers.metadataOf(THINGS),
      informers.of(THINGS, { namespace: 'n' }),
      informers.of({ ...THINGS, version: 'v2' }),
    ];
    assert.equal(new Set([informer, ...others]).size, 4);
    assert.equal(opened, 4);
    await Promise.all(others.map((it) => it.synced(never)));
    informers.drop(THINGS);
    server.put('a');
    await others[2]?.synced(never);
    for (let i = 0; i < 10; i++) await turn();
    assert.deepEqual([informer, ...others].map(({ store }) => store.size), [0, 0, 0, 1]); // prettier-ignore
    assert.notEqual(informers.of(THINGS), informer);
  });

  it('wait no longer than the signal says', async () => {
    open();
    const gone = new AbortController();
    const waiting = informer.synced(gone.signal);
    gone.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    await assert.rejects(informer.synced(gone.signal), /enough/);
    stop.abort();
    await informers.run(stop.signal);
  });
});
