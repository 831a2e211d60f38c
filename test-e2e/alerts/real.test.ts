import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { issueLeaf, newKey } from '../../services/machinery/pki/issue.js';
import { Client } from '../api/tools/client.js';
import { configMap, configMapsIn, created, eventually } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import { alertRules, goThrough, needsPromtool, type Series } from './promtool.js';

const DAY_MS = 24 * 3600 * 1000;
const MINUTES = 30;

/** The samples of one scrape that alerts look at, by series, as one job has them. */
interface Scrape {
  readonly counters: ReadonlyMap<string, number>;
  readonly gauges: ReadonlyMap<string, number>;
}

const EXPRESSIONS = alertRules().map(({ expr }) => expr).join(' '); // prettier-ignore

async function scrape(client: Client): Promise<Scrape> {
  const { text } = await client.get('/metrics');
  const [counters, gauges] = [new Map<string, number>(), new Map<string, number>()];
  let type = '';
  for (const line of text.split('\n')) {
    type = /^# TYPE \S+ (\S+)/.exec(line)?.[1] ?? type;
    const [, name = '', labels = '', value = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === '' || !EXPRESSIONS.includes(name) || Number.isNaN(Number(value))) continue;
    const series = `${name}{job="platform-apiserver",instance="a"${labels === '' ? '' : `,${labels}`}}`;
    (type === 'gauge' ? gauges : counters).set(series, Number(value));
  }
  return { counters, gauges };
}

/** As if what happened between two scrapes happened each minute from then on, beginning at 0 on the clock of Prometheus. */
function goesOn(before: Scrape, after: Scrape): Series {
  const series = new Map<string, string>();
  for (const [name, value] of after.counters) {
    series.set(name, `0+${value - (before.counters.get(name) ?? 0)}x${MINUTES}`);
  }
  for (const [name, value] of after.gauges) {
    const isTime = name.startsWith('certificate_');
    series.set(name, `${isTime ? value - Date.now() / 1000 : value}+0x${MINUTES}`);
  }
  return Object.fromEntries(series);
}

/** A serving certificate of the server's own authority that ends within hours, in place of the one that it has. */
async function letEnd(directory: string): Promise<void> {
  const authority = {
    cert: readFileSync(join(directory, 'ca.crt'), 'utf8'),
    key: readFileSync(join(directory, 'ca.key'), 'utf8'),
  };
  const key = await newKey();
  const cert = issueLeaf(
    { key, commonName: 'old', hosts: ['127.0.0.1'], usage: 'serverAuth' },
    authority,
    new Date(Date.now() - 364.5 * DAY_MS),
  );
  writeFileSync(join(directory, 'apiserver.key'), key);
  writeFileSync(join(directory, 'apiserver.crt'), cert);
}

/** An APIService without a service. */
const NOBODYS = {
  metadata: { name: 'v1.nobody.example.com' },
  spec: {
    group: 'nobody.example.com',
    version: 'v1',
    groupPriorityMinimum: 1_000,
    versionPriority: 10,
    service: { namespace: 'default', name: 'nobody' },
    insecureSkipTLSVerify: true,
  },
};

describe('alerts of a real server', function () {
  this.timeout(90_000);
  let server: TestServer | undefined;
  const scratch = scratchDirectory();
  before(function () {
    needsPromtool(this);
  });
  after(async () => {
    await server?.close();
    removeDirectory(scratch);
  });

  it('fire when its store is gone, a webhook fails, a file is wrong and its certificate ends, and not before', async () => {
    const [nobody = 0] = await freePorts(1);
    const hook = join(scratch, 'hook.yaml');
    writeFileSync(
      hook,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c' } }],
        clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${nobody}`, 'insecure-skip-tls-verify': true } }],
      }),
    );
    const flags = [`--authentication-token-webhook-config-file=${hook}`];
    server = await TestServer.start({ store: 'etcd', flags });
    const { client, directory, etcd } = server;
    assert.ok(etcd !== undefined);
    const healthy = await scrape(client);
    const all = alertRules().map(({ alert }) => alert);

    const strangers = Array.from({ length: 12 }, (_, i) => new Client(client.url.origin, `stranger-${i}`));
    await Promise.all(strangers.map((it) => it.get('/version')));
    for (const it of strangers) it.close();
    created(await client.post('/apis/apiregistration.platform.io/v1/apiservices', NOBODYS));
    await eventually(async () => {
      const { text } = await client.get('/metrics');
      return text.includes('aggregator_unavailable_apiservice{name="v1.nobody.example.com"} 1') ? true : undefined;
    }, 30_000);
    await letEnd(directory);
    writeFileSync(join(directory, 'tokens.csv'), 'one,two\n');
    await etcd.kill();
    for (let i = 0; i < 8; i++) await client.post(configMapsIn('default'), configMap(`c-${i}`));
    await client.get(configMapsIn('default'));
    const broken = await eventually(async () => {
      const now = await scrape(client);
      return [...now.gauges].some(([name, value]) => name.startsWith('files_unusable') && value === 1)
        ? now
        : undefined;
    }, 30_000);

    const firing = [
      'PlatformNoServer',
      'PlatformServerNotReady',
      'PlatformErrors',
      'PlatformCacheBehind',
      'PlatformStoreErrors',
      'PlatformBreakerOpen',
      'PlatformAPIServiceUnavailable',
      'PlatformFileUnusable',
      'PlatformCertificateEnded',
    ];
    goThrough([
      { series: goesOn(healthy, healthy), at: '25m', silent: all },
      { series: goesOn(healthy, broken), at: '25m', firing },
    ]);
  });
});
