import { readClientConfig } from '../client/kubeconfig/config.js';
import { connectionOf, type Connection } from '../client/kubeconfig/connection.js';
import { inClusterConnection } from '../client/kubeconfig/in-cluster.js';
import type { ApiClient } from '../client/rest/client.js';
import { clientOf } from '../client/rest/open-client.js';
import { FlagError, type FlagTable, type OptionsOf, type ParsedFlags } from '../machinery/flags/flags.js';
import { createLog, type Log } from '../machinery/log/log.js';
import { isHost } from '../machinery/pki/hosts.js';
import { commandLine, tell, type ProcessDeps } from '../machinery/process/command-line.js';
import { watchForEnd } from '../machinery/process/ending.js';
import { vocabulary as vocabularyOf, type VocabularyName } from '../machinery/vocabulary/vocabulary.js';
import { checkServer } from './check.js';
import { readSet, writeSet } from './directory.js';
import { CHECK_FLAGS, MAKE_FLAGS } from './flags.js';
import { renewals, type Change } from './renew.js';
import { renewSecrets } from './secrets.js';
import { wantedBy } from './wanted.js';

type Common = Pick<
  OptionsOf<typeof MAKE_FLAGS>,
  'kubeconfig' | 'timeoutMs' | 'logLevel' | 'logFormat' | 'loggingFormat' | 'verbosity' | 'vocabulary'
>;

/** Requests a second, and at once: there are some thirty in all. */
const RATE = { qps: 50, burst: 50 };

const COMMANDS: ReadonlyMap<string, (argv: readonly string[], d: ProcessDeps) => Promise<number>> = new Map([
  ['make', (argv, d) => run(MAKE_FLAGS, argv, d, checkHosts, make)],
  ['check', (argv, d) => run(CHECK_FLAGS, argv, d, () => [], check)],
]);

/**
 * `make` makes and renews all keys and certificates of an installation, as secrets or in a directory; `check` asks a server
 * with them. @returns The exit code.
 */
export async function main([name = '', ...argv]: readonly string[], d: ProcessDeps): Promise<number> {
  const command = COMMANDS.get(name);
  if (command !== undefined) return command(argv, { ...d, program: `${d.program} ${name}` });
  const isHelp = ['--help', '-h'].includes(name);
  const usage = `${d.program} needs a command: ${[...COMMANDS.keys()].join(' or ')} (each knows --help)`;
  if (isHelp) process.stdout.write(`${usage}\n`);
  else tell(usage);
  return isHelp ? 0 : 2;
}

async function run<T extends FlagTable, O extends OptionsOf<T> & Common>(
  table: T,
  argv: readonly string[],
  d: ProcessDeps,
  validate: (options: O) => readonly string[],
  work: (o: O, d: ProcessDeps, log: Log, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const parsed = commandLine(d, table, argv, ({ options }: ParsedFlags<T>) => validate(options as O));
  if ('exitCode' in parsed) return parsed.exitCode;
  const options = parsed.options as O; // of the table, which has the common ones
  const log = createLog(options);
  const { stop } = watchForEnd(log);
  try {
    await work(options, d, log, AbortSignal.any([stop, AbortSignal.timeout(options.timeoutMs)]));
    return 0;
  } catch (err) {
    tell(`${d.program}: ${err instanceof Error ? err.message : String(err)}`);
    return 1;
  }
}

function checkHosts({ hosts, etcdHosts }: OptionsOf<typeof MAKE_FLAGS>): readonly string[] {
  const wrong = [...hosts, ...etcdHosts].find((it) => !isHost(it));
  if (wrong !== undefined) throw new FlagError(`${JSON.stringify(wrong)} is neither an address nor a host name`);
  return [];
}

async function make(o: OptionsOf<typeof MAKE_FLAGS>, d: ProcessDeps, log: Log, signal: AbortSignal): Promise<void> {
  const wanted = wantedBy(wordsOf(o), { servers: o.hosts, etcd: o.etcdHosts });
  const made = ({ name, why }: Change): void => log.info('Made', { set: name, why });
  if (o.directory !== '') {
    for (const change of await renewals(wanted, (name) => readSet(o.directory, name), new Date())) {
      writeSet(o.directory, change);
      made(change);
    }
    return;
  }
  const connection = connect(o, log);
  const place = { namespace: o.namespace || connection.namespace || 'default', prefix: o.prefix };
  // Charts are installed where Kubernetes words are spoken; of what is asked for here, both vocabularies have the same.
  await withClient(connection, { ...o, vocabulary: 'kubernetes' }, d, (client) =>
    renewSecrets(
      wanted,
      { client, ...place, labels: Object.fromEntries(o.labels) },
      { now: () => new Date(), tell: made },
      signal,
    ),
  );
}

const check = (o: OptionsOf<typeof CHECK_FLAGS>, d: ProcessDeps, log: Log, signal: AbortSignal): Promise<void> =>
  withClient(connect(o, log), o, d, async (client) => {
    await checkServer(client, { vocabulary: wordsOf(o), namespace: o.namespace }, signal);
    log.info('The server is ready, and what is written can be read');
  });

const wordsOf = ({ vocabulary }: Pick<Common, 'vocabulary'>): ReturnType<typeof vocabularyOf> =>
  vocabularyOf(vocabulary as VocabularyName); // one of the flag's choices

function connect(o: Common, log: Log): Connection {
  const warn = (message: string, keys: object): void => log.warn(message, keys);
  if (o.kubeconfig === '') return inClusterConnection({ warn });
  return connectionOf(readClientConfig(o.kubeconfig), { vocabulary: wordsOf(o), interactive: false, warn });
}

async function withClient(
  connection: Connection,
  o: Pick<Common, 'vocabulary'>,
  { version }: ProcessDeps,
  work: (client: ApiClient) => Promise<void>,
): Promise<void> {
  const client = clientOf(connection, {
    vocabulary: wordsOf(o),
    userAgent: `platform-certificates/${version}`,
    ...RATE,
  });
  try {
    await work(client);
  } finally {
    client.close();
  }
}
