import { mkdirSync, readFileSync } from 'node:fs';
import type { Log, ProcessLog } from '../machinery/log/log.js';
import { advertisedAddress } from '../apiserver/endpoints/advertise.js';
import { serviceHosts } from '../apiserver/endpoints/service-hosts.js';
import { localHost, localUrl } from '../machinery/process/address.js';
import type { Served } from '../machinery/process/serve.js';
import { servingFiles } from '../apiserver/process/serving-certificate.js';
import { kubeconfigText } from '../client/kubeconfig/write.js';
import { writeFileAtomically } from '../machinery/files/write-file.js';
import { isIssuedByOneOf } from '../machinery/pki/leaf-check.js';
import { traditionalPem } from '../machinery/pki/keys.js';
import {
  vocabulary as vocabularyOf,
  type Vocabulary,
  type VocabularyName,
} from '../machinery/vocabulary/vocabulary.js';
import { own, type Ownership } from '../storage/embedded/ownership.js';
import { ADMIN, ensureCredentials, FRONT_PROXY } from './credentials/credentials.js';
import { modeOf, nameOf, pathOf, textOf, type CredentialFile } from './credentials/files.js';
import type { UpControllers } from './controllers.js';
import { UP_FLAGS, type UpOptions } from './options.js';

export interface StartDeps {
  readonly log: ProcessLog;
  readonly version: string;
  readonly onFatal: (err: Error) => void;
}

/**
 * Takes the data directory, makes what is missing there, and starts the server with it. Files that were named on the
 * command line are used instead of the directory's.
 *
 * @throws {Error} In one line that says why.
 */
export async function start(o: UpOptions, d: StartDeps): Promise<Served> {
  mkdirSync(o.dataDir, { recursive: true, mode: 0o700 });
  const owner = own(o.dataDir); // two that make credentials at once would mix them
  try {
    return await startOwning(o, d, owner);
  } catch (err) {
    owner.release();
    throw err;
  }
}

async function startOwning(given: UpOptions, d: StartDeps, owner: Ownership): Promise<Served> {
  const o = { ...given, ...(await servingFiles(given)) };
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const addresses = [localHost(o.bindAddress), advertisedAddress(o)];
  const hosts = [...addresses, ...serviceHosts(vocabulary, o.serviceClusterIpRange), ...o.tlsSans];
  const [{ startApiServer }] = await Promise.all([
    import('../apiserver/server/server.js'), // loaded here, while a thread makes the credentials
    ensureCredentials({ directory: o.dataDir, vocabulary, hosts, log: d.log }),
  ]);
  warnOfStrangeAuthority(o, d.log);
  const options = withMadeFiles(o, vocabulary);
  const server = await startApiServer(options, d);
  try {
    const url = localUrl(o, server.port);
    const config = putClientConfiguration(o, vocabulary, url);
    const { log, version } = d;
    const isStrange = o.tlsCertFile !== '';
    const controllers = new LaterControllers(() => {
      const [cert, key] = [textOf(o.dataDir, 'controllersCert') ?? '', textOf(o.dataDir, 'controllersKey') ?? ''];
      const includeMetrics: UpControllers['includeMetrics'] = (metrics) => server.includeMetrics(metrics);
      return {
        options,
        vocabulary,
        version,
        log,
        url,
        authorities: authoritiesOf(o),
        cert,
        key,
        isStrange,
        includeMetrics,
      };
    });
    return {
      announcement: `${url} kubeconfig=${config}`,
      ready: async (signal) => {
        await server.ready(signal);
        controllers.begin();
      },
      close: async () => {
        await controllers.end();
        await server.close();
        owner.release();
      },
    };
  } catch (err) {
    await server.close();
    throw err;
  }
}

/** Controllers, whose code is loaded when the server is ready. */
class LaterControllers {
  readonly #of: () => UpControllers;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(of: () => UpControllers) {
    this.#of = of;
  }

  /** After the ready line, which is written in this turn. */
  begin(): void {
    setImmediate(() => {
      this.#running ??= this.#run();
    });
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { runBeside } = await import('./controllers.js');
    await runBeside(this.#of(), signal);
  }
}

/** No code of controllers is loaded for the usual choices. @throws {FlagError} for a name that no controller has */
export async function checkControllers(o: UpOptions): Promise<void> {
  const isPlain = o.controllers.join(',') === UP_FLAGS.controllers.default || o.controllers.every(isStar);
  if (!isPlain) (await import('./controllers.js')).controllersOf(o);
}

const isStar = (word: string): boolean => ['*', '-*'].includes(word);

/** Where programs inside a cluster find the server. */
const usualIssuer = ({ serviceHostNames }: Vocabulary): string =>
  `https://${serviceHostNames.at(-1) ?? ''}.cluster.local`;

function withMadeFiles(o: UpOptions, vocabulary: Vocabulary): UpOptions {
  const made = (given: string, file: CredentialFile): string => (given === '' ? pathOf(o.dataDir, file) : given);
  const signingKey = made(o.serviceAccountSigningKeyFile, 'serviceAccountKey');
  return {
    ...o,
    tlsCertFile: made(o.tlsCertFile, 'servingCert'),
    tlsKeyFile: made(o.tlsKeyFile, 'servingKey'),
    clientCaFile: made(o.clientCaFile, 'caCert'),
    ...frontProxyFiles(o),
    serviceAccountSigningKeyFile: signingKey,
    serviceAccountPrivateKeyFile: o.serviceAccountPrivateKeyFile === '' ? signingKey : o.serviceAccountPrivateKeyFile,
    ...(o.clusterSigningCertFile === '' && o.clusterSigningKeyFile === '' && signingFiles(o)),
    serviceAccountIssuer: o.serviceAccountIssuer.length === 0 ? [usualIssuer(vocabulary)] : o.serviceAccountIssuer,
  };
}

/** The made certificate of the front proxy, where neither that nor whom to believe is said otherwise. */
function frontProxyFiles(o: UpOptions): Partial<UpOptions> {
  const isSaid = o.requestHeaderUsernameHeaders.length > 0 || o.requestHeaderClientCaFile !== '';
  if (isSaid || o.proxyClientCertFile !== '' || o.proxyClientKeyFile !== '') return {};
  return {
    proxyClientCertFile: pathOf(o.dataDir, 'frontProxyCert'),
    proxyClientKeyFile: pathOf(o.dataDir, 'frontProxyKey'),
    requestHeaderClientCaFile: pathOf(o.dataDir, 'frontProxyCa'),
    requestHeaderAllowedNames: [FRONT_PROXY],
    requestHeaderUsernameHeaders: ['X-Remote-User'],
    requestHeaderGroupHeaders: ['X-Remote-Group'],
    requestHeaderExtraHeadersPrefix: ['X-Remote-Extra-'],
  };
}

/** The made authority signs for all signers that no files are named for, so that the server knows the clients. */
function signingFiles(o: UpOptions): Partial<UpOptions> {
  const files = SIGNERS.flatMap((signer): [string, string][] => {
    const [cert, key] = [`clusterSigning${signer}CertFile`, `clusterSigning${signer}KeyFile`] as const;
    if (o[cert] !== '' || o[key] !== '') return [];
    return [[cert, pathOf(o.dataDir, 'caCert')], [key, pathOf(o.dataDir, 'caKey')]]; // prettier-ignore
  });
  return Object.fromEntries(files);
}

const SIGNERS = ['ApiServerClient', 'NodeAgentClient', 'NodeAgentServing', 'LegacyUnknown'] as const;

/** An operator who names other authorities for clients may mean to shut out those of the one made here, or not. */
function warnOfStrangeAuthority(o: UpOptions, log: Log): void {
  const { clientCaFile, dataDir, clusterSigningCertFile, clusterSigningApiServerClientCertFile } = o;
  if (clientCaFile === '') return;
  const admin = readFileSync(pathOf(dataDir, 'adminCert'), 'utf8');
  if (isIssuedByOneOf(admin, readFileSync(clientCaFile, 'utf8'))) return;
  const files = { clientCaFile, authority: nameOf('caCert') };
  log.warn(
    'The administrator made here will be refused: his authority is not in the file of client authorities',
    files,
  );
  if (clusterSigningCertFile !== '' || clusterSigningApiServerClientCertFile !== '') return;
  log.warn('Certificates of clients that are signed here will be refused: sign with an authority of that file', files);
}

/** Of a certificate that was brought along the authority is not known: what the server shows is trusted as it is. */
const authoritiesOf = (o: UpOptions): string =>
  o.tlsCertFile === '' ? (textOf(o.dataDir, 'caCert') ?? '') : readFileSync(o.tlsCertFile, 'utf8');

/** Written when it is not there or says something else, such as another port. @returns Its path. */
function putClientConfiguration(o: UpOptions, vocabulary: Vocabulary, server: string): string {
  const read = (file: CredentialFile): string => textOf(o.dataDir, file) ?? '';
  const text = kubeconfigText({
    cluster: vocabulary.defaultServiceName,
    user: ADMIN,
    server,
    authority: authoritiesOf(o),
    certificate: read('adminCert'),
    key: traditionalPem(read('adminKey')),
  });
  const path = pathOf(o.dataDir, 'adminConfig');
  if (read('adminConfig') !== text) writeFileAtomically(path, text, modeOf('adminConfig'));
  return path;
}
