import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_SERVER_FLAGS } from '../../services/apiserver/options/flags.js';
import { servingFiles } from '../../services/apiserver/process/serving-certificate.js';
import { startApiServer, type ApiServer } from '../../services/apiserver/server/server.js';
import { parseFlags } from '../../services/machinery/flags/flags.js';
import { createLog } from '../../services/machinery/log/log.js';
import { startEtcd } from '../../services/storage/testing/start-etcd.js';
import { Client } from '../api/tools/client.js';
import { WITHOUT_ACCOUNTS } from './platform.js';
import { removeDirectory, scratchDirectory } from './scratch.js';

const TOKEN = 'a-token-for-tests';

/** A server in the test's own process, for what no client can ask of it. */
export interface ServerInProcess {
  readonly server: ApiServer;
  readonly client: Client;
  close(): Promise<void>;
}

export async function startInProcess(store: 'embedded' | 'etcd'): Promise<ServerInProcess> {
  const directory = scratchDirectory();
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, `${TOKEN},tester,1,"system:masters"\n`);
  const etcd = store === 'etcd' ? await startEtcd() : undefined;
  const { options } = parseFlags(API_SERVER_FLAGS, [
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    `--data-dir=${directory}`,
    `--cert-dir=${directory}`,
    ...WITHOUT_ACCOUNTS,
    `--token-auth-file=${tokens}`,
    ...(etcd === undefined ? [] : [`--etcd-servers=${etcd.url}`]),
  ]);
  const files = await servingFiles(options);
  const onFatal = (err: Error): void => {
    throw err;
  };
  const server = await startApiServer(
    { ...options, ...files },
    { log: createLog({ logLevel: 'error' }), version: '1.24.0', onFatal },
  );
  await server.ready(AbortSignal.timeout(60_000));
  const client = new Client(`https://127.0.0.1:${server.port}`, TOKEN);
  return {
    server,
    client,
    close: async () => {
      client.close();
      await server.close();
      await etcd?.stop();
      removeDirectory(directory);
    },
  };
}
