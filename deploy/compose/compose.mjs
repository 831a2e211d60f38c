#!/usr/bin/env node
// A highly available cluster in containers: compose.yaml, with everything made that it needs.
// usage: node deploy/compose/compose.mjs up [--no-build] | down [--data]
//
// `up` makes the images (with --no-build it takes those that are there) and certificates, starts what compose.yaml describes,
// and returns when the API is ready. `down` ends it and keeps the data; with --data nothing is left. In the environment:
//   PORT            of the load balancer on this machine (6443), at the address BIND (127.0.0.1)
//   IMAGE           of the servers (platform:VERSION); ETCD_IMAGE, HAPROXY_IMAGE
//   VOCABULARY      platform or kubernetes
//   KUBECONFIG_OUT  the administrator's client configuration (STATE/admin.kubeconfig)
//   STATE           folder for certificates (.compose); COMPOSE_PROJECT_NAME tells several clusters apart
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { answering } from '../engine/engine.mjs';
import { makeDebianImage } from '../images/debian-images.mjs';
import { makeImage } from '../images/make-image.mjs';
import { provideCompose } from './get-compose.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { env } = process;

const PORT = env.PORT || '6443';
const STATE = resolve(env.STATE || join(ROOT, '.compose'));
const CERTIFICATES = join(STATE, 'certificates');
const IMAGE = env.IMAGE || `platform:${version}`;
const VOCABULARY = env.VOCABULARY || 'platform';
const KUBECONFIG_OUT = resolve(env.KUBECONFIG_OUT || join(STATE, 'admin.kubeconfig'));
const SERVERS = [0, 1, 2].map((i) => `apiserver-${i}`);
const MEMBERS = [0, 1, 2].map((i) => `etcd-${i}`);
const BALANCER = 'balancer';
const CONTROLLERS = [
  'certificate-signer',
  'resource-lifecycle',
  'role-aggregation',
  'service-accounts',
  'token-cleaner',
];
/** The user of the images. */
const NONROOT = 65532;
const READY_MS = 180_000;

function compose(...args) {
  const command = provideCompose();
  if (command === undefined) throw new Error('No docker compose to be had: install version 2 of it');
  const file = join(HERE, 'compose.yaml');
  const SERVICE = VOCABULARY === 'kubernetes' ? 'kubernetes' : 'platform';
  const run = spawnSync(command[0], [...command.slice(1), '--file', file, '--progress', 'quiet', ...args], {
    env: { ...env, PORT, IMAGE, VOCABULARY, CERTIFICATES, SERVICE },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (run.status !== 0) throw new Error(`docker compose ${args[0]} ended with ${run.status ?? run.signal}`);
}

async function makeImages() {
  if (!env.ETCD_IMAGE) await makeDebianImage('platform-etcd');
  if (!env.HAPROXY_IMAGE) await makeDebianImage('platform-haproxy');
  if (!env.IMAGE) await makeImage(IMAGE);
}

/** Makes what is missing or ends soon: a second `up` keeps what the first one made. */
function makeCertificates() {
  mkdirSync(STATE, { recursive: true, mode: 0o700 }); // nobody else gets past this folder
  const args = [
    ...['certificates', 'make', `--directory=${CERTIFICATES}`, `--vocabulary=${VOCABULARY}`, '--log-level=warn'],
    `--hosts=${[BALANCER, ...SERVERS].join(',')}`,
    `--etcd-hosts=${MEMBERS.join(',')}`,
  ];
  execFileSync(process.execPath, [join(ROOT, 'bin/platform'), ...args], { stdio: 'inherit' });
  for (const name of CONTROLLERS) {
    const files = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' };
    writeFileSync(join(CERTIFICATES, name, 'kubeconfig'), clientConfiguration(name, BALANCER, '6443', files));
  }
  for (const entry of readdirSync(CERTIFICATES, { recursive: true, withFileTypes: true })) {
    share(join(entry.parentPath ?? entry.path, entry.name), entry.isDirectory());
  }
  const files = Object.fromEntries(
    Object.entries({ ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' }).map(([key, file]) => [
      key,
      join(CERTIFICATES, 'admin', file),
    ]),
  );
  writeFileSync(KUBECONFIG_OUT, clientConfiguration('admin', '127.0.0.1', PORT, files), { mode: 0o600 });
}

/** Who is not root cannot give files away: then containers read them as others, and others do not get to them. */
function share(path, isFolder) {
  if (process.getuid() === 0) chownSync(path, NONROOT, NONROOT);
  else chmodSync(path, isFolder ? 0o755 : 0o644);
}

/** JSON is YAML. Files that it names are beside it. */
const clientConfiguration = (name, host, port, files) =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'platform', cluster: { server: `https://${host}:${port}`, 'certificate-authority': files.ca } },
      ],
      users: [{ name, user: { 'client-certificate': files.cert, 'client-key': files.key } }],
      contexts: [{ name: 'platform', context: { cluster: 'platform', user: name } }],
      'current-context': 'platform',
    },
    undefined,
    2,
  )}\n`;

/** Whether the load balancer has a server that says that it is ready. */
function isReady() {
  const ca = readFileSync(join(CERTIFICATES, 'apiserver/ca.crt'));
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port: PORT, path: '/readyz', ca, agent: false, timeout: 5_000 };
    const asked = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

async function up(flags) {
  if (!flags.has('--no-build')) await makeImages();
  makeCertificates();
  compose('up', '--detach', BALANCER); // with all that it stands on
  for (const until = performance.now() + READY_MS; !(await isReady()); await sleep(200)) {
    if (performance.now() > until) throw new Error(`Not ready after ${READY_MS} ms: see docker compose logs`);
  }
  compose('up', '--detach', '--remove-orphans'); // controllers end where they find no server
  process.stdout.write(`ready https://127.0.0.1:${PORT} kubeconfig=${KUBECONFIG_OUT}\n`);
}

function down(flags) {
  compose('down', '--remove-orphans', ...(flags.has('--data') ? ['--volumes', '--timeout=0'] : []));
  if (flags.has('--data')) rmSync(STATE, { recursive: true, force: true });
}

const COMMANDS = { up, down };

const [name, ...flags] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name ?? '')) {
  process.stderr.write('usage: compose.mjs up [--no-build] | down [--data]\n');
  process.exitCode = 2;
} else if ((await answering()) === undefined) {
  process.stderr.write('No container engine answers at DOCKER_HOST or at the usual socket\n');
  process.exitCode = 1;
} else {
  await COMMANDS[name](new Set(flags));
}
