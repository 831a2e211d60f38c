import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';

import { freePorts } from '../../services/machinery/testing/free-port.js';
import { clientFor, type Answer, type Client } from '../support/client.js';
import { BUILD_MS, IMAGE_MS, makeImages, makePlatformImage, needsEngine, PLATFORM_IMAGE } from '../support/engine.js';
import { PROGRAM } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const SCRIPT = join(dirname(dirname(PROGRAM)), 'deploy/compose/compose.mjs');
/** Nets, wide enough for a machine that is slow and busy. */
const UP_MS = 300_000;
const SEEN_MS = 90_000;
const CONTROLLERS = [
  'certificate-signer',
  'resource-lifecycle',
  'role-aggregation',
  'service-accounts',
  'token-cleaner',
];

interface Config {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8', timeout: 60_000 });

describe('the cluster in containers', function () {
  this.timeout(UP_MS);
  const project = `compose-test-${process.pid}`;
  const state = scratchDirectory();
  const kubeconfig = join(state, 'out.kubeconfig');
  let env: NodeJS.ProcessEnv | undefined;
  const opened: Client[] = [];
  let client: Client;

  const compose = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
      env,
      encoding: 'utf8',
      timeout: UP_MS,
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const container = (service: string): string => {
    const [name] = docker('ps', '--all', '--quiet', '--filter', `label=com.docker.compose.project=${project}`, '--filter', `label=com.docker.compose.service=${service}`).split('\n'); // prettier-ignore
    assert.ok(name, `no ${service}`);
    return name;
  };
  /** Until an answer is as wanted: connections that stood to a server that died may fail once. */
  const until = async (path: string, wanted: (answer: Answer) => boolean): Promise<Answer> => {
    let last: unknown;
    for (const end = performance.now() + SEEN_MS; performance.now() < end;) {
      try {
        const answer = await client.get(path);
        if (wanted(answer)) return answer;
        last = answer.text;
      } catch (err) {
        last = err;
      }
      await sleep(100);
    }
    return assert.fail(`${path}: ${String(last)}`);
  };
  const isOk = ({ status }: Answer): boolean => status === 200;

  before(async function () {
    needsEngine(this);
    this.timeout(BUILD_MS + IMAGE_MS);
    makeImages('platform-etcd', 'platform-haproxy');
    makePlatformImage();
    const [port = 0] = await freePorts(1);
    env = { ...process.env, COMPOSE_PROJECT_NAME: project, IMAGE: PLATFORM_IMAGE, PORT: String(port), STATE: join(state, 'state'), KUBECONFIG_OUT: kubeconfig }; // prettier-ignore
    assert.match(compose('up', '--no-build'), new RegExp(`^ready https://127.0.0.1:${port} kubeconfig=`, 'm'));
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Config; // what the script writes
    const read = (file = ''): string => readFileSync(file, 'utf8');
    const [{ cluster }, { user }] = [clusters[0], users[0]];
    client = clientFor(cluster['server'] ?? '', {
      ca: read(cluster['certificate-authority']),
      cert: read(user['client-certificate']),
      key: read(user['client-key']),
    });
    opened.push(client);
  });
  after(() => {
    for (const it of opened) it.close();
    if (env !== undefined) compose('down', '--data');
    removeDirectory(state);
  });

  it('serves through the load balancer, and keeps keys to itself', async () => {
    const { status } = await client.post('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    });
    assert.equal(status, 201);
    assert.equal(statSync(join(state, 'state')).mode & 0o077, 0);
    assert.equal(statSync(kubeconfig).mode & 0o077, 0);
  });

  it('has a leader of each process of controllers', async () => {
    const holders = ({ text }: Answer): readonly string[] => {
      const { items = [] } = JSON.parse(text) as {
        items?: { metadata: { name: string }; spec?: { holderIdentity?: string } }[];
      };
      return items.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '').map(({ metadata }) => metadata.name).sort(); // prettier-ignore
    };
    const path = '/apis/coordination.platform.io/v1/namespaces/platform-system/leases';
    const wanted = CONTROLLERS.map((it) => `platform-${it}`);
    await until(path, (answer) => isOk(answer) && wanted.every((it) => holders(answer).includes(it)));
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await until(account, isOk); // a controller made it
  });

  it('goes on when a server is killed, and when its machine does not answer any more', async () => {
    docker('kill', container('apiserver-0'));
    await until('/api/v1/namespaces/default/configmaps/a', isOk);
    docker('pause', container('apiserver-1'));
    try {
      await until('/api/v1/namespaces/default/configmaps/a', isOk);
    } finally {
      docker('unpause', container('apiserver-1'));
    }
  });

  it('leaves nothing behind', () => {
    compose('down', '--data');
    for (const kind of ['container', 'network', 'volume']) {
      const list = kind === 'container' ? ['ps', '--all'] : [kind, 'ls'];
      assert.equal(docker(...list, '--quiet', '--filter', `label=com.docker.compose.project=${project}`), '', kind);
    }
    assert.ok(!existsSync(join(state, 'state')));
  });
});
