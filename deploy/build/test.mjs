// Runs suites of tests, each in a Mocha of its own, and ends with one line that counts them all:
//     N passed, N failed[, N skipped]
// usage: node deploy/build/test.mjs [unit] [e2e]
//
// Fails when a test fails, when there are none, and when a suite does not end by itself after its last test: something
// it opened is still open, and would have been open in production.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../engine/engine.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const BIN = join(ROOT, 'node_modules/.bin');
/** After the last test. */
const MAY_LINGER_MS = 20_000;

/** Unit and contract tests lie beside what they test; coverage is measured there, where one process runs it all. */
const SUITES = {
  unit: { sources: 'services', wrapper: [join(BIN, 'c8')], limitMs: 20 * 60_000 },
  e2e: { sources: 'test-e2e', wrapper: [], limitMs: 45 * 60_000, containers: true },
};

/** Compiled tests whose source is still there: dist keeps those of sources that were removed. */
function compiledTests(folder) {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((it) => it.isFile() && it.name.endsWith('.test.ts'))
    .map((it) => relative(ROOT, join(it.parentPath ?? it.path, it.name)))
    .map((source) => join(ROOT, 'dist', source.replace(/\.ts$/, '.js')))
    .sort();
}

const readCounts = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);

/** Ends the suite's whole process group, so that no server it started outlives it. */
function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
}

/** Tests that need a container engine find it by DOCKER_HOST; without one they are skipped, in CI they fail. */
async function withEngine(wanted, run) {
  if (!wanted) return run({});
  const engine = await openEngine().catch((err) => {
    process.stdout.write(`No containers: ${err.message}\n`);
    return { env: {}, stop: async () => {} };
  });
  try {
    return await run(engine.env);
  } finally {
    await engine.stop();
  }
}

async function runSuite(name, { sources, wrapper, limitMs }, environment) {
  const tests = compiledTests(sources);
  const missing = tests.filter((it) => !existsSync(it));
  if (missing.length > 0) return broken(name, `is not built: ${missing[0]}`);
  if (tests.length === 0) return broken(name, 'has no tests');
  const scratch = mkdtempSync(join(tmpdir(), 'test-counts-'));
  const counts = join(scratch, 'counts.json');
  const reporter = join(ROOT, 'deploy/build/counting-reporter.cjs');
  const [command, ...args] = [...wrapper, join(BIN, 'mocha'), '--reporter', reporter, ...tests];
  process.stdout.write(`\n${name}: ${tests.length} files\n`);
  const env = { ...process.env, ...environment, TEST_COUNTS: counts };
  const child = spawn(command, args, { cwd: ROOT, env, stdio: 'inherit', detached: true });
  const stop = () => kill(child);
  process.once('exit', stop);
  try {
    const code = await ended(child, counts, limitMs);
    const counted = readCounts(counts);
    if (counted === undefined) return broken(name, `ended with ${code} before its last test`);
    if (code === 0 || counted.failed > 0) return counted;
    return { ...counted, failed: broken(name, `ended with ${code} though no test failed`).failed };
  } finally {
    process.off('exit', stop);
    rmSync(scratch, { recursive: true, force: true });
  }
}

function broken(name, why) {
  process.stdout.write(`${name}: the suite ${why}\n`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** What the process ended with, by itself or because its time was over. */
async function ended(child, counts, limitMs) {
  const started = performance.now();
  let finished;
  const exit = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  for (;;) {
    const code = await Promise.race([exit, sleep(500)]);
    if (code !== undefined) return code;
    const now = performance.now();
    if (existsSync(counts)) finished ??= now;
    const over = now - started > limitMs || (finished !== undefined && now - finished > MAY_LINGER_MS);
    if (!over) continue;
    kill(child);
    return finished === undefined ? `no end after ${limitMs} ms` : 'something open that kept it alive';
  }
}

for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(1));

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown suite: ${unknown.join(', ')}; there are ${Object.keys(SUITES).join(', ')}\n`);
  process.exit(2);
}
const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of asked.length > 0 ? asked : Object.keys(SUITES)) {
  const suite = SUITES[name];
  const counted = await withEngine(suite.containers, (env) => runSuite(name, suite, env));
  for (const key of Object.keys(total)) total[key] += counted[key];
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
