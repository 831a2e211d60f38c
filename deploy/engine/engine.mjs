// A container engine for the time of a test run: the one that answers at DOCKER_HOST or at the usual socket, else one that is
// started here, with data, sockets and state of its own below a scratch folder.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const UNPACKED = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.cache/engine/root');
const USUAL = 'unix:///var/run/docker.sock';
const ANSWER_MS = 5_000;
const READY_MS = 120_000;
const STOP_MS = 60_000;

/** Whether an engine answers at an address (unix:// or tcp://). */
function answers(host) {
  const [, scheme, address] = /^(unix|tcp):\/\/(.*)$/.exec(host) ?? [];
  if (scheme === undefined) return false;
  const [hostname, port] = address.split(':');
  const place = scheme === 'unix' ? { socketPath: address } : { hostname, port };
  return new Promise((resolve) => {
    const request = get({ ...place, path: '/_ping', timeout: ANSWER_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}

/** The address of an engine that answers by itself; undefined: none does. */
export async function answering() {
  const host = process.env.DOCKER_HOST || USUAL;
  return (await answers(host)) ? host : undefined;
}

/** Programs and libraries that were unpacked come first; without any, the host's own are used. */
function environment() {
  const { PATH = '' } = process.env;
  if (!existsSync(UNPACKED)) return { ...process.env, PATH: [PATH, '/usr/sbin', '/sbin'].join(delimiter) };
  const libraries = spawnSync('find', [UNPACKED, '-name', '*.so*', '-printf', '%h\n'], { encoding: 'utf8' }).stdout;
  const folders = [...new Set(libraries.split('\n').filter(Boolean))];
  return {
    ...process.env,
    PATH: [join(UNPACKED, 'usr/sbin'), join(UNPACKED, 'usr/bin'), PATH, '/usr/sbin', '/sbin'].join(delimiter),
    LD_LIBRARY_PATH: folders.filter((it) => !it.endsWith('/xtables')).join(delimiter),
    XTABLES_LIBDIR: folders.find((it) => it.endsWith('/xtables')) ?? '',
  };
}

/** What an engine has mounted stays so when it ends. What cannot be removed is told of, and is no failure of the tests. */
function remove(dir) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((it) => it.split(' ')[1] ?? '');
  const below = mounts.filter((it) => it.startsWith(`${dir}/`)).reverse();
  if (below.length > 0) spawnSync('umount', ['--lazy', ...below]);
  try {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch (err) {
    process.stderr.write(`Cannot remove ${dir}: ${err.message}\n`);
  }
}

/** A client that is installed is taken before the one that was unpacked. */
const forClients = (host) => ({
  DOCKER_HOST: host,
  PATH: [process.env.PATH ?? '', join(UNPACKED, 'usr/bin')].join(delimiter),
});

/**
 * An engine to use until `stop()`. One that answers already is left as it is.
 *
 * @returns `env` is what programs need that use it: DOCKER_HOST, and PATH with the client.
 * @throws Error when there is none and none can be started: not root, no `dockerd`, or it ends with an error.
 */
export async function openEngine() {
  const host = await answering();
  if (host !== undefined) return { env: forClients(host), stop: async () => {} };
  const env = environment();
  if (process.getuid?.() !== 0) throw new Error('No container engine answers, and starting one takes root');
  const dir = mkdtempSync(join(tmpdir(), 'engine-'));
  const log = join(dir, 'log');
  const own = `unix://${join(dir, 'docker.sock')}`;
  const args = [`--data-root=${dir}/data`, `--exec-root=${dir}/exec`, `--pidfile=${dir}/pid`, `--host=${own}`];
  const output = openSync(log, 'a');
  const child = spawn('dockerd', args, { env, stdio: ['ignore', output, output], detached: true });
  let end;
  const ended = new Promise((resolve) => {
    child.once('error', (err) => resolve((end = err.message)));
    child.once('exit', (code, signal) => resolve((end = `ended with ${code ?? signal}`)));
  });
  const killNow = () => end ?? child.kill('SIGTERM');
  process.once('exit', killNow);
  const stop = async () => {
    process.off('exit', killNow);
    if (end === undefined) child.kill('SIGTERM');
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
    if (end === undefined) child.kill('SIGKILL');
    remove(dir);
  };
  for (const until = performance.now() + READY_MS; !(await answers(own)); await sleep(100)) {
    if (end === undefined && performance.now() < until) continue;
    const said = readFileSync(log, 'utf8').split('\n').slice(-8).join('\n');
    await stop();
    throw new Error(`The container engine did not start (${end ?? 'no answer'}):\n${said}`);
  }
  return { env: forClients(own), stop };
}
