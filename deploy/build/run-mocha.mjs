// One Mocha in a process group of its own, with a limit, and what it counted.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** After the last test. */
const MAY_LINGER_MS = 20_000;

/**
 * Runs test files, and prints what they said once they have ended.
 *
 * @param job name, files, limitMs; wrapper: the command that runs Mocha, none for itself; scratch: a folder to make
 * @param environment what is added to that of this process
 * @returns passed, failed and skipped tests, and a line for each failure
 */
export async function runMocha({ name, files, wrapper, limitMs, scratch }, root, environment) {
  mkdirSync(scratch, { recursive: true });
  const counts = join(scratch, 'counts.json');
  const said = join(scratch, 'said');
  const reporter = join(root, 'deploy/build/counting-reporter.cjs');
  const [command, ...args] = [...wrapper, join(root, 'node_modules/.bin/mocha'), '--reporter', reporter, ...files];
  const env = { ...process.env, ...environment, TEST_COUNTS: counts };
  const started = performance.now();
  const output = openSync(said, 'a');
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  // With all that it started: no server outlives its test.
  const stop = () => kill(child);
  process.once('exit', stop);
  const code = await ended(child, counts, limitMs);
  process.off('exit', stop);
  const counted = existsSync(counts) ? JSON.parse(readFileSync(counts, 'utf8')) : undefined;
  const result = judge(name, code, counted);
  const seconds = Math.round((performance.now() - started) / 1000);
  const { passed, failed } = result;
  process.stdout.write(`\n${name}: ${passed} passed, ${failed} failed in ${seconds} s\n${readFileSync(said, 'utf8')}`);
  return result;
}

function judge(name, code, counted) {
  if (counted === undefined)
    return withFailure({ passed: 0, skipped: 0 }, `${name} ended with ${code} before its last test`);
  if (code === 0 || counted.failed > 0) return counted;
  return withFailure(counted, `${name} ended with ${code} though no test failed`);
}

const withFailure = ({ passed, skipped }, why) => ({ passed, skipped, failed: 1, failures: [why] });

function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
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
    const code = await Promise.race([exit, sleep(250)]);
    if (code !== undefined) return code;
    const now = performance.now();
    if (existsSync(counts)) finished ??= now;
    const over = now - started > limitMs || (finished !== undefined && now - finished > MAY_LINGER_MS);
    if (!over) continue;
    kill(child);
    return finished === undefined ? `no end after ${limitMs} ms` : 'something open that kept it alive';
  }
}
