import { readFileSync } from 'node:fs';
import * as promClient from 'prom-client';
import { Registry } from 'prom-client';
import { readClientConfig } from '../../client/kubeconfig/config.js';
import { clientCertificate, connectionOf } from '../../client/kubeconfig/connection.js';
import { FileChanges } from '../../machinery/files/file-changes.js';
import { FlagError, type FlagTable, type ParsedFlags } from '../../machinery/flags/flags.js';
import { createLog, type Log } from '../../machinery/log/log.js';
import { certificateFile, registerFileMetrics, type CertificateSource } from '../../machinery/metrics/file-metrics.js';
import { machineHosts } from '../../machinery/pki/hosts.js';
import { localHost, localUrl } from '../../machinery/process/address.js';
import { commandLine, type ProcessDeps } from '../../machinery/process/command-line.js';
import { selfMadePair, type ServingPair } from '../../machinery/process/self-made-pair.js';
import { serve, type Served } from '../../machinery/process/serve.js';
import { vocabulary as vocabularyOf, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import type { ControllerEntry } from '../controller.js';
import { identityOf, type Identity } from '../identity/identity.js';
import { controllerMetrics, type ControllerMetrics } from '../running/metrics.js';
import { Manager } from '../running/manager.js';
import { PathAccess } from '../serving/authorize-metrics.js';
import { openHealthServer } from '../serving/health-server.js';
import { chosen } from './choose.js';
import { checkElection, CONTROLLER_FLAGS, type ControllerOptions } from './options.js';

/** A group whose flags are not known here. */
export interface AnyGroup {
  readonly flags: FlagTable;
  readonly controllers: readonly ControllerEntry[];
}

export interface ControllerProcess {
  /** In platform words, e.g. `platform-controller-manager`; names the lease. */
  readonly name: string;
  readonly groups: readonly AnyGroup[];
  /** Where health and metrics are served by default. */
  readonly port: number;
  /** Which controllers run by default. */
  readonly controllers: readonly string[];
}

/** A process of controllers. @returns The exit code. */
export async function controllerMain(p: ControllerProcess, argv: readonly string[], d: ProcessDeps): Promise<number> {
  const entries = p.groups.flatMap(({ controllers }) => controllers);
  const table = flagsOf(p);
  const parsed = commandLine(d, table, argv, (it) => check(it, entries));
  if ('exitCode' in parsed) return parsed.exitCode;
  const { options, warnings } = parsed;
  const log = createLog(options);
  for (const warning of warnings) log.warn(warning);
  return serve(d, { log, closeMs: 0, start: (onFatal) => start(p, options, { ...d, log, onFatal }) });
}

type Table = typeof CONTROLLER_FLAGS;

function flagsOf({ groups, port, controllers }: ControllerProcess): Table {
  const own: FlagTable = {
    ...CONTROLLER_FLAGS,
    controllers: { ...CONTROLLER_FLAGS.controllers, default: controllers.join(',') },
    securePort: { ...CONTROLLER_FLAGS.securePort, default: String(port) },
  };
  return Object.assign({}, own, ...groups.map(({ flags }) => flags)) as Table; // and those of the groups
}

function check({ options }: ParsedFlags<Table>, entries: readonly ControllerEntry[]): readonly string[] {
  chosen(options.controllers, entries);
  checkElection(options);
  if (options.kubeconfig === '') throw new FlagError('--kubeconfig is needed');
  if ((options.tlsCertFile === '') !== (options.tlsKeyFile === '')) {
    throw new FlagError('--tls-cert-file and --tls-private-key-file go together');
  }
  return [];
}

interface StartDeps extends ProcessDeps {
  readonly log: Log;
  readonly onFatal: (err: Error) => void;
}

async function start(p: ControllerProcess, o: ControllerOptions, d: StartDeps): Promise<Served> {
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const name = vocabulary.translate(p.name);
  const registry = new Registry();
  const metrics = controllerMetrics(registry);
  registerFileMetrics(promClient, registry, certificatesOf(o));
  const identity = openIdentity(name, metrics, o, d);
  const manager = new Manager({
    name,
    identity,
    entries: chosen(o.controllers, p.groups.flatMap(({ controllers }) => controllers)), // prettier-ignore
    options: o,
    election: o,
    useServiceAccountCredentials: o.useServiceAccountCredentials,
    qps: o.apiQps,
    burst: o.apiBurst,
    metrics,
    log: d.log,
  });
  const asking = identity.client({ part: 'access', qps: 20, burst: 20 });
  const files = [o.tlsCertFile, o.tlsKeyFile].filter((file) => file !== '');
  const changes = new FileChanges(files);
  const health = await openHealthServer({
    address: o.bindAddress,
    port: o.securePort,
    pair: await servingPair(name, o),
    unready: () => manager.unready,
    access: new PathAccess({ client: asking, vocabulary }),
    registry,
  });
  const read = (): void => health.use(pairIn(o));
  const stopReading = changes.follow({ what: 'certificates', read, log: d.log });
  const stop = new AbortController();
  const running = manager.run(stop.signal).then(
    (end) => {
      if (end === 'lost') d.onFatal(new Error('Leadership is lost: the process is to be started again'));
    },
    (err: unknown) => d.onFatal(err instanceof Error ? err : new Error(String(err))),
  );
  return {
    announcement: localUrl(o, health.port),
    ready: () => Promise.resolve(),
    close: async () => {
      stop.abort();
      await running;
      stopReading();
      await health.close();
      asking.close();
      identity.close();
    },
  };
}

/** Its own, where a file has one, and the one by which the server knows it. */
const certificatesOf = (o: ControllerOptions): Map<string, CertificateSource> =>
  new Map([
    ...(o.tlsCertFile === '' ? [] : [['serving', certificateFile(o.tlsCertFile)] as const]),
    ['client', () => Promise.resolve().then(() => clientCertificate(readClientConfig(o.kubeconfig)))] as const,
  ]);

function openIdentity(
  name: string,
  { requests }: ControllerMetrics,
  o: ControllerOptions,
  { log, version }: StartDeps,
): Identity {
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const warn = (message: string, keys: object): void => log.warn(message, keys);
  const connection = connectionOf(readClientConfig(o.kubeconfig), { vocabulary, interactive: false, warn });
  return identityOf({ connection, vocabulary, userAgent: `${name}/${version}`, requests });
}

async function servingPair(commonName: string, o: ControllerOptions): Promise<ServingPair> {
  if (o.tlsCertFile === '') return selfMadePair({ commonName, hosts: [...machineHosts(), localHost(o.bindAddress)] });
  return pairIn(o);
}

const pairIn = (o: ControllerOptions): ServingPair => ({
  cert: readFileSync(o.tlsCertFile, 'utf8'),
  key: readFileSync(o.tlsKeyFile, 'utf8'),
});
