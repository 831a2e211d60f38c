// Runs suites of tests and ends with one line that counts them all:
//     N passed, N failed[, N skipped]
// usage: node deploy/build/test.mjs [unit] [e2e]
//
// Unit and contract tests share one Mocha, each file of end-to-end tests has its own; two run at a time, for most of
// what they do is wait. Fails when a test fails, when there are none, and when a Mocha does not end by itself after its
// last test: something it opened is still open, and would have been open in production.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../engine/engine.mjs';
import { runMocha } from './run-mocha.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const AT_A_TIME = 2;

/** Unit and contract tests lie beside what they test; coverage is measured there, where one process runs it all. */
const SUITES = {
  unit: { sources: 'services', wrapper: [join(ROOT, 'node_modules/.bin/c8')], limitMs: 20 * 60_000, together: /^/ },
  // Images and installations are made one after the other.
  e2e: {
    sources: 'test-e2e',
    wrapper: [],
    limitMs: 25 * 60_000,
    together: /^test-e2e\/(?:containers|chart)\//,
    engine: true,
  },
};
/** What takes longest comes first, so that nobody waits for it in the end; the order tells nothing else. */
const LONG = [/ and \d+ more$/, /^unit$/, /encryption|robustness/, /\/controllers\//, /\/api\//];

/** Compiled tests whose source is still there: dist keeps those of sources that were removed. */
function compiledTests(folder) {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((it) => it.isFile() && it.name.endsWith('.test.ts'))
    .map((it) => relative(ROOT, join(it.parentPath ?? it.path, it.name)))
    .map((source) => source.replace(/\.ts$/, '.js'))
    .sort();
}

/** One Mocha each: those files of a suite that run together, and every other one alone. */
function jobsOf(suite) {
  const { sources, together, ...how } = SUITES[suite];
  const files = compiledTests(sources);
  const grouped = files.filter((it) => together.test(it));
  const alone = files.filter((it) => !together.test(it));
  const named = grouped.length === files.length ? suite : `${grouped[0]} and ${grouped.length - 1} more`;
  const groups = [{ name: named, files: grouped }, ...alone.map((it) => ({ name: it, files: [it] }))].filter(
    (it) => it.files.length > 0,
  );
  return groups.map((it) => ({ ...it, ...how, files: it.files.map((file) => join(ROOT, 'dist', file)) }));
}

const placeOf = ({ name }) => (LONG.findIndex((it) => it.test(name)) + LONG.length + 1) % (LONG.length + 1);

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

/** @returns The sum of what all of them counted. */
async function runAll(jobs, engine, scratch) {
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const queue = jobs.map((job, id) => ({ ...job, scratch: join(scratch, String(id)) }));
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const counted = await runMocha(job, ROOT, job.engine ? engine : {});
      for (const key of ['passed', 'failed', 'skipped']) total[key] += counted[key];
      total.failures.push(...counted.failures);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return total;
}

for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(1));

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown suite: ${unknown.join(', ')}; there are ${Object.keys(SUITES).join(', ')}\n`);
  process.exit(2);
}
const suites = asked.length > 0 ? asked : Object.keys(SUITES);
const jobs = suites.flatMap(jobsOf).sort((a, b) => placeOf(a) - placeOf(b));
const scratch = mkdtempSync(join(tmpdir(), 'tests-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const isWanted = suites.some((it) => SUITES[it].engine);
const { passed, failed, skipped, failures } = await withEngine(isWanted, (env) => runAll(jobs, env, scratch));
// Once more, where the end of a long output is all that is looked at.
for (const failure of failures) process.stdout.write(`failed: ${failure}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
