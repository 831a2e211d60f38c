import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from './connection.js';
import { paired, type Row, type SuiteOptions } from './rows.js';
import { post, startServer, type BenchServer } from './server.js';
import { byTurns, type Asked } from './turns.js';

const SECRETS = '/api/v1/namespaces/bench/secrets';
const PLAIN = 'not encrypted';
const PROVIDERS = ['aescbc', 'aesgcm', 'secretbox'];

let made = 0;
const secret = (): object => ({
  metadata: { name: `s-${made++}` },
  data: { value: Buffer.alloc(900, 'v').toString('base64') },
});

const configuration = (provider: string): object => ({
  apiVersion: 'apiserver.config.platform.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    {
      resources: ['secrets'],
      providers: [{ [provider]: { keys: [{ name: 'k', secret: randomBytes(32).toString('base64') }] } }],
    },
  ],
});

const creates = ({ target, process }: BenchServer): Asked => ({
  targets: [target],
  pids: [process.pid],
  expect: 201,
  next: () => request('POST', SECRETS, { body: JSON.stringify(secret()) }),
});

/** What encryption costs a creation: servers that differ in how they encrypt, by turns. Reads are from memory. */
export async function encryptionRows({ store, seconds, etcdUrl }: SuiteOptions): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-encryption-'));
  const servers: BenchServer[] = [];
  try {
    for (const provider of [PLAIN, ...PROVIDERS]) {
      const file = join(directory, `${provider}.json`);
      writeFileSync(file, JSON.stringify(configuration(provider)));
      const flags = provider === PLAIN ? [] : [`--encryption-provider-config=${file}`];
      const server = await startServer({ store, etcdUrl, flags });
      servers.push(server);
      await post(server.target, [
        ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }],
      ]);
    }
    const [plain, ...encrypted] = await byTurns(servers.map(creates), seconds);
    if (plain === undefined) throw new Error('Nothing was measured');
    const besides = { by: PLAIN, perSecond: plain.perSecond };
    return paired(
      store,
      encrypted.map((measured, i) => ({ scenario: `create Secret, encryption by ${PROVIDERS[i]}`, measured, besides })),
    );
  } finally {
    for (const server of servers) await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
