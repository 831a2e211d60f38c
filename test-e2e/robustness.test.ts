import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findEtcd } from '../services/storage/testing/etcd-binary.js';
import { droppingProxy } from './support/dropping-proxy.js';
import { startPlatform } from './support/platform.js';
import { PROGRAM } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const SUITE = join(dirname(PROGRAM), 'platform-robustness');

interface Report {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly violations: Readonly<Record<string, number>>;
  readonly found: readonly { readonly promise: string; readonly object?: string }[];
}

interface Ran {
  readonly code: number | null;
  /** All it has written. */
  readonly output: string;
  readonly report: () => Report;
}

/** Runs the suite to its end. */
async function suite(out: string, ...args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, report: () => JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report };
}

describe('platform-robustness', () => {
  let out: string;
  beforeEach(() => (out = scratchDirectory()));
  afterEach(() => removeDirectory(out));

  it('finds no violation while servers are killed and held, wires cut and history dropped', async function () {
    this.timeout(240_000);
    const etcd = findEtcd('3.5');
    if (etcd === undefined) this.skip();
    const faults = '--faults=kill-server,pause-server,cut-client-link,compaction';
    const times = ['--fault-duration=1s', '--fault-pause=300ms', '--rate=40', '--operations=500'];
    const args = [`--out=${out}`, `--etcd=${etcd}`, '--etcd-args=--unsafe-no-fsync', '--seed=7', faults, ...times];
    const { code, output, report } = await suite(out, ...args);
    assert.equal(code, 0, output);
    const { counts, faults: injected, found } = report();
    assert.deepEqual(found, []);
    assert.ok((counts['operations'] ?? 0) >= 500 && (counts['events'] ?? 0) > 0, output);
    assert.ok(Object.keys(injected).length > 0, output);
    const again = await suite(out, 'validate', join(out, 'history.jsonl'));
    assert.equal(again.code, 0, again.output);
  });

  it('finds the event that a proxy before the server keeps for itself', async function () {
    this.timeout(120_000);
    const platform = await startPlatform({ controllers: true });
    const isLater = (line: string): boolean => line.includes('"MODIFIED"') && line.includes('"name":"o-');
    const proxy = await droppingProxy(platform.kubeconfig, isLater);
    try {
      const kubeconfig = join(out, 'kubeconfig');
      writeFileSync(kubeconfig, proxy.kubeconfig);
      const args = [`--out=${out}`, `--kubeconfig=${kubeconfig}`, '--operations=300', '--watches=4', '--seed=8'];
      const { code, output, report } = await suite(out, ...args);
      assert.ok(proxy.hasDropped(), output);
      assert.equal(code, 1, output);
      const { found } = report();
      assert.deepEqual([...new Set(found.map(({ promise }) => promise))], ['reliable'], JSON.stringify(found));
      const page = readFileSync(join(out, 'report.html'), 'utf8');
      assert.ok(page.includes(`<h2 id="${found[0]?.object ?? ''}">`), 'the page has the history of the object');
    } finally {
      await proxy.close();
      await platform.stop();
    }
  });
});
